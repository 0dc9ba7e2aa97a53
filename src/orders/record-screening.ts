/** Records which transactions a screening or a lookup brought, and which create is left that nobody has seen. */
import type { ScreeningOutcome, Sent } from '../contract/activity-contract.ts';
import type { Attempt, OrderState } from '../contract/state.ts';
import type { Decision, Instant, ReadingSource } from '../contract/words.ts';
import { clear } from './attention.ts';
import { currentAttempt, enrichedOf, overrideOf, recordReading } from './record.ts';
import { hasDecision, ownerOf, recordTransaction, transactionNamed, transactionOf } from './transactions.ts';

interface Moment {
  source: ReadingSource;
  now: Instant;
}

/** Whose transaction a screening brought: the attempt's own, or that of the oldest attempt with a create that nobody has seen. */
export function withoutOthers(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  now: Instant,
): ScreeningOutcome {
  const seen =
    outcome.kind === 'answered' ? outcome : outcome.kind === 'unreadable' ? outcome.seen : undefined;
  if (seen === undefined || !seen.found || state.adopted !== undefined) return outcome;
  const known = transactionNamed(state, seen.transactionId);
  const owner =
    known === undefined ? ownerOf(state, attempt.invoiceNumber ?? '') : state.attempts[known.attempt - 1];
  if (owner === undefined || owner === attempt) return outcome;
  const sentFrom = owner.unseen?.since ?? seen.sentFrom;
  recordLate(state, owner, asOf(outcome, sentFrom), now);
  return { kind: 'unanswered', reason: 'earlier-attempt', unseenSince: seen.sentFrom };
}

function asOf(outcome: ScreeningOutcome, sentFrom: Instant): ScreeningOutcome {
  if (outcome.kind === 'answered') return { ...outcome, sentFrom };
  if (outcome.kind !== 'unreadable' || outcome.seen === undefined) return outcome;
  return { ...outcome, seen: { ...outcome.seen, sentFrom } };
}

/** Records what a screening or a lookup brought of an attempt after the order had gone on without it. Nothing else follows. */
export function recordLate(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  now: Instant,
): void {
  noteUnseen(state, attempt, outcome);
  const moment = { source: 'look-up', now } as const;
  if (outcome.kind === 'unreadable' && outcome.seen !== undefined)
    recordSeen(state, attempt, outcome.seen, moment);
  if (outcome.kind !== 'answered') return;
  recordSeen(state, attempt, outcome, moment);
  const { decision } = outcome;
  if (decision === 'error' && hasDecision(attempt)) return;
  recordReading(state, attempt, { decision, at: now, source: 'look-up', ...enrichedOf(outcome) });
  if (attempt !== currentAttempt(state)) return;
  clear(state, { codes: ['unreadable-answer'] });
  if (decision !== 'error') clear(state, { codes: ['no-decision'] });
}

/** Records what a lookup found for the attempt, which may be another attempt's. Nothing else follows. */
export function recordFound(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  now: Instant,
): void {
  recordLate(state, attempt, withoutOthers(state, attempt, outcome, now), now);
}

export function recordSeen(
  state: OrderState,
  attempt: Attempt,
  seen: { transactionId: string; found: boolean; decision?: Decision } & Sent,
  { source, now }: Moment,
): void {
  const { transactionId: id, found, sentFrom, sentUntil, decision } = seen;
  recordTransaction(state, {
    id,
    attempt: attempt.number,
    invoiceNumber: attempt.invoiceNumber ?? state.orderId,
    sentFrom,
    sentUntil,
    found: found ? 'lookup' : 'created',
    ...(decision !== undefined && { decision, decidedAt: now, source }),
  });
}

/** Every outcome says whether a create of the attempt is left whose transaction nobody has seen. */
export function noteUnseen(state: OrderState, attempt: Attempt, outcome: ScreeningOutcome): void {
  const { invoiceNumber } = attempt;
  const since = 'unseenSince' in outcome ? outcome.unseenSince : undefined;
  if (since === undefined || invoiceNumber === undefined) noneUnseen(state, attempt);
  else attempt.unseen = { invoiceNumber, since };
}

/** Every transaction of the attempt is known: nobody needs to look for one, unless another attempt has one. */
export function noneUnseen(state: OrderState, attempt: Attempt): void {
  delete attempt.unseen;
  if (state.attempts.every(({ unseen }) => unseen === undefined))
    clear(state, { codes: ['transaction-unseen'] });
}

/** @returns whether a screening brings another decision than the attempt has, or one of another transaction */
export function isNews(state: OrderState, attempt: Attempt, outcome: ScreeningOutcome): boolean {
  if (outcome.kind !== 'answered' || outcome.decision === 'error') return false;
  return outcome.decision !== attempt.decision || outcome.transactionId !== transactionOf(state, attempt)?.id;
}

/**
 * Returns whether a decision that a lookup finds is the one that the order lacks. That includes an order that closed without one:
 * the order service must hear it. After the screening was given up, `error` is not news. A cancel stands unless a person decided.
 */
export function isAwaited(state: OrderState, attempt: Attempt, found: Decision): boolean {
  const { phase, action } = state;
  if (attempt !== currentAttempt(state)) return false;
  if (phase === 'screening') return true;
  if (hasDecision(attempt)) return false;
  if (overrideOf(state) !== undefined) return phase !== 'closed';
  return (phase === 'decided' || phase === 'closed') && action !== 'cancel' && found !== 'error';
}
