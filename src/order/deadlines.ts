/** When each deadline of an order is due. `concerns/deadlines.ts` applies it. */
import type { ActionRecord, OrderState } from '../contract/order/state.ts';
import { type DeadlineKind, type Instant, laterBy, millis } from '../contract/words.ts';
import { currentAttempt, overrideOf, owesGateway } from './record.ts';
import {
  cancelAsked,
  cancelByOf,
  concernsNewest,
  lastCall,
  lastWindowOf,
  mayBeSeen,
  owedFor,
  transactionNamed,
  transactionOf,
} from './transactions.ts';

export interface Deadline {
  kind: DeadlineKind;
  at: Instant;
}

/** Pause before an effect restarts that failed permanently, because of a bug or a limit of the Temporal server. */
export const RETRY_AFTER_MS = 5 * 60_000;

/** A moment, and how many milliseconds after it the deadline is due. Without the moment there is no deadline. */
type Due = [kind: DeadlineKind, from: Instant | undefined, ms?: number];

function deadlinesOf(dues: Iterable<Due>): Deadline[] {
  return [...dues].flatMap(([kind, from, ms = 0]) =>
    from === undefined ? [] : [{ kind, at: laterBy(ms, from) }],
  );
}

/** Returns the next deadline of the order; of an ended one, that of the work that is left. */
export function nextDeadline(state: OrderState): Deadline | undefined {
  if (state.endedAt !== undefined) return first(deadlinesOf(duesOfLeftovers(state)));
  return first(deadlinesOf(duesOfPhase(state)).filter(({ kind }) => !state.passed.includes(kind)));
}

/** Returns the earliest deadline; of several at the same time the first. */
export function first(found: readonly Deadline[]): Deadline | undefined {
  return found.toSorted((one, other) => millis(one.at) - millis(other.at))[0];
}

/** @returns every deadline of the order, including passed ones, action timeouts and the leftovers' timeout */
export function allDeadlines(state: OrderState): Deadline[] {
  return [...deadlinesOf(duesOfPhase(state)), ...actionBounds(state), ...deadlinesOf(duesOfLeftovers(state))];
}

export function actionBounds(state: OrderState): Deadline[] {
  return deadlinesOf(
    state.actions.flatMap((record): Due[] => [
      ['lookup-over', lookupBoundOf(state, record)],
      ['action-over', boundOf(state, record)],
    ]),
  );
}

/** Rule «a day's bound»: a portal action is given up this long after the request. */
export const ACTION_MS = 24 * 3_600_000;

/**
 * @returns when the action is given up: a queued cancel at its last call; undefined: the action has no timeout, as a cancel that waits for a
 * screening, which may still create a transaction with a window of its own
 */
export function boundOf(state: OrderState, record: ActionRecord): Instant | undefined {
  const { status, stop, requestedAt, transactionId } = record;
  if (stop !== undefined || (status !== 'queued' && status !== 'running')) return undefined;
  if (record.kind !== 'cancel') return laterBy(ACTION_MS, requestedAt);
  const cancelBy = concernsNewest(state, record)
    ? lastWindowOf(state, currentAttempt(state))
    : transactionNamed(state, transactionId)?.cancelBy;
  const waits = state.phase === 'screening' && transactionId === undefined;
  if (status !== 'queued' || cancelBy === undefined || waits) return undefined;
  return lastCall(cancelBy, state.policy.cancelWindowMs);
}

/** Rule «not kept waiting»: how long a cancel of a known transaction waits for the lookup of another one, at most half of its window. */
const LOOKUP_MS = 5 * 60_000;

/** @returns until when a queued cancel waits for a lookup; undefined: it knows no transaction yet */
export function lookupBoundOf(state: OrderState, record: ActionRecord): Instant | undefined {
  const { kind, requestedAt, transactionId } = record;
  const known = transactionNamed(state, transactionId)?.cancelBy;
  if (kind !== 'cancel' || known === undefined || boundOf(state, record) === undefined) return undefined;
  const last = lastCall(known, state.policy.cancelWindowMs);
  const halfMs = Math.max(0, millis(last) - millis(requestedAt)) / 2;
  return laterBy(Math.min(LOOKUP_MS, halfMs), requestedAt);
}

/**
 * Rule «a day's bound»: what an ended order still has to send to or read from the screening service (a gateway result, a lookup) is given
 * up a day after the order's end, or when the queued cancel that depends on it ends.
 */
function duesOfLeftovers(state: OrderState): Due[] {
  const cancelWaits = state.actions.some(({ kind, status }) => kind === 'cancel' && status === 'queued');
  const isLeft = state.attempts.some((attempt) => mayBeSeen(attempt) || owedFor(state, attempt));
  return isLeft && !cancelWaits ? [['leftovers-over', state.endedAt, ACTION_MS]] : [];
}

/** Returns every deadline of the order's phase, including passed ones. */
function* duesOfPhase(state: OrderState): Generator<Due> {
  const { policy, phase, phaseSince, decision } = state;
  const attempt = currentAttempt(state);
  const { cancelBy } = transactionOf(state, attempt) ?? {};
  if (phase === 'closed') return;
  if (owesGateway(state)) yield ['gateway-late', phaseSince, policy.gatewayResultWithinMs];
  if (phase === 'screening') {
    // While a caller waits for the checkout's answer, the screening's result or the policy decides.
    if (attempt.answer !== undefined) {
      yield ['screening-deadline', attempt.screenUntil];
      if (!attempt.rescreenDue && decision === 'error')
        yield ['rescreen', attempt.readings.at(-1)?.at, policy.rescreenOnError.pauseMs];
    }
  } else if (phase === 'declined') {
    yield ['closes', attempt.declinedAt, policy.retryWithinMs];
  } else if (phase === 'canceled' || decision === 'skipped') {
    yield ['closes', phaseSince, gatewayOutstanding(state) ? policy.gatewayResultWithinMs : 0];
  } else if (decision === 'review' && phase !== 'decided') {
    yield ['review-lead', cancelBy, -policy.reviewLeadTimeMs];
    if (policy.onUnresolvedReview === 'cancel' && overrideOf(state) === undefined)
      yield ['review-cancel', unresolvedFrom(state)];
    // A person let the order proceed, so the review reminds of nothing.
    if (overrideOf(state) !== undefined && cancelAsked(state))
      yield ['cancel-reminder', cancelByOf(state, attempt), -policy.reviewLeadTimeMs];
    yield ['review-limit', reviewSince(state), policy.reviewLimitMs];
  } else {
    const window = cancelByOf(state, attempt);
    const last = lastWindowOf(state, attempt);
    if (recheckUseful(state, window)) yield ['recheck', window, -policy.recheckLeadTimeMs];
    if (state.action === 'cancel' || cancelAsked(state))
      yield ['cancel-reminder', window, -policy.reviewLeadTimeMs];
    yield ['closes', last ?? laterBy(policy.cancelWindowMs, attempt.startedAt)];
  }
  yield ['snooze-over', state.snoozedUntil];
}

/** @returns the latest time until which the order may be snoozed: the end of its cancel window, else of its phase; undefined: any */
export function snoozeLimit(state: OrderState, now: Instant): Instant | undefined {
  const cancelBy = cancelByOf(state, currentAttempt(state));
  if (cancelBy !== undefined && cancelBy > now) return cancelBy;
  return first(deadlinesOf(duesOfPhase(state)).filter(({ kind, at }) => ENDS.includes(kind) && at > now))?.at;
}

/** @returns since when the newest transaction is in review: since its screening, unless it had another decision before */
function reviewSince(state: OrderState): Instant | undefined {
  const attempt = currentAttempt(state);
  const { readings } = attempt;
  const hasTurned = readings.some(({ decision }) => decision !== 'review');
  return hasTurned ? readings.at(-1)?.at : transactionOf(state, attempt)?.sentFrom;
}

/**
 * Rule «unresolved review».
 * @returns when policy takes a review for unresolved: at its lead time once it was read since, otherwise halfway to the last call or to the
 * review's limit
 */
function unresolvedFrom(state: OrderState): Instant | undefined {
  const { policy } = state;
  const cancelBy = transactionOf(state, currentAttempt(state))?.cancelBy;
  const since = reviewSince(state);
  if (cancelBy === undefined || since === undefined) return undefined;
  const due = laterBy(-policy.reviewLeadTimeMs, cancelBy);
  if (isReadSince(state, due)) return due;
  const lastMs = millis(lastCall(cancelBy, policy.cancelWindowMs));
  const endMs = Math.min(lastMs, millis(since) + policy.reviewLimitMs);
  return laterBy((endMs - millis(due)) / 2, due);
}

/** @returns whether a decision was read at that moment or later */
export function isReadSince({ lastRead }: OrderState, due: Instant): boolean {
  return lastRead !== undefined && lastRead.at >= due;
}

const ENDS: readonly DeadlineKind[] = ['screening-deadline', 'review-limit', 'closes'];

/** @returns whether to read a `pass` once more: not if it was read within the lead time, nor if the result could not change anything */
export function recheckUseful(state: OrderState, cancelBy: Instant | undefined): boolean {
  const { decision, policy, lastRead } = state;
  if (decision !== 'pass' || policy.passive || policy.recheckLeadTimeMs === 0) return false;
  if (cancelBy === undefined || lastRead === undefined) return false;
  return millis(lastRead.at) < millis(cancelBy) - policy.recheckLeadTimeMs;
}

/** @returns whether a gateway result may still be reported, and is then sent or recorded */
function gatewayOutstanding(state: OrderState): boolean {
  const { gateway, answer, readings } = currentAttempt(state);
  if (state.workflow !== 'pre-gateway') return false;
  if (gateway !== undefined) return gateway.result === 'error' && state.decision === 'skipped';
  // Without `proceed` the order service never called the gateway.
  const calls = ({ decision }: { decision: string }) => decision === 'pass' || decision === 'skipped';
  return answer?.action === 'proceed' || readings.some(calls);
}
