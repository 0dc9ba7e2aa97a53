/**
 * What happens by itself, and when. A newcomer who asks «what happens at day 5?» reads this file.
 */

import { sameTransaction } from './ids.ts';
import type { ReviewHint } from './messages.ts';
import type { Policy } from './policy.ts';
import { awaitsGateway, currentAttempt, FIRST_HINT_SPACING_MS } from './record.ts';
import type { ActionRecord, Attempt, OrderState } from './state.ts';
import {
  cancelByOf,
  lastCall,
  lastWindowOf,
  mayBeSeen,
  transactionNamed,
  transactionOf,
} from './transactions.ts';
import { type DeadlineKind, type Instant, instant, millis } from './words.ts';

export interface Deadline {
  kind: DeadlineKind;
  at: Instant;
}

/** @returns when a kept hint may be read; undefined: there is none, or it may be read now. Its timer is its own: it rings while the others go on */
export function spacingDeadline({ hints, phase }: OrderState): Deadline | undefined {
  if (!hints.unread || hints.until === undefined || phase === 'canceled') return undefined;
  return { kind: 'hint-spacing', at: hints.until };
}

/** @returns what comes next by itself, or undefined: nothing does */
export function nextDeadline(state: OrderState): Deadline | undefined {
  let next: Deadline | undefined;
  for (const deadline of deadlines(state)) {
    if (state.passed.includes(deadline.kind)) continue;
    if (next === undefined || deadline.at < next.at) next = deadline;
  }
  return next;
}

/** @returns every deadline that follows by itself, also those that have passed */
export function allDeadlines(state: OrderState): Deadline[] {
  const others = [spacingDeadline(state), actionBound(state), leftoversBound(state)];
  return [...deadlines(state), ...others.filter((one) => one !== undefined)];
}

/** Rule «a day's bound». */
export const ACTION_MS = 24 * 3_600_000;

/**
 * @returns when the first portal action that is under way is given up: a cancel that still waits for what it is about at its
 * last call, any other a day after it was asked
 */
export function actionBound(state: OrderState): Deadline | undefined {
  let first: Instant | undefined;
  for (const record of state.actions) {
    const at = boundOf(state, record);
    if (at !== undefined && (first === undefined || at < first)) first = at;
  }
  return first === undefined ? undefined : { kind: 'action-over', at: first };
}

/** @returns when the action is given up, or undefined: it is over, or is to stop already, or ends by itself */
export function boundOf(state: OrderState, record: ActionRecord): Instant | undefined {
  if (record.stop !== undefined) return undefined;
  if (record.kind !== 'cancel') {
    const underWay = record.status === 'queued' || record.status === 'running';
    return underWay ? instant(millis(record.requestedAt) + ACTION_MS) : undefined;
  }
  const cancelBy =
    transactionNamed(state, record.transactionId)?.cancelBy ?? cancelByOf(state, currentAttempt(state));
  if (record.status !== 'queued' || cancelBy === undefined || state.policy === undefined) return undefined;
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
  return { kind: 'leftovers-over', at: instant(millis(state.endedAt) + ACTION_MS) };
}

function owes(state: OrderState, attempt: Attempt): boolean {
  const { gateway } = attempt;
  const unsent = gateway !== undefined && gateway.sent === undefined;
  return mayBeSeen(attempt) || (unsent && transactionOf(state, attempt) !== undefined);
}

/** Deadlines that end the order when they pass, beside `nothing-left`, which passes in the task in which it comes up. */
const ENDS: DeadlineKind[] = ['window-closes', 'retry-over', 'gateway-over', 'review-limit'];

/**
 * An order takes nothing more from the moment of its last deadline, whether its end is recorded yet or not. So its end is
 * the same however often the workflow task that records it is run.
 * @returns whether the order is at its end
 */
export function isOver(state: OrderState, nowMs: number): boolean {
  if (state.endedAt !== undefined || state.phase === 'closed') return true;
  return deadlines(state).some(({ kind, at }) => ENDS.includes(kind) && millis(at) <= nowMs);
}

/** @returns every deadline of the order's phase, also those that have passed */
export function deadlines(state: OrderState): Deadline[] {
  const { policy, phase } = state;
  if (policy === undefined || phase === 'closed') return [];
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
  if (from !== undefined) found.push({ kind, at: ms === 0 ? from : instant(millis(from) + ms) });
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
  if (decision !== 'pass' || policy === undefined || policy.passive || policy.recheckLeadTimeMs === 0)
    return false;
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
  if (
    state.phase !== 'screening' ||
    state.decision !== 'error' ||
    last === undefined ||
    state.policy === undefined
  ) {
    return undefined;
  }
  return instant(millis(last.at) + state.policy.rescreenOnError.pauseMs);
}

// Rule «one hint a spacing».

const LONGEST_SPACING_MS = 5 * 60_000;

/** @returns whether a hint would tell the order something that it doesn't know to look for already */
export function hintIsNews(state: OrderState, hint: ReviewHint, nowMs: number): boolean {
  if (state.phase === 'canceled' || isOver(state, nowMs)) return false;
  return !state.hints.unread && concerns(state, hint);
}

/** A hint for a transaction that isn't the order's newest says nothing about it; which one a screening makes is not known yet. */
function concerns(state: OrderState, hint: ReviewHint): boolean {
  if (state.phase === 'screening') return true;
  const newest = transactionOf(state, currentAttempt(state))?.id;
  // A signal sent by hand may carry nothing at all, and an error here would stop the order for good.
  const named: unknown = hint?.transactionId ?? undefined;
  if (named === undefined || newest === undefined) return true;
  return typeof named === 'string' && sameTransaction(named, newest);
}

/** Keeps a hint until it is read: now, or when the spacing since the last one ends. */
export function keepHint({ hints }: OrderState): void {
  hints.unread = true;
}

/** @returns whether a kept hint may be read now */
export function hintReadable({ hints, phase }: OrderState): boolean {
  return hints.unread && hints.until === undefined && phase !== 'screening';
}

/** The kept hint was read: begins the spacing in which no other is. */
export function takeHint({ hints }: OrderState, now: Instant): void {
  const nowMs = millis(now);
  const quiet = hints.endedAt === undefined || nowMs - millis(hints.endedAt) > hints.spacingMs;
  hints.spacingMs = quiet ? FIRST_HINT_SPACING_MS : Math.min(hints.spacingMs * 2, LONGEST_SPACING_MS);
  hints.unread = false;
  hints.until = instant(nowMs + hints.spacingMs);
}

/** Ends the spacing: a hint that was kept meanwhile may be read. */
export function endSpacing({ hints }: OrderState): void {
  if (hints.until !== undefined) hints.endedAt = hints.until;
  delete hints.until;
}
