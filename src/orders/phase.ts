/** Where an order is, derived from what is known of it. Design sections 2 and 3. */
import { currentAttempt } from './new-order.ts';
import type { OrderState } from './state.ts';
import type { Action, Instant, Phase } from './words.ts';

/** Sets the phase that the order's facts mean; `canceled` and `closed` are final. */
export function settle(order: OrderState, now: Instant): void {
  if (order.phase === 'canceled' || order.phase === 'closed') return;
  setPhase(order, phaseOf(order), now);
}

/** Sets the phase and when it began. */
export function setPhase(order: OrderState, phase: Phase, now: Instant): void {
  if (order.phase === phase) return;
  order.phase = phase;
  order.phaseSince = now;
  const attempt = currentAttempt(order);
  if (phase === 'declined') attempt.declinedAt = now;
}

/** Sets the action, or in passive mode `proceed` with what it would have been. */
export function setAction(order: OrderState, action: Action): void {
  const passive = order.policy?.passive === true;
  order.action = passive ? 'proceed' : action;
  if (passive) order.wouldBe = action;
}

function phaseOf(order: OrderState): Phase {
  const attempt = currentAttempt(order);
  const gateway = attempt.gateway?.result;
  if (gateway === 'fail' && order.action !== 'cancel') return 'declined';
  if (order.action === 'decline') return 'declined';
  if (order.action === 'cancel') return 'decided';
  if (attempt.rescreenDue) return 'screening';
  if (order.decision === 'pending') return attempt.screeningOver ? 'decided' : 'screening';
  if (order.decision === 'error') return attempt.screeningOver ? 'decided' : 'screening';
  if (awaitsGateway(order)) return 'awaiting-gateway';
  return order.decision === 'review' ? 'review' : 'decided';
}

/** @returns whether the order service was told to go to the gateway and hasn't said yet how that ended */
export function awaitsGateway(order: OrderState): boolean {
  const gateway = currentAttempt(order).gateway?.result;
  if (order.workflow !== 'pre-gateway' || order.decision === 'skipped') return false;
  return gateway === 'error' ? order.action === 'hold' : gateway === undefined && order.action === 'proceed';
}
