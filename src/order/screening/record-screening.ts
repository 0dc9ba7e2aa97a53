/** Records the transactions that a screening or a lookup returned, and creates whose transaction is unknown. */
import type { ScreeningOutcome, Sent } from '../../contract/activity-contract.ts';
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import type { Decision, Instant, OrderEventType, ReadingSource } from '../../contract/words.ts';
import { clear, raiseAttention } from '../attention.ts';
import { applyReading } from '../decide.ts';
import { defined } from '../defined.ts';
import { currentAttempt, enrichedOf, overrideOf, recordReading } from '../record.ts';
import { isDecided, recordTransaction, transactionNamed, transactionOf } from '../transactions.ts';

type Seen = { transactionId: string; found: boolean; decision?: Decision } & Sent;

const LOOKUP = { operation: 'lookup' } as const;
const UNREADABLE =
  'The screening service returned an unknown decision of a transaction of the order that was found late.';

export interface Moment {
  source: ReadingSource;
  now: Instant;
}

/**
 * Moves a found transaction to its owner: the oldest attempt with an unconfirmed create of its invoice number, since the screening service
 * shows only the first transaction of a number. Returns the outcome for `attempt`.
 */
export function withoutOthers(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  now: Instant,
): ScreeningOutcome {
  const seen = seenBy(outcome);
  if (seen === undefined || !seen.found || state.adopted !== undefined) return outcome;
  const known = transactionNamed(state, seen.transactionId);
  const owner = state.attempts.find(({ number, unseen }) =>
    known === undefined ? unseen && unseen.invoiceNumber === attempt.invoiceNumber : number === known.attempt,
  );
  if (owner === undefined || owner === attempt) return outcome;
  recordLate(state, owner, outcome, now, owner.unseen?.since);
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
  now: Instant,
  sentFrom?: Instant,
): OrderEventType[] {
  const source = 'look-up';
  noteUnseen(state, attempt, outcome);
  const seen = seenBy(outcome);
  const known = transactionNamed(state, seen?.transactionId);
  // Its status may have been read since.
  if (seen === undefined || isDecided(known?.decision)) return [];
  const isNewest = attempt === currentAttempt(state);
  recordSeen(state, attempt, { ...seen, ...defined({ sentFrom }) }, { source, now });
  if (outcome.kind !== 'answered') {
    if (!isNewest || known !== undefined || state.phase === 'canceled') return [];
    return raiseAttention(state, 'unreadable-answer', UNREADABLE, LOOKUP, now);
  }
  const { decision } = outcome;
  if (isDecided(attempt.decision)) {
    if (decision === 'error') return [];
    if (isNewest && state.phase !== 'canceled')
      return applyReading(state, { ...outcome, kind: 'read' }, source, now);
  }
  recordReading(state, attempt, { decision, at: now, source, ...enrichedOf(outcome) });
  if (!isNewest) return [];
  clear(state, { codes: ['unreadable-answer'] });
  if (decision !== 'error') clear(state, { codes: ['no-decision'] });
  return [];
}

export function recordSeen(state: OrderState, attempt: Attempt, seen: Seen, { source, now }: Moment): void {
  const { transactionId: id, found, sentFrom, sentUntil, decision } = seen;
  recordTransaction(state, {
    id,
    attempt: attempt.number,
    invoiceNumber: attempt.invoiceNumber ?? state.orderId,
    sentFrom,
    sentUntil,
    found: source === 'adoption' ? 'adopted' : found ? 'lookup' : 'created',
    ...(decision !== undefined && { decision, decidedAt: now, source }),
  });
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
