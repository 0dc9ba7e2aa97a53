/** The right column of an order's page: deadline, facts, what runs, the forms of the actions, and what happens next. */
import type { ActionRecord, OrderState } from '../../../contract/order/state.ts';
import { millis, type OrderDecision } from '../../../contract/words.ts';
import { allDeadlines } from '../../../order/deadlines.ts';
import { isUnderWay } from '../../../order/portal/portal-requests.ts';
import { currentAttempt } from '../../../order/record.ts';
import { cancelByOf } from '../../../order/transactions.ts';
import { describeDeadline, describePhase } from '../../../order/view/describe.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { type From, orderPath } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import { decisionPill, factList } from '../layout.ts';
import { isStuck, KIND_NAMES, triesWords } from '../queue/queue-list.ts';
import { clock, distance, duration, money, type Now, shortClock, timeOfDay } from '../words.ts';
import { actionForm } from './action-form.ts';
import { actionPath, PAGE_ACTIONS, type PageAction, refusalOf } from './actions.ts';
import { byTime, requestOf, whoOf } from './timeline.ts';

/** An order, and what its forms depend on. */
export interface ActingView extends InspectedOrder {
  now: Now;
  /** The viewer's permissions. Buttons that need others aren't shown. */
  may: { act: boolean; ops: boolean };
  /** Where the page was opened from. */
  place: From;
}

export function aside(view: ActingView): Html {
  const { summary, state, may, now } = view;
  const shown = shownActions(view);
  const folded = (actions: readonly PageAction[]) =>
    actions.filter((action) => shown.includes(action)).map((action) => foldedForm(action, view));
  const main = folded(DECIDE);
  const cancelRefusal = refusalOf('cancel', view, now.ms);
  const open = summary.closedAt === undefined && (state?.phase ?? summary.phase) !== 'canceled';
  return html`<aside aria-label="Decide">
${facts(view)}
${runningBoxes(view)}
${main.length > 0 && html`<div class="do">${main}</div>`}
${shown.includes('recheck') && html`<div class="also"><form method="post" action="${orderPath(summary, 'recheck', view.place)}"><button>Recheck</button></form>${folded(ALSO)}</div>`}
${open && cancelRefusal !== undefined && html`<p class="quiet">It can’t be canceled: ${cancelRefusal}.</p>`}
${!may.act && !may.ops && html`<p class="quiet">Your API key can read orders but not change them.</p>`}
${nextSteps(view)}
</aside>`;
}

function facts(view: ActingView): Html {
  const { summary, state, now } = view;
  const { amount, currency, phase, decision, action } = { ...summary, ...state };
  const override = state?.attempts.at(-1)?.override;
  const since = state && `, ${duration(now.ms - millis(state.phaseSince))}`;
  const list = factList([
    ['Amount', amount !== undefined && html`<span class="sum">${money(amount, currency)}</span>`],
    ['Decision', decisionPill(decision, action)],
    ['Without passive mode', state?.wouldBe],
    ['Manual', override && `${override.action === 'cancel' ? 'rejected' : 'approved'} by a person`],
    ['Message', state?.message],
    ['Assigned to', state?.assignee],
    ['Snoozed until', state?.snoozedUntil && clock(state.snoozedUntil, now)],
    ['Phase', phase && html`${describePhase(phase)}${since}`],
  ]);
  return html`<div class="card">${due(view)}${list}</div>`;
}

/** The end of the cancel window, largest of all. It is red only if the window is over while somebody has to act. */
function due({ summary, state, now }: ActingView): Html {
  const cancelBy = (state && cancelByOf(state, currentAttempt(state))) ?? summary.cancelBy;
  const phase = state?.phase ?? summary.phase;
  if (phase === 'canceled' || phase === 'closed') return html`<p class="due">${describePhase(phase)}</p>`;
  if (cancelBy === undefined)
    return html`<p class="label">Can be canceled</p><p class="due">no deadline yet</p>`;
  const over = millis(cancelBy) < now.ms;
  const urgent = over && (summary.needsAttention || phase === 'review');
  return html`<p class="label">${over ? 'Cancel window closed' : 'Can be canceled for'}</p>
<p><span class="due${urgent && ' late-text'}">${distance(cancelBy, now)}</span> <span class="quiet">${!over && 'until '}${clock(cancelBy, now)}</span></p>`;
}

/** @returns the actions that the order takes now and the viewer may request, the most likely one first */
function shownActions(view: ActingView): PageAction[] {
  const { summary, state, may, now } = view;
  const takes = (action: PageAction) =>
    may[PAGE_ACTIONS[action].scope] && refusalOf(action, view, now.ms) === undefined;
  // Without the state, only what needs no rules is offered.
  if (state === undefined)
    return summary.closedAt === undefined ? (['cancel', 'recheck'] as const).filter(takes) : [];
  const canceling =
    state.phase === 'canceled' || state.actions.some((one) => one.kind === 'cancel' && isUnderWay(one));
  const reject = state.action !== 'cancel' && takes('decide-cancel');
  const senseless: Partial<Record<PageAction, boolean>> = {
    proceed: state.action === 'proceed',
    'decide-cancel': !reject,
    cancel: canceling || reject,
  };
  return [...DECIDE, 'recheck' as const, ...ALSO].filter((action) => !senseless[action] && takes(action));
}

const DECIDE: readonly PageAction[] = ['proceed', 'decide-cancel', 'cancel'];
/** The smaller buttons below the others, beside the recheck, which has no form. */
const ALSO: readonly PageAction[] = ['snooze', 'note', 'assign'];

/** The decisions that leave it to a person. Approving against another one isn't the first choice. */
const OPEN: readonly OrderDecision[] = ['review', 'pending', 'error'];

/** @returns a button that opens the form of an action in place @param number of the portal action or event */
export function foldedForm(action: PageAction, view: ActingView, number?: number): Html {
  const { summary, state, place, now } = view;
  const { button, danger } = PAGE_ACTIONS[action];
  const isOpen = OPEN.includes(state?.decision ?? summary.decision ?? 'pending');
  const isPrimary = action === 'acknowledge' || (action === 'proceed' && isOpen);
  const kind = danger ? 'danger' : isPrimary ? 'primary' : '';
  const form = {
    path: orderPath(summary, actionPath(action, number), place),
    id: number === undefined ? action : `${action}-${number}`,
    typed: { assignee: state?.assignee ?? '' },
    cancelBy: summary.cancelBy,
  };
  return html`<details name="act" id="${form.id}"><summary class="button ${kind}">${button}…</summary>${actionForm(action, form, now)}</details>`;
}

/** The portal actions that are queued or running. The script asks for them every 5 s until none is. */
export function runningBoxes(view: ActingView): Shown {
  const { summary, state, may, place, now } = view;
  const running = state?.actions.filter(isUnderWay) ?? [];
  if (state === undefined || running.length === 0) return undefined;
  const boxes = running.map(
    (action) =>
      html`<div class="box${isStuck(action, now.ms) && ' amber'}">${runningWords(action, state, now)}${may.act && foldedForm('withdraw', view, action.number)}</div>`,
  );
  return html`<div id="running" role="status" data-poll="${orderPath(summary, 'running', place)}" data-seconds="5">${boxes}</div>`;
}

/** @returns what the script shows once nothing runs */
export function finishedBox({ summary, place }: ActingView): Html {
  return html`<div class="box"><b>Finished</b><p><a href="${orderPath(summary, undefined, place)}">Show the result</a></p></div>`;
}

function runningWords(action: ActionRecord, { journal = [] }: OrderState, now: Now): Html {
  const { kind, status, stop, requestedAt, by, number, tries = 0 } = action;
  const entry = requestOf(journal, number);
  const who = by === 'policy' ? 'by the policy' : entry ? `by ${whoOf(entry.by)}` : '';
  const does = status === 'queued' ? 'waits for its turn' : 'is being sent';
  const stuck = isStuck(action, now.ms);
  return html`<b>${KIND_NAMES[kind]} ${stuck ? 'is stuck' : stop === undefined ? does : 'is being stopped'}</b>
<p>Requested ${shortClock(requestedAt, now)} ${who}, ${distance(requestedAt, now)}.${stuck && (tries > 0 ? ` Failed ${triesWords(action, now.ms)}.` : ' The screening service has not accepted it yet. It is retried automatically.')}</p>`;
}

const LOST =
  'None: the order’s workflow was terminated or failed, so nothing reads or cancels the order. See “Recover an order” in docs/operations.md.';

/** The next automatic steps, nearest first; none of a workflow that has ended, also before its order did. */
function nextSteps({ summary, state, poll, now }: ActingView): Html {
  const found = poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, words: 'The decision is polled' }];
  if (state !== undefined && summary.closedAt === undefined) {
    const cancelBy = cancelByOf(state, currentAttempt(state));
    // The order of a review stays open after its cancel window, so that moment is no deadline of it.
    const isReview = state.phase === 'review' || state.phase === 'awaiting-gateway';
    if (isReview && state.decision === 'review' && cancelBy !== undefined)
      found.push({ at: cancelBy, words: 'The cancel window closes' });
    const ahead = allDeadlines(state).filter(({ kind }) => !state.passed.includes(kind));
    found.push(...ahead.map(({ kind, at }) => ({ at, words: describeDeadline(kind) })));
  }
  const steps = found.filter(({ at }) => millis(at) >= now.ms).sort(byTime);
  const lines = steps.map(
    ({ at, words }) =>
      html`<li><time class="quiet" datetime="${at}" title="${timeOfDay(at, now, true)}">in ${distance(at, now)}</time><span>${words}</span></li>`,
  );
  const lost = summary.closedAt !== undefined && state !== undefined && state.endedAt === undefined;
  return html`<div class="card next"><h2>What happens next</h2>
${lines.length === 0 ? html`<p>${lost ? LOST : 'No automatic steps left.'}</p>` : html`<ol>${lines}</ol>`}</div>`;
}
