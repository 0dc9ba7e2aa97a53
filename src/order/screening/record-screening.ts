/** Records the transactions that a screening or a lookup returned, and creates whose transaction is unknown. */
import type { ScreeningOutcome, Sent } from '../../contract/activity-contract.ts';
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import type { Action, Decision, Instant, OrderEventType, ReadingSource } from '../../contract/words.ts';
import { clear, raiseAttention } from '../attention.ts';
import { applyReading, heldBack } from '../decide.ts';
import { defined } from '../defined.ts';
import { currentAttempt, enrichedOf, overrideOf, recordReading, setAction } from '../record.ts';
import { isDecided, recordTransaction, transactionNamed, transactionOf } from '../transactions.ts';

type Seen = { transactionId: string; found: boolean; decision?: Decision } & Sent;

const LOOKUP = { operation: 'lookup' } as const;
const UNREADABLE =
  'The screening service returned an unknown decision of a transaction of the order that was found late.';

export interface Moment {
  source: ReadingSource;
  now: Instant;
  /** A cancel stays with the transaction known so far if a further one is found. */
  cancelStays?: boolean;
}

/**
 * Moves a found transaction to its owner: the oldest attempt with an unconfirmed create of its invoice number, since the screening service
 * shows only the first transaction of a number. Returns the outcome for `attempt`.
 */
export function withoutOthers(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  moment: Moment,
): ScreeningOutcome {
  const seen = seenBy(outcome);
  if (seen === undefined || !seen.found || state.adopted !== undefined) return outcome;
  const known = transactionNamed(state, seen.transactionId);
  const owner = state.attempts.find(({ number, unseen }) =>
    known === undefined ? unseen && unseen.invoiceNumber === attempt.invoiceNumber : number === known.attempt,
  );
  if (owner === undefined || owner === attempt) return outcome;
  recordLate(state, owner, outcome, moment, owner.unseen?.since);
  return { kind: 'unanswered', reason: 'earlier-attempt', unseenSince: seen.sentFrom };
}

function seenBy(outcome: ScreeningOutcome): Seen | undefined {
  return outcome.kind === 'answered' ? outcome : outcome.kind === 'unreadable' ? outcome.seen : undefined;
}

/**
 * Records the outcome of a screening or a lookup that arrived after the order had continued without it. The decision of a further
 * transaction counts as a later decision if the newest attempt has one, and else changes nothing.
 * @param sentFrom the earliest time of its create, if the lookup didn't ask for this attempt
 * @returns the events to send
 */
export function recordLate(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  moment: Moment,
  sentFrom?: Instant,
): OrderEventType[] {
  const { action } = state;
  const late = { ...moment, source: 'look-up' } as const;
  return withChange(state, action, recordOutcome(state, attempt, outcome, late, sentFrom));
}

/** Adds the event of a changed action, unless one of the events tells it. @param before the action before them */
export function withChange(
  { action }: OrderState,
  before: Action,
  events: OrderEventType[],
): OrderEventType[] {
  const isTold = action === before || events.some((type) => type !== 'order.attention');
  return isTold ? events : ['order.decision_changed', ...events];
}

function recordOutcome(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  moment: Moment,
  sentFrom: Instant | undefined,
): OrderEventType[] {
  const { now, source } = moment;
  noteUnseen(state, attempt, outcome);
  const seen = seenBy(outcome);
  const known = transactionNamed(state, seen?.transactionId);
  // Its status may have been read since.
  if (seen === undefined || isDecided(known?.decision)) return [];
  const isNewest = attempt === currentAttempt(state);
  const events = recordSeen(state, attempt, { ...seen, ...defined({ sentFrom }) }, moment);
  if (outcome.kind !== 'answered') {
    if (events.length > 0 || !isNewest || known !== undefined) return events;
    return raiseAttention(state, 'unreadable-answer', UNREADABLE, LOOKUP, now);
  }
  const { decision } = outcome;
  if (isDecided(attempt.decision)) {
    if (decision === 'error') return events;
    if (isNewest && state.phase !== 'canceled')
      return [...applyReading(state, { ...outcome, kind: 'read' }, source, now), ...events];
  }
  recordReading(state, attempt, { decision, at: now, source, ...enrichedOf(outcome) });
  if (!isNewest) return events;
  clear(state, { codes: ['unreadable-answer'] });
  if (decision !== 'error') clear(state, { codes: ['no-decision'] });
  return events;
}

/** Holds an order of which a transaction is found after another one of the attempt was canceled, or while it is, and tells an operator. */
function uncanceled(state: OrderState, transactionId: string, now: Instant): OrderEventType[] {
  const cancelBy = transactionNamed(state, transactionId)?.cancelBy;
  const words = `A further transaction of the order was found and isn’t canceled: cancel ${transactionId} until ${cancelBy}.`;
  const events = raiseAttention(state, 'cancel-due', words, { operation: 'cancel', transactionId }, now);
  if (overrideOf(state) === undefined) setAction(state, heldBack(state, state.action));
  return events;
}

/** Records a transaction. @returns the events of a further one that is left beside a cancel */
export function recordSeen(
  state: OrderState,
  attempt: Attempt,
  seen: Seen,
  { source, now, cancelStays }: Moment,
): OrderEventType[] {
  const { transactionId: id, found, sentFrom, sentUntil, decision } = seen;
  const isFurther = attempt === currentAttempt(state) && transactionNamed(state, id) === undefined;
  const isLeft = isFurther && (cancelStays === true || state.phase === 'canceled');
  recordTransaction(state, {
    id,
    attempt: attempt.number,
    invoiceNumber: attempt.invoiceNumber ?? state.orderId,
    sentFrom,
    sentUntil,
    found: source === 'adoption' ? 'adopted' : found ? 'lookup' : 'created',
    ...(decision !== undefined && { decision, decidedAt: now, source }),
  });
  return isLeft ? uncanceled(state, id, now) : [];
}

/** Records whether an outcome leaves an unconfirmed create, one whose transaction is unknown. */
export function noteUnseen(state: OrderState, attempt: Attempt, outcome: ScreeningOutcome): void {
  const { invoiceNumber } = attempt;
  const since = 'unseenSince' in outcome ? outcome.unseenSince : undefined;
  if (since === undefined || invoiceNumber === undefined) noneUnseen(state, attempt);
  else attempt.unseen = { invoiceNumber, since };
}

/** Clears the attempt's unconfirmed create, and the attention to it once no attempt has one. */
export function noneUnseen(state: OrderState, attempt: Attempt): void {
  delete attempt.unseen;
  if (state.attempts.every(({ unseen }) => unseen === undefined))
    clear(state, { codes: ['transaction-unseen'] });
}

/** @returns whether a screening has a different decision than the attempt, or a different transaction */
export function isNews(state: OrderState, attempt: Attempt, outcome: ScreeningOutcome): boolean {
  if (outcome.kind !== 'answered' || outcome.decision === 'error') return false;
  return outcome.decision !== attempt.decision || outcome.transactionId !== transactionOf(state, attempt)?.id;
}

/**
 * Returns whether a decision found by a lookup is the order's missing decision. That includes an order that closed without a decision,
 * since it must be reported to the order service. After the screening was given up, `error` is no news. Nothing replaces the actions
 * `decline` and `cancel`, unless the cancel is an override.
 */
export function isAwaited(state: OrderState, attempt: Attempt, found: Decision): boolean {
  const { phase, action } = state;
  if (attempt !== currentAttempt(state)) return false;
  if (phase === 'screening') return true;
  if (isDecided(attempt.decision)) return false;
  if (overrideOf(state) !== undefined) return phase !== 'closed' || found !== 'error';
  const isFinal = action === 'cancel' || action === 'decline';
  return (phase === 'decided' || phase === 'closed') && !isFinal && found !== 'error';
}
