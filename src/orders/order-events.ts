/** Makes the events that go to the order service. Design section 5, "Events out". */
import type { OrderEvent, OrderEventType } from './messages.ts';
import { currentAttempt } from './new-order.ts';
import type { OrderState } from './state.ts';
import type { Instant } from './words.ts';

/** @returns the order's next event, with its state in short as it is now; counts the order's sequence on */
export function nextEvent(order: OrderState, type: OrderEventType, now: Instant): OrderEvent {
  order.events.sequence += 1;
  const { sequence } = order.events;
  const attempt = currentAttempt(order);
  return {
    id: `${order.integration}:${order.orderId}:${sequence}`,
    type,
    orderId: order.orderId,
    integration: order.integration,
    sequence,
    occurredAt: now,
    data: {
      phase: order.phase,
      decision: order.decision,
      action: order.action,
      attempt: attempt.number,
      attention: order.attention.map((one) => one.words),
      ...(attempt.transactionId !== undefined && { transactionId: attempt.transactionId }),
      ...(order.message !== undefined && { message: order.message }),
      ...(order.reason !== undefined && { reason: order.reason }),
      ...(attempt.cancelBy !== undefined && { cancelBy: attempt.cancelBy }),
      ...(order.wouldBe !== undefined && { wouldBe: order.wouldBe }),
    },
  };
}
