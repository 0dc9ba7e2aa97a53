/** The page of one order: on the left why it needs a person, the evidence and its timeline; on the right what to do. */
import { isLost } from '../../../client/reading/order-record.ts';
import type { OrderKey } from '../../../contract/ids.ts';
import type { ActionRecord, OrderState } from '../../../contract/order/state.ts';
import { portalKind } from '../../../contract/portal/portal-kinds.ts';
import { millis } from '../../../contract/words.ts';
import { allDeadlines } from '../../../order/deadlines.ts';
import { currentAttempt } from '../../../order/record.ts';
import { cancelByOf, isUnderWay } from '../../../order/transactions.ts';
import { DEADLINES, PHASE_WORDS } from '../../../order/view/describe.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { queueQuery } from '../../api/request-schemas.ts';
import { type From, listPath, listQuery, orderPath, TAB_NAMES } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import { decisionPill, factList, type Page } from '../layout.ts';
import { cameAt, filtered, isStuck, type Snapshot, triesWords } from '../queue/queue-list.ts';
import { ROWS } from '../queue/queue-page.ts';
import { clock, dayOf, distance, duration, money, type Now, shortClock, timeOfDay } from '../words.ts';
import { foldedForm, type ShownOrder } from './action-forms.ts';
import { PAGE_ACTIONS, type PageAction, refusalOf } from './actions.ts';
import { customer, evidence, items, outLinks, technical, transactions } from './order-cards.ts';
import { byTime, requestOf, timeline, whoOf } from './timeline.ts';

interface OrderView extends ShownOrder {
  notice: string | undefined;
  list: ReturnType<typeof placeOf>['list'];
}

/** @returns the filters and the page of a list's query; an invalid one is the whole queue */
export function listIn(from = '') {
  const given = Object.fromEntries(new URLSearchParams(from));
  return queueQuery.safeParse(given).data ?? queueQuery.parse({});
}

/** @returns the order's place in its list, and the orders before and after this one as the list is now */
export function placeOf({ from, pos = 0 }: From, queue: Snapshot | undefined, order: OrderKey) {
  const { filters, page, cursor } = listIn(from);
  const entries = from === undefined || pos === 0 ? [] : filtered(queue?.entries ?? [], filters);
  const at = entries.findIndex(
    ({ summary }) => summary.orderId === order.orderId && summary.integration === order.integration,
  );
  // If the order has left the list, the next order is now at its position.
  const [before, after] = at >= 0 ? [at - 1, at + 1] : [pos - 2, pos - 1];
  const pathOf = (index: number) => {
    const summary = entries[index]?.summary;
    return summary && orderPath(summary, undefined, { from: listQuery(filters), pos: index + 1 });
  };
  return {
    place: { from, pos: at >= 0 ? at + 1 : pos || undefined },
    list: {
      path: listPath(filters, { page: pos === 0 ? page : Math.ceil(pos / ROWS), cursor }),
      name: 'q' in filters ? 'Search' : TAB_NAMES[filters.list],
      total: at >= 0 ? entries.length : undefined,
      previous: pathOf(before),
      next: pathOf(after),
    },
  };
}

const KEYS =
  'j k: next, previous; a: approve; r: reject; z: snooze; n: note; u: back to the list; ?: all keys';

export function orderPage(view: OrderView): Page {
  const { summary, state, missing, notice, afterEnd, now } = view;
  const content = html`${way(view)}
${notice && html`<p class="box notice" role="status">${notice}</p>`}
<div class="order">
${aside(view)}
<div class="left">
${missing && html`<div class="box red" role="status"><b>The record can’t be shown</b><p>${MISSING[missing]} This page shows only Temporal’s own data.</p></div>`}
${attention(view)}
${state && evidence(state, view)}
${state?.shown && html`${customer(state.shown)}${items(state.shown, state.currency)}`}
${transactions(view)}
<section class="card time"><h2>Timeline</h2>${afterEnd?.incomplete && html`<p class="box amber">Not everything after the order’s end could be read this time: reload the page.</p>`}${timeline(view, now)}</section>
${technical(view)}
</div>
</div>`;
  return { title: `Order ${summary.orderId}`, content, keys: KEYS };
}

const MISSING: Record<NonNullable<InspectedOrder['missing']>, string> = {
  undecryptable: 'The API’s PAYLOAD_KEYS can’t decrypt the order’s data: see docs/encryption.md.',
  'no-record': 'The workflow ended without a record because it was terminated or failed.',
};

/** The line above the page: the way back, next and previous, the order's id, and where else it can be seen. */
function way(view: OrderView): Html {
  const { summary, state, list, place, now } = view;
  const { orderId, integration } = summary;
  const came = cameAt({ summary, ...(state && { state }) });
  const attempts = state?.attempts.length ?? 1;
  const verb = state?.adopted === undefined ? 'received' : 'screened';
  const previous =
    list.previous &&
    html`<a class="button" href="${list.previous}" rel="prev" aria-keyshortcuts="k" aria-label="Previous order">‹ <span class="word">Previous</span></a>`;
  const next =
    list.next &&
    html`<a class="button" href="${list.next}" rel="next" aria-keyshortcuts="j" aria-label="Next order"><span class="word">Next</span> ›</a>`;
  return html`<div class="way">
<nav class="steps" aria-label="Place in the list"><span><a href="${list.path}" aria-keyshortcuts="u">‹ ${list.name}</a>${list.total !== undefined && html` <span class="quiet">${place.pos} of ${list.total}</span>`}</span>${(previous ?? next) && html`<span class="line">${previous}${next}</span>`}</nav>
<h1>${orderId}</h1><span class="quiet meta">${integration} · ${verb} ${dayOf(came, now)} ${timeOfDay(came, now)}, ${duration(now.ms - millis(came))} ago${attempts > 1 && ` · attempt ${attempts}`}</span>
<span class="end line">${outLinks(view)}</span>
</div>`;
}

function attention(view: OrderView): Shown {
  const { state, summary, may, now } = view;
  const open = state?.attention ?? [];
  if (open.length === 0 && (state !== undefined || !summary.needsAttention)) return undefined;
  const refusal = refusalOf('acknowledge', view, now.ms);
  const resolve =
    refusal === undefined ? foldedForm('acknowledge', view) : html`<p>It can’t be resolved: ${refusal}.</p>`;
  const each = open.map(
    ({ words, since }) => html`<b>Attention: ${words}</b><p>Since ${clock(since, now)}.</p>`,
  );
  return html`<div class="box red" id="attention">${open.length > 0 ? each : html`<b>The order needs attention</b>`}${may.act && resolve}</div>`;
}

/** The right column: deadline, facts, what runs, the forms of the actions, and what happens next. */
function aside(view: ShownOrder): Html {
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
${!may.act && !may.ops && html`<p class="quiet">You may read orders but not change them.</p>`}
${nextSteps(view)}
</aside>`;
}

function facts(view: ShownOrder): Html {
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
    ['Snoozed until', summary.snoozedUntil && clock(summary.snoozedUntil, now)],
    ['Phase', phase && html`${PHASE_WORDS[phase]}${since}`],
  ]);
  return html`<div class="card">${due(view)}${list}</div>`;
}

/** The end of the cancel window, largest of all. It is red only if the window is over while a person has to act. */
function due({ summary, state, now }: ShownOrder): Html {
  const cancelBy = (state && cancelByOf(state, currentAttempt(state))) ?? summary.cancelBy;
  const phase = state?.phase ?? summary.phase;
  if (phase === 'canceled' || phase === 'closed') return html`<p class="due">${PHASE_WORDS[phase]}</p>`;
  if (cancelBy === undefined)
    return html`<p class="label">Can be canceled</p><p class="due">no deadline yet</p>`;
  const over = millis(cancelBy) < now.ms;
  const urgent = over && (summary.needsAttention || phase === 'review');
  return html`<p class="label">${over ? 'Cancel window closed' : 'Can be canceled for'}</p>
<p><span class="due${urgent && ' late-text'}">${distance(cancelBy, now)}</span> <span class="quiet">${!over && 'until '}${clock(cancelBy, now)}</span></p>`;
}

/** @returns the actions that the order takes now and the viewer may request, the most likely one first */
function shownActions(view: ShownOrder): PageAction[] {
  const { summary, state, may, now } = view;
  const takes = (action: PageAction) =>
    may[PAGE_ACTIONS[action].scope ?? 'act'] && refusalOf(action, view, now.ms) === undefined;
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

/** The portal actions that are queued or running. The script asks for them every 5 s until none is. */
export function runningBoxes(view: ShownOrder): Shown {
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
export function finishedBox({ summary, place }: ShownOrder): Html {
  return html`<div class="box"><b>Finished</b><p><a href="${orderPath(summary, undefined, place)}">Show the result</a></p></div>`;
}

function runningWords(action: ActionRecord, { journal = [] }: OrderState, now: Now): Html {
  const { kind, status, stop, requestedAt, by, number, tries = 0 } = action;
  const entry = requestOf(journal, number);
  const who = by === 'policy' ? 'the policy' : entry && whoOf(entry.by);
  const does = status === 'queued' ? 'waits for its turn' : 'is being sent';
  const stuck = isStuck(action, now.ms);
  return html`<b>${portalKind(kind).name} ${stuck ? 'is stuck' : stop === undefined ? does : 'is being stopped'}</b>
<p>Requested ${shortClock(requestedAt, now)}${who && html` by <bdi>${who}</bdi>`}, ${distance(requestedAt, now)}.${stuck && (tries > 0 ? ` Failed ${triesWords(action, now.ms)}.` : ' The screening service has not accepted it yet. It is retried automatically.')}</p>`;
}

const LOST =
  'None: the order’s workflow was terminated or failed, so nothing reads or cancels the order. See “Recover an order” in docs/operations.md.';

/** The next automatic steps, nearest first; none of a workflow that has ended, also before its order did. */
function nextSteps({ summary, state, poll, now }: ShownOrder): Html {
  const found = poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, words: 'The decision is polled' }];
  if (state !== undefined && summary.closedAt === undefined) {
    const cancelBy = cancelByOf(state, currentAttempt(state));
    // The order of a review stays open after its cancel window, so that moment is no deadline of it.
    const isReview = state.phase === 'review' || state.phase === 'awaiting-gateway';
    if (isReview && state.decision === 'review' && cancelBy !== undefined)
      found.push({ at: cancelBy, words: 'The cancel window closes' });
    const ahead = allDeadlines(state).filter(({ kind }) => !state.passed.includes(kind));
    found.push(...ahead.map(({ kind, at }) => ({ at, words: DEADLINES[kind] })));
  }
  const steps = found.filter(({ at }) => millis(at) >= now.ms).sort(byTime);
  const lines = steps.map(
    ({ at, words }) =>
      html`<li><time class="quiet" datetime="${at}" title="${timeOfDay(at, now, true)}">in ${distance(at, now)}</time><span>${words}</span></li>`,
  );
  return html`<div class="card next"><h2>What happens next</h2>
${lines.length === 0 ? html`<p>${state && isLost(state) ? LOST : 'No automatic steps left.'}</p>` : html`<ol>${lines}</ol>`}</div>`;
}
