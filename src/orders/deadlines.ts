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

/** @returns what comes next by itself, or undefined: nothing does */
export function nextDeadline(order: OrderState): Deadline | undefined {
  let next: Deadline | undefined;
  for (const deadline of deadlines(order)) {
    if (order.passed.includes(deadline.kind)) continue;
    if (next === undefined || millis(deadline.at) < millis(next.at)) next = deadline;
  }
  return next;
}

/** @returns every deadline of the order's phase, also those that have passed */
export function deadlines(order: OrderState): Deadline[] {
  const { policy } = order;
  if (policy === undefined || order.phase === 'closed') return [];
  const attempt = currentAttempt(order);
  const found: Deadline[] = [];
  const add = (kind: DeadlineKind, from: Instant | undefined, ms = 0): void => {
    if (from !== undefined) found.push({ kind, at: instant(millis(from) + ms) });
  };
  const before = (kind: DeadlineKind, leadMs: number): void => add(kind, attempt.cancelBy, -leadMs);

  if (order.phase !== 'canceled') add('hint-spacing', order.hints.until);
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
      if (order.decision === 'skipped') afterSkip();
      else keepWindow();
      break;
    case 'canceled':
      if (gatewayOutstanding(order)) add('gateway-over', order.phaseSince, policy.gatewayResultWithinMs);
      else add('nothing-left', order.phaseSince);
      break;
  }
  return found;

  function keepWindow(): void {
    if (
      order.decision === 'pass' &&
      policy !== undefined &&
      policy.recheckLeadTimeMs > 0 &&
      !policy.passive
    ) {
      before('recheck', policy.recheckLeadTimeMs);
    }
    if (order.action === 'cancel' && policy !== undefined) before('cancel-reminder', policy.reviewLeadTimeMs);
    const end = attempt.cancelBy ?? instant(millis(attempt.startedAt) + (policy?.cancelWindowMs ?? 0));
    add('window-closes', end);
  }

  function afterSkip(): void {
    if (gatewayOutstanding(order) && policy !== undefined) {
      add('gateway-over', order.phaseSince, policy.gatewayResultWithinMs);
    } else {
      add('nothing-left', order.phaseSince);
    }
  }
}

/** @returns whether the gateway's result may still come, and is to be sent on or recorded when it does */
function gatewayOutstanding(order: OrderState): boolean {
  return order.workflow === 'pre-gateway' && currentAttempt(order).gateway === undefined;
}
