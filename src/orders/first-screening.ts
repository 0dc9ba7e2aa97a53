/** What the checkout's screening makes of an order: the policy in force, the decision, and the answer to the caller. */
import { actionWithoutDecision } from './actions.ts';
import { applyScreening, checkoutAnswer } from './apply-screening.ts';
import type { OrderEventType, ScreenOrderInput } from './messages.ts';
import { currentAttempt, newOrderState } from './new-order.ts';
import type { Policy } from './policy.ts';
import type { FirstScreening, ScreeningOutcome } from './screening-outcome.ts';
import type { CheckoutAnswer, OrderState } from './state.ts';
import { type Instant, instant, millis } from './words.ts';
import type { CheckoutRequest } from './world.ts';

/**
 * Brings the first screening into a new order and answers its checkout.
 * @param sentSince when the screening was begun; an order that was begun before may have been sent before
 * @returns the events that it means, oldest first
 */
export function applyFirstScreening(
  order: OrderState,
  { policy, outcome }: Pick<FirstScreening, 'policy' | 'outcome'>,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  order.policy = policy;
  order.workflow = policy.workflow;
  currentAttempt(order).screenUntil = instant(millis(order.startedAt) + policy.screeningDeadlineMs);
  // An earlier run of this task may have sent a create; only one that was answered now was certainly sent now.
  const made = outcome.kind === 'answered' && !outcome.adopted;
  return answerCheckout(order, policy, outcome, { sentSince: made ? sentSince : order.startedAt, now });
}

/**
 * Brings the screening of an attempt whose caller waits into the order and answers it.
 * @returns the events that it means, oldest first
 */
export function answerCheckout(
  order: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  const events = applyScreening(order, policy, outcome, { source: 'checkout', sentSince, now });
  const insights = outcome.kind === 'answered' ? outcome.insights : undefined;
  currentAttempt(order).answer = checkoutAnswer(order, insights === undefined ? {} : { insights });
  return events;
}

/**
 * The answer that an order will have on record once its first screening is recorded, for a caller that can't wait for it.
 * Should the record be lost, the order is screened again by looking first, and finds this transaction. Design section 6.
 * @param input what the order was started with
 * @param request what its screening was called with
 * @returns nothing when the record must come first: there is no definite answer, or the customer is declined or would be
 * without one, since a declined order takes another attempt, or none
 */
export function answerBeforeRecord(
  input: ScreenOrderInput,
  request: CheckoutRequest,
  first: FirstScreening,
): CheckoutAnswer | undefined {
  const { outcome, policy } = first;
  if (outcome.kind !== 'answered' || outcome.adopted || outcome.decision === 'error') return undefined;
  if (actionWithoutDecision(policy) === 'decline') return undefined;
  const { integration, startedAt, begun: sentSince } = request;
  const order = newOrderState({ ...input, integration }, startedAt);
  applyFirstScreening(order, first, { sentSince, now: sentSince });
  const { answer } = currentAttempt(order);
  return answer?.action === 'decline' ? undefined : answer;
}
