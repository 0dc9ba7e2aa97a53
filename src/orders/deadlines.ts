/** When what happens by itself. What follows is in `concerns/deadlines.ts`. */
import type { Policy } from '../contract/policy.ts';
import type { ActionRecord, Attempt, OrderState } from '../contract/state.ts';
import { type DeadlineKind, type Instant, laterBy, millis } from '../contract/words.ts';
import { awaitsGateway, currentAttempt } from './record.ts';
import {
  cancelByOf,
  lastCall,
  lastWindowOf,
  mayBeSeen,
  transactionNamed,
  transactionOf,
} from './transactions.ts';

export interface Deadline {
  kind: DeadlineKind;
  at: Instant;
}

/** An effect that failed for good is a bug of ours or a limit of the server's, and starts again after this pause. */
export const RETRY_AFTER_MS = 5 * 60_000;

/** @returns what comes next by itself, or undefined: nothing does */
export function nextDeadline(state: OrderState): Deadline | undefined {
  return first(deadlines(state).filter(({ kind }) => !state.passed.includes(kind)));
}

/** @returns the earliest of the deadlines */
export function first(found: readonly Deadline[]): Deadline | undefined {
  return found.reduce<Deadline | undefined>(
    (next, one) => (next === undefined || one.at < next.at ? one : next),
    undefined,
  );
}

/** @returns every deadline that follows by itself, also those that have passed */
export function allDeadlines(state: OrderState): Deadline[] {
  const leftovers = leftoversBound(state);
  return [...deadlines(state), ...actionBounds(state), ...(leftovers === undefined ? [] : [leftovers])];
}

/** @returns when portal actions are given up */
export function actionBounds(state: OrderState): Deadline[] {
  return state.actions.flatMap((record) => {
    const at = boundOf(state, record);
    return at === undefined ? [] : [{ kind: 'action-over' as const, at }];
  });
}

/** Rule «a day's bound»: an action is given up so long after it was asked for. */
export const ACTION_MS = 24 * 3_600_000;

/** @returns when the action is given up: a cancel that is not sent yet at its last call; undefined: it ends by itself */
export function boundOf(state: OrderState, record: ActionRecord): Instant | undefined {
  const { status, stop, requestedAt, transactionId } = record;
  if (stop !== undefined || (status !== 'queued' && status !== 'running')) return undefined;
  if (record.kind !== 'cancel') return laterBy(ACTION_MS, requestedAt);
  const cancelBy =
    transactionNamed(state, transactionId)?.cancelBy ?? cancelByOf(state, currentAttempt(state));
  if (status !== 'queued' || cancelBy === undefined) return undefined;
  return lastCall(cancelBy, state.policy.cancelWindowMs);
}

/**
 * Rule «a day's bound»: what an order that has ended still owes the screening service (a gateway result, a lookup) is given up a day later,
 * or when the cancel is over that waits for it.
 * @returns undefined while the order has not ended, and where it owes nothing
 */
export function leftoversBound(state: OrderState): Deadline | undefined {
  const cancelWaits = state.actions.some(({ kind, status }) => kind === 'cancel' && status === 'queued');
  if (state.endedAt === undefined || cancelWaits) return undefined;
  if (!state.attempts.some((attempt) => owes(state, attempt))) return undefined;
  return { kind: 'leftovers-over', at: laterBy(ACTION_MS, state.endedAt) };
}

function owes(state: OrderState, attempt: Attempt): boolean {
  const { gateway } = attempt;
  const unsent = gateway !== undefined && gateway.sent === undefined;
  return mayBeSeen(attempt) || (unsent && transactionOf(state, attempt) !== undefined);
}

/** @returns every deadline of the order's phase, also those that have passed */
export function deadlines(state: OrderState): Deadline[] {
  const { policy, phase } = state;
  if (phase === 'closed') return [];
  const attempt = currentAttempt(state);
  const found: Deadline[] = [];
  if (awaitsGateway(state) && attempt.gateway === undefined) {
    add(found, 'gateway-late', state.phaseSince, policy.gatewayResultWithinMs);
  }
  switch (phase) {
    case 'screening':
      // Whoever waits for the checkout's answer is told what that brings, or what the policy says.
      if (attempt.answer === undefined) break;
      add(found, 'screening-deadline', attempt.screenUntil);
      if (!attempt.rescreenDue) add(found, 'rescreen', rescreenAt(state));
      break;
    case 'awaiting-gateway':
    case 'review':
      if (state.decision === 'review') {
        const { cancelBy, sentFrom } = transactionOf(state, attempt) ?? {};
        add(found, 'review-lead', cancelBy, -policy.reviewLeadTimeMs);
        add(found, 'review-limit', sentFrom, policy.reviewLimitMs);
      } else keepWindow(found, state, attempt, policy);
      break;
    case 'declined':
      add(found, 'retry-over', attempt.declinedAt, policy.retryWithinMs);
      break;
    case 'decided':
      if (state.decision === 'skipped') endAfterGateway(found, state, policy);
      else keepWindow(found, state, attempt, policy);
      break;
    case 'canceled':
      endAfterGateway(found, state, policy);
      break;
  }
  return found;
}

function add(found: Deadline[], kind: DeadlineKind, from: Instant | undefined, ms = 0): void {
  if (from !== undefined) found.push({ kind, at: laterBy(ms, from) });
}

function keepWindow(found: Deadline[], state: OrderState, attempt: Attempt, policy: Policy): void {
  const cancelBy = cancelByOf(state, attempt);
  if (recheckUseful(state, cancelBy)) add(found, 'recheck', cancelBy, -policy.recheckLeadTimeMs);
  if (state.action === 'cancel') add(found, 'cancel-reminder', cancelBy, -policy.reviewLeadTimeMs);
  const last = lastWindowOf(state, attempt);
  if (last !== undefined) add(found, 'window-closes', last);
  else add(found, 'window-closes', attempt.startedAt, policy.cancelWindowMs);
}

function endAfterGateway(found: Deadline[], state: OrderState, policy: Policy): void {
  if (gatewayOutstanding(state)) add(found, 'gateway-over', state.phaseSince, policy.gatewayResultWithinMs);
  else add(found, 'nothing-left', state.phaseSince);
}

/** @returns whether a `pass` is to be read once more: not where it was read within that lead time already, nor where nothing could follow */
function recheckUseful({ decision, policy, lastRead }: OrderState, cancelBy: Instant | undefined): boolean {
  if (decision !== 'pass' || policy.passive || policy.recheckLeadTimeMs === 0) return false;
  if (cancelBy === undefined || lastRead === undefined) return false;
  return millis(lastRead.at) < millis(cancelBy) - policy.recheckLeadTimeMs;
}

/** @returns whether the gateway's result may still come, and is to be sent on or recorded when it does */
function gatewayOutstanding(state: OrderState): boolean {
  const { gateway, answer, readings } = currentAttempt(state);
  if (state.workflow !== 'pre-gateway' || gateway !== undefined) return false;
  // Nobody goes to the gateway who was never told to proceed.
  return answer?.action === 'proceed' || readings.some(({ decision }) => decision === 'pass');
}

/** @returns when the rescreen after the last `error` is due, or undefined: none is */
function rescreenAt(state: OrderState): Instant | undefined {
  const attempt = currentAttempt(state);
  const last = attempt.readings.at(-1);
  if (state.phase !== 'screening' || state.decision !== 'error' || last === undefined) return undefined;
  return laterBy(state.policy.rescreenOnError.pauseMs, last.at);
}
