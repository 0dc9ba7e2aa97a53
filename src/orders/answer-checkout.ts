/** What the checkout's screening makes of an order: the policy in force, the decision, and the answer to the caller. */
import type { CheckoutRequest, FirstScreening, ScreeningOutcome } from './activity-contract.ts';
import { applyScreening, noteFingerprint } from './apply-screening.ts';
import { actionWithoutDecision } from './decide.ts';
import type { OrderEventType, ScreenOrderInput } from './messages.ts';
import type { Policy } from './policy.ts';
import { currentAttempt, newOrderState } from './record.ts';
import type { Attempt, CheckoutAnswer, OrderState } from './state.ts';
import { answerNow, checkoutAnswer } from './tickets.ts';
import { type Instant, instant, millis } from './words.ts';

/**
 * Brings the first screening into a new order and answers its checkout.
 * @returns the events that it means, oldest first
 */
export function applyFirstScreening(
  state: OrderState,
  first: Pick<FirstScreening, 'policy' | 'outcome' | 'fingerprint'>,
  now: Instant,
): OrderEventType[] {
  const { policy, outcome } = first;
  state.policy = policy;
  state.workflow = policy.workflow;
  noteFingerprint(currentAttempt(state), first);
  currentAttempt(state).screenUntil = instant(millis(state.startedAt) + policy.screeningDeadlineMs);
  return answerCheckout(state, policy, outcome, now);
}

/**
 * Brings the screening of an attempt whose caller waits into the order and answers it.
 * @returns the events that it means, oldest first
 */
export function answerCheckout(
  state: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  now: Instant,
): OrderEventType[] {
  const events = applyScreening(state, policy, outcome, { source: 'checkout', now });
  currentAttempt(state).answer = checkoutAnswer(state);
  return events;
}

/**
 * The answer that an order will have on record once its first screening is recorded, for a caller that can't wait for it.
 * Should the record be lost, the order is screened again by looking first, and finds this transaction.
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
  if (outcome.kind !== 'answered' || outcome.found || outcome.decision === 'error') return undefined;
  if (actionWithoutDecision(policy) === 'decline') return undefined;
  const { integration, startedAt, begun, invoiceNumber } = request;
  const order = newOrderState({ ...input, integration }, startedAt);
  currentAttempt(order).invoiceNumber = invoiceNumber;
  applyFirstScreening(order, first, begun);
  const answer = answerNow(order, 1);
  return answer?.action === 'decline' ? undefined : answer;
}

// A checkout whose activity failed by itself, such as one of a worker without the settings.

const BROKE_DOWN = 'screening-broke-down';

/** Returns what is known when a screening's own code failed: a create may have been sent since it was begun. */
export function brokeDown(unseenSince: Instant): ScreeningOutcome {
  return { kind: 'unanswered', reason: BROKE_DOWN, unseenSince };
}

/** Returns whether the attempt's checkout failed by itself, and nothing was read of the attempt since. */
export function checkoutFailed({ answer, rescreens, readings }: Attempt): boolean {
  return answer?.reason === BROKE_DOWN && rescreens === 0 && readings.length === 0;
}
