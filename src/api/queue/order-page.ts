/** The page of one order: where it is, what can be done, what has happened, what comes next. */
import { allDeadlines } from '../../orders/deadlines.ts';
import { describeDeadline } from '../../orders/describe.ts';
import { ORDER_ERRORS } from '../../orders/errors.ts';
import { portalRefusal } from '../../orders/portal.ts';
import { isUnderWay } from '../../orders/portal-requests.ts';
import type { ActionRecord, Attempt, OrderState } from '../../orders/state.ts';
import { windowOpen } from '../../orders/transactions.ts';
import { type Instant, millis } from '../../orders/words.ts';
import type { InspectedOrder } from '../../starter.ts';
import { actionLine, byTime, checksOf, confirmPath } from './confirm-page.ts';
import {
  amount,
  clock,
  duration,
  factList,
  type Html,
  html,
  moment,
  orderPath,
  page,
  type Shown,
  type TemporalUi,
  temporalAnchor,
  temporalLink,
} from './layout.ts';
import { lastCheck } from './queue-page.ts';

/** What was just done, by the word that stands in the address. */
const NOTICES = {
  recheck: 'The recheck was asked for. The decision is read in the next seconds.',
  canceled: 'The order is canceled with the service.',
  withdrawn: 'The portal action is withdrawn: it was not sent.',
  'done-before': 'The portal action was done before it could be withdrawn.',
  'withdraw-requested': 'The withdrawal was asked for. Reload the page to see how it ends.',
  'cancel-requested': 'The cancel was asked for, and goes on. Reload the page to see how it ends.',
} as const;
export type Notice = keyof typeof NOTICES;

/** @returns whether a word of an address is a notice */
export function isNotice(word: unknown): word is Notice {
  return typeof word === 'string' && Object.hasOwn(NOTICES, word);
}

/** How an order is shown. */
export interface OrderView {
  notice?: Notice | undefined;
  temporalUi: TemporalUi | undefined;
  /** Whether who looks at it may do anything: what may not be pressed isn't shown. */
  mayAct: boolean;
}

/** @returns the page @param nowMs the moment that ages and distances are counted from */
export function orderPage(
  order: InspectedOrder,
  { notice, temporalUi, mayAct }: OrderView,
  nowMs: number,
): string {
  const { summary, state, missing } = order;
  const content = html`${notice && html`<p class="notice" role="status">${NOTICES[notice]}</p>`}
${missing && html`<p class="alarm" role="status">${MISSING[missing]} Only what Temporal itself knows is shown.</p>`}
${state?.attention.map(({ words, since }) => html`<p class="alarm">${words} <span class="quiet">Since ${clock(since)}</span></p>`)}
${state === undefined && summary.needsAttention && html`<p class="alarm">The order needs attention.</p>`}
${mayAct ? actions(order, nowMs) : html`<p class="quiet">Your key shows orders, and changes none.</p>`}
${underWay(order, mayAct)}
<section><h2>Now</h2>${factList(facts(order, temporalUi, nowMs))}</section>
<section><h2>Next</h2>${moments(upcoming(order, nowMs), (at) => moment(at, nowMs), 'Nothing follows by itself.')}</section>
${journal(state)}
<section><h2>Timeline</h2>${moments(timelineOf(order), clock, 'Nothing is on record.')}</section>`;
  return page(`Order ${summary.orderId}`, content, nowMs);
}

const MISSING: Record<NonNullable<InspectedOrder['missing']>, string> = {
  'no-worker': 'No worker answered in time: is one running?',
  unreadable: 'A worker failed to read the order: see its log, and the workflow in the Temporal UI.',
  undecryptable: 'PAYLOAD_KEYS of the API don’t open what is stored of the order: see docs/encryption.md.',
  'no-record': 'The workflow ended without a record: it was terminated or failed.',
};

function facts(
  order: InspectedOrder,
  ui: TemporalUi | undefined,
  nowMs: number,
): (readonly [name: string, content: Shown])[] {
  const { summary, state, runId } = order;
  const { last, next } = checksOf(order, nowMs);
  const attempt = state?.attempts.at(-1);
  const cancelBy = attempt?.cancelBy ?? summary.cancelBy;
  const startedAt = state?.startedAt ?? summary.startedAt;
  return [
    ['Integration', state === undefined ? summary.integration : `${summary.integration}, ${state.workflow}`],
    ['Phase', state?.phase ?? summary.phase],
    ['Decision', withReason(state?.decision ?? summary.decision, state?.reason)],
    ['Action', state?.action ?? summary.action],
    ['Would be', state?.wouldBe],
    ['Told to the customer', state?.message],
    [
      'Amount',
      summary.amount === undefined ? undefined : `${amount(summary.amount)}, in the order’s own currency`,
    ],
    ['Age', html`${duration(Math.max(0, nowMs - millis(startedAt)))}, since ${clock(startedAt)}`],
    ['Can be canceled until', cancelBy && moment(cancelBy, nowMs)],
    ['Last check', last && lastCheck(last, nowMs)],
    ['Next check', next && html`${moment(next.at, nowMs)}, ${next.source}`],
    ['Attempts', state && `${state.attempts.length}`],
    ['Transaction', attempt?.transactionId ?? summary.transactionIds.at(-1)],
    ['Events delivered', state && `${state.events.delivered} of ${state.events.sequence}`],
    ['Temporal', temporalAnchor(temporalLink(ui, summary, runId), summary.orderId)],
  ];
}

function withReason(decision: string | undefined, reason: string | undefined): string | undefined {
  return decision !== undefined && reason !== undefined ? `${decision} (${reason})` : decision;
}

function actions({ summary, state }: InspectedOrder, nowMs: number): Html {
  const open = summary.closedAt === undefined && state?.phase !== 'closed';
  const refusal = state === undefined ? undefined : cancelRefusal(state, open, nowMs);
  const canceled = (state?.phase ?? summary.phase) === 'canceled';
  return html`<p class="actions">
${open && html`<a class="button" href="${orderPath(summary, 'recheck')}">Recheck …</a>`}
${refusal === undefined && !canceled && html`<a class="button" href="${orderPath(summary, 'cancel')}">Cancel …</a>`}
${refusal !== undefined && html`<span class="quiet">It can’t be canceled: ${refusal}.</span>`}
</p>`;
}

/** The portal actions that wait or are being sent, each with its way back. */
function underWay({ summary, state }: InspectedOrder, mayAct: boolean): Html | undefined {
  const waiting = state?.actions.filter(isUnderWay) ?? [];
  if (waiting.length === 0) return undefined;
  const rows = waiting.map((action) => {
    const path = orderPath(summary, confirmPath('withdraw', action.number));
    const button = html`<a class="button" href="${path}" aria-label="Withdraw portal action ${action.number}">Withdraw …</a>`;
    return html`<li>${actionLine(action)} ${mayAct && button}</li>\n`;
  });
  return html`<section><h2>Portal actions under way</h2><ul>${rows}</ul></section>`;
}

/** Who did what: the key was proved, the person is as claimed. */
function journal(state: OrderState | undefined): Html | undefined {
  const entries = state?.journal ?? [];
  if (entries.length === 0) return undefined;
  const rows = entries.map(({ at, what, number, action, by = {}, because }) => {
    const words = [what, number ?? action].filter((one) => one !== undefined).join(' ');
    const who = [by.actor && `${by.actor} (as claimed)`, by.key && `key ${by.key}`]
      .filter(Boolean)
      .join(', ');
    return html`<li>${clock(at)}: ${words}, by ${who || 'somebody who did not say'}${because && `: ${because}`}</li>\n`;
  });
  return html`<section><h2>Who did what</h2><ol class="timeline">${rows}</ol></section>`;
}

/** A closed order takes a cancel, too, while the window on its record is open. */
function cancelRefusal(state: OrderState, open: boolean, nowMs: number): string | undefined {
  if (open) {
    const code = portalRefusal(state, { kind: 'cancel' }, nowMs)?.code;
    return code && ORDER_ERRORS[code].title.toLowerCase();
  }
  const { policy } = state;
  const attempt = state.attempts.at(-1);
  if (policy?.passive) return ORDER_ERRORS.passive.title.toLowerCase();
  const takes =
    policy !== undefined &&
    attempt?.transactionId !== undefined &&
    windowOpen(attempt.cancelBy, policy.cancelWindowMs, nowMs);
  return takes ? undefined : 'the order is closed, and no cancel window is open';
}

function moments(found: readonly Happening[], show: (at: string) => Html, nothing: string): Html {
  if (found.length === 0) return html`<p>${nothing}</p>`;
  return html`<ol class="timeline">${found.map(({ at, words }) => html`<li>${show(at)}: ${words}</li>\n`)}</ol>`;
}

// What has happened to an order, and what comes next by itself, as lists of moments.

export interface Happening {
  at: Instant;
  words: string;
}

/** @returns everything that is on record, the oldest first */
function timelineOf({ summary, state, poll }: InspectedOrder): Happening[] {
  const found: Happening[] = [];
  const add = (at: Instant | undefined, words: string): void => {
    if (at !== undefined) found.push({ at, words });
  };
  if (state === undefined) add(summary.startedAt, 'The order’s workflow was started');
  else addState(state, add);
  if (poll?.lastAt !== undefined) {
    add(poll.lastAt, poll.answered ? 'Polled: nothing has changed' : 'Polled: the service did not answer');
  }
  add(summary.closedAt, 'Closed');
  return found.sort(byTime);
}

/** @returns what follows by itself, the nearest first */
function upcoming({ state, poll }: InspectedOrder, nowMs: number): Happening[] {
  const found = poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, words: 'The decision is polled' }];
  if (state !== undefined) {
    for (const { kind, at } of allDeadlines(state)) {
      if (!state.passed.includes(kind)) found.push({ at, words: describeDeadline(kind) });
    }
  }
  return found.filter(({ at }) => Date.parse(at) >= nowMs).sort(byTime);
}

type Add = (at: Instant | undefined, words: string) => void;

function addState(state: OrderState, add: Add): void {
  add(state.startedAt, 'The order came');
  for (const attempt of state.attempts) addAttempt(attempt, add);
  for (const action of state.actions) addAction(action, add);
  for (const { since, words } of state.attention) add(since, `Needs attention: ${words}`);
  const { lastRead } = state;
  const recorded = state.attempts.some(({ readings }) => readings.some(({ at }) => at === lastRead?.at));
  if (!recorded) add(lastRead?.at, `Read from the service: ${state.decision} (${lastRead?.source})`);
  add(state.phaseSince, `Phase ${state.phase}, action ${state.action}`);
}

function addAttempt({ number, startedAt, readings, gateway, ...attempt }: Attempt, add: Add): void {
  if (number > 1) add(startedAt, `Attempt ${number} came`);
  for (const { at, decision, source } of readings) add(at, `Decision ${decision} (${source})`);
  if (gateway !== undefined) {
    add(gateway.at, `The payment gateway said ${gateway.result}`);
    if (gateway.sent !== 'recorded') add(gateway.sent, 'The gateway’s result was sent to the service');
  }
  add(attempt.declinedAt, 'Declined: another attempt may come');
}

function addAction({ kind, status, by, because, ...action }: ActionRecord, add: Add): void {
  const who = by === 'policy' ? 'by the policy' : 'by a caller';
  add(action.requestedAt, `Asked ${who}: ${kind}${because ? ` (${because})` : ''}`);
  const echo = Object.entries(action.chargeback ?? {}).map(([name, value]) => `${name} ${value}`);
  const said = [[action.code, action.message].filter(Boolean).join(' '), ...echo].filter(Boolean).join(', ');
  add(action.finishedAt, `${kind}: ${status}${said ? ` (${said})` : ''}`);
}
