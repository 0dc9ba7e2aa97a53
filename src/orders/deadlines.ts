/**
 * What happens by itself, and when. A newcomer who asks «what happens at day 5?» reads this file.
 * Design section 3 and its corner rules.
 */
import { rescreenAt } from './apply-screening.ts';
import { currentAttempt } from './new-order.ts';
import { awaitsGateway } from './phase.ts';
import type { DeadlineKind, OrderState } from './state.ts';
import { type Instant, instant, millis } from './words.ts';

export interface Deadline {
  kind: DeadlineKind;
  at: Instant;
}

/** @returns when a kept hint may be read, if that is later; it has a timer of its own: the others outlast it */
export function spacingDeadline({ hints, phase }: OrderState): Deadline | undefined {
  if (!hints.unread || hints.until === undefined || phase === 'canceled') return undefined;
  return { kind: 'hint-spacing', at: hints.until };
}

/** @returns what comes next by itself, or undefined: nothing does */
export function nextDeadline(order: OrderState): Deadline | undefined {
  let next: Deadline | undefined;
  for (const deadline of deadlines(order)) {
    if (order.passed.includes(deadline.kind)) continue;
    if (next === undefined || millis(deadline.at) < millis(next.at)) next = deadline;
  }
  return next;
}

/** @returns every deadline that follows by itself, also those that have passed */
export function allDeadlines(order: OrderState): Deadline[] {
  const spacing = spacingDeadline(order);
  return spacing === undefined ? deadlines(order) : [...deadlines(order), spacing];
}

/** Deadlines that end the order when they pass. */
const ENDS: DeadlineKind[] = ['window-closes', 'retry-over', 'gateway-over', 'review-limit'];

/** @returns whether the order ends when this deadline passes */
export function endsOrder(kind: DeadlineKind): boolean {
  return ENDS.includes(kind);
}

/**
 * An order takes nothing more from the moment of its last deadline, whether its end is recorded yet or not. So its end is
 * the same however often the workflow task that records it is run.
 * @returns whether the order is at its end
 */
export function isOver(order: OrderState, nowMs: number): boolean {
  if (order.ended === true || order.phase === 'closed') return true;
  return deadlines(order).some(({ kind, at }) => endsOrder(kind) && millis(at) <= nowMs);
}

/** @returns every deadline of the order's phase, also those that have passed */
export function deadlines(order: OrderState): Deadline[] {
  if (order.policy === undefined || order.phase === 'closed') return [];
  const { policy } = order;
  const attempt = currentAttempt(order);
  const found: Deadline[] = [];
  const add = (kind: DeadlineKind, from: Instant | undefined, ms = 0): void => {
    if (from !== undefined) found.push({ kind, at: instant(millis(from) + ms) });
  };
  const before = (kind: DeadlineKind, leadMs: number): void => add(kind, attempt.cancelBy, -leadMs);

  if (awaitsGateway(order) && attempt.gateway === undefined) {
    add('gateway-late', order.phaseSince, policy.gatewayResultWithinMs);
  }
  switch (order.phase) {
    case 'screening':
      add('screening-deadline', attempt.screenUntil);
      if (!attempt.rescreenDue) add('rescreen', rescreenAt(order));
      break;
    case 'awaiting-gateway':
    case 'review':
      if (order.decision === 'review') {
        before('review-lead', policy.reviewLeadTimeMs);
        add('review-limit', attempt.maybeSentSince, policy.reviewLimitMs);
      } else {
        keepWindow();
      }
      break;
    case 'declined':
      add('retry-over', attempt.declinedAt, policy.retryWithinMs);
      break;
    case 'decided':
      if (order.decision === 'skipped') endAfterGateway();
      else keepWindow();
      break;
    case 'canceled':
      endAfterGateway();
      break;
  }
  return found;

  function keepWindow(): void {
    if (recheckUseful(order)) before('recheck', policy.recheckLeadTimeMs);
    if (order.action === 'cancel') before('cancel-reminder', policy.reviewLeadTimeMs);
    if (attempt.cancelBy !== undefined) before('window-closes', 0);
    else add('window-closes', attempt.startedAt, policy.cancelWindowMs);
  }

  function endAfterGateway(): void {
    if (gatewayOutstanding(order)) add('gateway-over', order.phaseSince, policy.gatewayResultWithinMs);
    else add('nothing-left', order.phaseSince);
  }
}

/** @returns whether a `pass` is to be read once more: not if it was read as late as that already, nor to no avail */
function recheckUseful({ decision, policy, lastRead, attempts }: OrderState): boolean {
  const cancelBy = attempts.at(-1)?.cancelBy;
  if (decision !== 'pass' || policy === undefined || policy.passive || policy.recheckLeadTimeMs === 0)
    return false;
  if (cancelBy === undefined || lastRead === undefined) return false;
  return millis(lastRead.at) < millis(cancelBy) - policy.recheckLeadTimeMs;
}

/** @returns whether the gateway's result may still come, and is to be sent on or recorded when it does */
function gatewayOutstanding(order: OrderState): boolean {
  const { gateway, answer, readings } = currentAttempt(order);
  if (order.workflow !== 'pre-gateway' || gateway !== undefined) return false;
  // Nobody goes to the gateway who was never told to proceed.
  return answer?.action === 'proceed' || readings.some(({ decision }) => decision === 'pass');
}
