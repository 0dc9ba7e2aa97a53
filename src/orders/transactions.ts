/** The transactions of an attempt: what was made, what turned up, and until when it can be canceled. */
import type { LookUpOutcome, ScreeningOutcome } from './activity-contract.ts';
import { addReading } from './bounds.ts';
import type { OrderEventType } from './messages.ts';
import type { Policy } from './policy.ts';
import { clear, currentAttempt, enrichedOf, overrideOf, raiseWrongKey } from './record.ts';
import type { Attempt, Enriched, OrderState } from './state.ts';
import { type Decision, type Instant, instant, millis, type OrderDecision } from './words.ts';

/**
 * Keeps the cancel window after a screening: it counts from the earliest moment at which a create of this
 * transaction may have been sent.
 * @param sentSince the earliest moment at which this screening, or the one whose transaction it found, may have sent a create
 */
export function noteSending(
  attempt: Attempt,
  policy: Policy,
  outcome: ScreeningOutcome,
  sentSince: Instant,
): void {
  keepWindow(attempt, 'transactionId' in outcome ? outcome.transactionId : undefined);
  const made = outcome.kind === 'answered' && !outcome.adopted;
  const maybe =
    outcome.kind === 'answered' ||
    outcome.kind === 'unreadable' ||
    (outcome.kind === 'unanswered' && outcome.maybeSent);
  // A reply without an id leaves a transaction that nobody here knows, whatever the attempt had before.
  if (outcome.kind === 'unreadable' && outcome.transactionId === undefined) attempt.createOpen = true;
  else if (outcome.kind !== 'unanswered' && outcome.kind !== 'forbidden') delete attempt.createOpen;
  if (made) attempt.maybeSentSince = sentSince;
  else if (maybe) attempt.maybeSentSince ??= sentSince;
  if (attempt.maybeSentSince !== undefined && sentSince < attempt.maybeSentSince)
    attempt.maybeSentSince = sentSince;
  noteWindow(attempt, policy);
}

/** Records the id of a transaction that belongs to the attempt; the newest is the one that counts, also for the gateway's result. */
export function noteTransaction(attempt: Attempt, transactionId: string): void {
  if (attempt.transactionId !== transactionId) delete attempt.gateway?.sent;
  attempt.transactionId = transactionId;
  if (!attempt.transactionIds.includes(transactionId)) attempt.transactionIds.push(transactionId);
}

/** A transaction that makes room for the next one has the window that it had. */
function keepWindow(attempt: Attempt, next: string | undefined): void {
  const { transactionId } = attempt;
  if (transactionId !== undefined && next !== undefined && next !== transactionId)
    noteWindowOf(attempt, transactionId);
}

function noteWindowOf(attempt: Attempt, transactionId: string): void {
  const { cancelBy, earlierWindows } = attempt;
  if (cancelBy !== undefined) attempt.earlierWindows = { ...earlierWindows, [transactionId]: cancelBy };
}

/** @returns the end of the window of this one of the attempt's transactions, or undefined: it isn't known */
export function windowOf(attempt: Attempt, transactionId: string | undefined): Instant | undefined {
  if (transactionId === attempt.transactionId) return attempt.cancelBy;
  return transactionId === undefined ? undefined : attempt.earlierWindows?.[transactionId];
}

const UNDECIDED: readonly OrderDecision[] = ['pending', 'error', 'skipped'];

/** @returns whether the service has decided about the attempt: what brings no decision replaces none (rule «no decision lost») */
export function hasDecision(attempt: Attempt): boolean {
  return UNDECIDED.every((decision) => attempt.decision !== decision);
}

/**
 * @returns whether a decision that is found of the attempt is the one that the order lacks. An `error` tells an order that was
 * given up nothing new, and a cancel that nobody decided in the service's place stays one
 */
export function isAwaited(state: OrderState, attempt: Attempt, found: Decision): boolean {
  const { phase, action } = state;
  if (attempt !== currentAttempt(state)) return false;
  if (phase === 'screening') return true;
  if (hasDecision(attempt)) return false;
  return overrideOf(state) !== undefined || (phase === 'decided' && action !== 'cancel' && found !== 'error');
}

/** Records a transaction that was found by its invoice number. Nothing else follows from it. */
function noteFound(
  state: OrderState,
  attempt: Attempt,
  found: { transactionId: string; decision: Decision } & Enriched,
  now: Instant,
): void {
  noteTransaction(attempt, found.transactionId);
  if (state.policy !== undefined) noteWindow(attempt, state.policy);
  attempt.decision = found.decision;
  addReading(state, attempt, { decision: found.decision, at: now, source: 'look-up', ...enrichedOf(found) });
  if (attempt !== currentAttempt(state)) return;
  state.decision = found.decision;
  state.lastRead = { at: now, source: 'look-up' };
}

/** The transaction that has a decision stays the one that counts. The other is no older, so its window is open for as long. */
function noteAside(attempt: Attempt, transactionId: string): void {
  delete attempt.createOpen;
  if (attempt.transactionIds.includes(transactionId)) return;
  attempt.transactionIds.push(transactionId);
  noteWindowOf(attempt, transactionId);
}

/** Records what a screening or a look-up brought after the order had gone on without it: nothing else follows. */
export function noteLateScreening(
  state: OrderState,
  attempt: Attempt,
  outcome: ScreeningOutcome,
  sentSince: Instant,
  now: Instant,
): void {
  if (outcome.kind === 'answered' && outcome.decision === 'error' && hasDecision(attempt)) {
    noteAside(attempt, outcome.transactionId);
    return;
  }
  if (state.policy !== undefined) noteSending(attempt, state.policy, outcome, sentSince);
  if (outcome.kind === 'answered') noteFound(state, attempt, outcome, now);
  if (outcome.kind === 'unreadable' && outcome.transactionId !== undefined) {
    noteTransaction(attempt, outcome.transactionId);
  }
}

/**
 * Brings in the end of a look-up by invoice number.
 * @param sentSince the earliest moment at which the create may have been sent that made what it found
 * @returns the events that it means
 */
export function applyLookUp(
  state: OrderState,
  attempt: Attempt,
  outcome: LookUpOutcome,
  now: Instant,
  sentSince: Instant = now,
): OrderEventType[] {
  if (outcome.kind === 'forbidden') return raiseWrongKey(state, now);
  clear(state, 'wrong-key');
  attempt.lookedUp = true;
  delete attempt.createOpen;
  if (outcome.kind === 'found')
    noteLateScreening(state, attempt, { ...outcome, kind: 'answered', adopted: true }, sentSince, now);
  return [];
}

/** @returns whether the service may hold a transaction of the attempt that nobody here knows */
export function mayHoldUnknown({ transactionId, maybeSentSince, createOpen }: Attempt): boolean {
  return createOpen === true || (transactionId === undefined && maybeSentSince !== undefined);
}

/** @returns whether such a transaction is still to be looked for */
export function mustLookUp(attempt: Attempt): boolean {
  return mayHoldUnknown(attempt) && attempt.lookedUp !== true;
}

/** Keeps the end of the window that began when a create may first have been sent; nothing before that. */
export function noteWindow(attempt: Attempt, policy: Policy): void {
  if (attempt.maybeSentSince === undefined) return;
  attempt.cancelBy = windowEnd(attempt.maybeSentSince, policy.cancelWindowMs);
}

// Arithmetic of the cancel window.

/** Rule «last call»: clocks differ, and requests take time. */
const LAST_STRETCH_MS = 30_000;

/** @returns the end of the window that began at `from` */
export function windowEnd(from: Instant, cancelWindowMs: number): Instant {
  return instant(millis(from) + cancelWindowMs);
}

/** @returns the last moment at which a cancel may still be on its way */
export function lastCall(cancelBy: Instant, cancelWindowMs: number): Instant {
  return instant(lastCallMs(cancelBy, cancelWindowMs));
}

function lastCallMs(cancelBy: Instant, cancelWindowMs: number): number {
  return millis(cancelBy) - Math.min(LAST_STRETCH_MS, cancelWindowMs / 100);
}

/** @returns whether a cancel may be sent at `nowMs` */
export function windowOpen(cancelBy: Instant | undefined, cancelWindowMs: number, nowMs: number): boolean {
  return cancelBy !== undefined && nowMs < lastCallMs(cancelBy, cancelWindowMs);
}
