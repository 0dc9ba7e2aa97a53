/** The checkout: the order's first screening, which runs alone and before everything else. Its failure is an outcome, too. */
import type { CheckedOut, CheckoutRequest, ScreeningOutcome } from '../contract/activity-contract.ts';
import type { CheckoutAnswer } from '../contract/answers.ts';
import type { ScreenOrderInput } from '../contract/messages.ts';
import type { Policy } from '../contract/policy.ts';
import type { Attempt, OrderState } from '../contract/state.ts';
import { type Instant, laterBy, type OrderEventType } from '../contract/words.ts';
import { answerNow, checkoutAnswer } from './answers.ts';
import { applyAdoption } from './apply-reading.ts';
import { applyScreening, noteFingerprint } from './apply-screening.ts';
import { actionWithoutDecision } from './decide.ts';
import { defined } from './defined.ts';
import { announce, eventsOfAnswer } from './events.ts';
import type { Order, Refusal } from './order.ts';
import { currentAttempt, newOrder, setAction } from './record.ts';
import { screenRequest } from './screen-request.ts';

/** @returns what the checkout's activity is called with */
export function checkoutRequest(order: Order): Omit<CheckoutRequest, 'begun'> {
  const { state, asked } = order;
  const attempt = currentAttempt(state);
  const { workflow: _unknown, ...request } = screenRequest(order, attempt);
  attempt.invoiceNumber = request.invoiceNumber;
  return { ...request, ...asked, ...defined({ adopt: state.adopted }) };
}

/**
 * Applies the checkout's result to a new order.
 * @param result undefined: the activity failed, and its create may be on its way
 * @returns why the order can't be screened at all, or undefined: it goes on
 */
export function applyCheckout(order: Order, result: CheckedOut | undefined): Refusal | undefined {
  const { state } = order;
  if (result !== undefined && result.at > order.now) order.now = result.at;
  if (result?.refusal !== undefined) return result.refusal;
  if (result === undefined && state.adopted !== undefined) return NOT_READ;
  if (result === undefined) order.policyMissing = true;
  else {
    takePolicy(order, result.policy);
    noteFingerprint(currentAttempt(state), result);
  }
  const outcome = result?.outcome ?? failedScreening(state.startedAt);
  if (state.adopted !== undefined) announce(order, applyAdoption(state, state.adopted, outcome, order.now));
  else {
    const events = answerCheckout(state, outcome, order.now);
    announce(order, eventsOfAnswer(order, events, result?.again === true));
  }
  return undefined;
}

export function takePolicy(order: Order, policy: Policy): void {
  const { state } = order;
  delete order.policyMissing;
  state.policy = policy;
  state.workflow = policy.workflow;
  currentAttempt(state).screenUntil = laterBy(policy.screeningDeadlineMs, state.startedAt);
  // What was decided by the fallback may not have been done in passive mode.
  if (policy.passive) setAction(state, state.action);
}

/**
 * Brings the screening of an attempt whose caller waits into the order and answers it.
 * @returns the events that it means, oldest first
 */
export function answerCheckout(state: OrderState, outcome: ScreeningOutcome, now: Instant): OrderEventType[] {
  const events = applyScreening(state, outcome, { source: 'checkout', now });
  currentAttempt(state).answer = checkoutAnswer(state);
  return events;
}

/**
 * The answer that an order will have on record once its checkout is recorded, for a caller that can't wait for it.
 * Should the record be lost, the order is screened again by looking first, and finds this transaction.
 * @param input what the order was started with
 * @param request what its screening was called with
 * @returns nothing when the record must come first: there is no definite answer, or the customer is declined or would be
 * without one, since a declined order takes another attempt, or none
 */
export function answerBeforeRecord(
  input: ScreenOrderInput,
  request: CheckoutRequest,
  checkedOut: CheckedOut,
): CheckoutAnswer | undefined {
  if (checkedOut.refusal !== undefined) return undefined;
  const { outcome, policy } = checkedOut;
  if (outcome.kind !== 'answered' || outcome.found || outcome.decision === 'error') return undefined;
  if (actionWithoutDecision(policy) === 'decline') return undefined;
  const { integration, startedAt } = request;
  const order = newOrder({ ...input, integration }, startedAt);
  checkoutRequest(order);
  applyCheckout(order, checkedOut);
  const answer = answerNow(order.state, 1);
  return answer?.action === 'decline' ? undefined : answer;
}

// A screening whose activity failed by itself, such as one whose worker stood still.

export const BROKE_DOWN = 'screening-broke-down';

/** Returns what is known when a screening's own code failed: a create may have been sent since it was begun. */
export function failedScreening(unseenSince: Instant): ScreeningOutcome {
  return { kind: 'unanswered', reason: BROKE_DOWN, unseenSince };
}

/** Returns whether the attempt's checkout failed by itself, and nothing was read of the attempt since. */
export function checkoutFailed({ answer, rescreens, readings }: Attempt): boolean {
  return answer?.reason === BROKE_DOWN && rescreens === 0 && readings.length === 0;
}

/** An order that can't be read at its adoption isn't taken over: to go on without a decision would be to create one. */
const NOT_READ: Refusal = {
  code: 'screening-service-unavailable',
  message: 'The status could not be read, so nothing was adopted: send the same request again.',
};
