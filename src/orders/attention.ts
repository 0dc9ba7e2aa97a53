/** What a person must look at, and the events that tell of an order. */
import type { OrderEvent, OrderEventType } from './messages.ts';
import { currentAttempt } from './new-order.ts';
import type { AttentionCode, OrderState } from './state.ts';
import type { Instant } from './words.ts';

/**
 * Raises attention unless the same matter is open already.
 * @param words the reason, for a person; no personal data
 * @returns whether it is new
 */
export function noteAttention(order: OrderState, code: AttentionCode, words: string, now: Instant): boolean {
  if (order.attention.some((one) => one.code === code)) return false;
  order.attention.push({ code, words, since: now });
  return true;
}

/** Raises attention as `raise` does. @returns the event that it means: none unless it is new */
export function raiseAttention(...matter: Parameters<typeof noteAttention>): OrderEventType[] {
  return noteAttention(...matter) ? ['order.attention'] : [];
}

/** Ends matters whose cause has ended. */
export function clear(order: OrderState, ...codes: AttentionCode[]): void {
  order.attention = order.attention.filter((one) => !codes.includes(one.code));
}

/** A wrong key is an operator's mistake. @returns the event that it means: none unless it is new */
export function raiseWrongKey(order: OrderState, now: Instant): OrderEventType[] {
  return raiseAttention(order, 'wrong-key', WRONG_KEY, now);
}

/** @returns whether a wrong key was reported already: then the activities go on trying by themselves */
export function wrongKeyKnown(order: OrderState): boolean {
  return order.attention.some((one) => one.code === 'wrong-key');
}

const WRONG_KEY =
  'The service does not accept the API key (403): set the right one, the order then goes on by itself.';

// Makes the events that go to the order service.

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
