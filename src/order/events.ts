/** The events of an order: which are sent, and their content. */
import type { OrderEvent } from '../contract/messages.ts';
import type { KeptEvent, OrderState } from '../contract/order/state.ts';
import { type Instant, millis, type OrderEventType } from '../contract/words.ts';
import { lastOf, newestReading } from './bounds.ts';
import { defined } from './defined.ts';
import type { Order } from './order.ts';
import { currentAttempt, enrichedOf } from './record.ts';
import { cancelByOf, transactionOf } from './transactions.ts';

const DECISION_EVENTS: readonly OrderEventType[] = [
  'order.decided',
  'order.review_resolved',
  'order.decision_changed',
];

/** The maximum number of past events that can be sent again, and their maximum bytes. */
export const KEPT_EVENTS = 50;
const KEPT_EVENTS_BYTES = 100_000;

/** How much of what needs attention an event has, the newest. A receiver that is away for days leaves hundreds of events waiting. */
const MOST_ATTENTION = 20;
const ATTENTION_BYTES = 4_000;

/** Puts events into the outbox, if the integration has a receiver. @param by who made the decision; absent: the screening service */
export function announce(order: Order, types: readonly OrderEventType[], by?: 'person'): void {
  const { state, outbox } = order;
  if (state.policy.events === false) return;
  for (const type of types) outbox.push(nextEvent(state, type, order.now, by));
  state.events.waiting = outbox.length;
}

/**
 * Returns the events of a checkout's answer to send. With the policy `events: changes`, an answer `proceed` or `hold` is not sent as an
 * event if the waiting caller received it in time.
 * @param isUnsure the caller may have received a different answer
 */
export function eventsOfAnswer(
  order: Order,
  types: readonly OrderEventType[],
  isUnsure: boolean,
): OrderEventType[] {
  const { answer } = currentAttempt(order.state);
  const { answerBy } = order.asked;
  const inTime = answerBy !== undefined && millis(order.now) <= millis(answerBy);
  const isHeard = answer?.action === 'proceed' || answer?.action === 'hold';
  // An event of the attempt, such as attention while it is screened, has another action, and may be taken for the newer one.
  const isOvertaken = order.state.events.last?.some(({ data }) => data.attempt === answer?.attempt);
  if (order.state.policy.events !== 'changes' || isUnsure || !inTime || !isHeard || isOvertaken)
    return [...types];
  return types.filter((type) => type !== 'order.decided');
}

/** Returns the event of an order's end. With `events: changes`, an order that only passed has none. */
export function closingEvents({ policy, decision, action, events, actions }: OrderState): OrderEventType[] {
  const onlyPassed =
    decision === 'pass' && action === 'proceed' && events.last === undefined && actions.length === 0;
  return policy.events === 'changes' && onlyPassed ? [] : ['order.closed'];
}

/** Returns the next event with a summary of the order's current state. Increments the sequence, and keeps the event. */
export function nextEvent(state: OrderState, type: OrderEventType, now: Instant, by?: 'person'): KeptEvent {
  const { events, phase, decision, action, message, reason, wouldBe } = state;
  const attempt = currentAttempt(state);
  const reading = newestReading(attempt);
  const transactionId = transactionOf(state, attempt)?.id;
  const cancelBy = cancelByOf(state, attempt);
  const words = state.attention.map((one) => one.words);
  const attention = lastOf(words, MOST_ATTENTION, ATTENTION_BYTES);
  events.sequence += 1;
  const event: KeptEvent = {
    sequence: events.sequence,
    type,
    occurredAt: now,
    data: {
      ...{ phase, decision, action, attempt: attempt.number, attention },
      ...defined({ transactionId, message, reason, cancelBy, wouldBe, by }),
    },
    ...(DECISION_EVENTS.includes(type) && reading !== undefined && { reading }),
  };
  events.last = lastOf([...(events.last ?? []), event], KEPT_EVENTS, KEPT_EVENTS_BYTES);
  return event;
}

/** Returns an event as it is sent. The content is the same every time. */
export function eventToSend({ integration, orderId, attempts }: OrderState, kept: KeptEvent): OrderEvent {
  const { type, sequence, occurredAt, data, reading } = kept;
  const read = reading === undefined ? undefined : attempts[data.attempt - 1]?.readings[reading];
  const id = `${integration}:${orderId}:${sequence}`;
  const sent = { ...data, ...enrichedOf(read ?? {}) };
  return { id, type, orderId, integration, sequence, occurredAt, data: sent };
}
