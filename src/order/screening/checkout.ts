/** The checkout: the order's first screening, which runs alone, before everything else. A failed checkout is an outcome as well. */
import type { CheckedOut, CheckoutRequest, ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import type { ScreenOrderInput } from '../../contract/messages.ts';
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import type { Policy } from '../../contract/policy.ts';
import { type Instant, laterBy, type OrderEventType } from '../../contract/words.ts';
import { actionWithoutDecision } from '../decide.ts';
import { defined } from '../defined.ts';
import { announce, eventsOfAnswer } from '../events.ts';
import type { Order, Refusal } from '../order.ts';
import { currentAttempt, newOrder, setAction } from '../record.ts';
import { answerNow, checkoutAnswer } from '../view/answers.ts';
import { applyAdoption } from './apply-reading.ts';
import { applyScreening, noteFingerprint } from './apply-screening.ts';
import { screenRequest } from './screen-request.ts';

/** @returns the arguments of the checkout's activity */
export function checkoutRequest(order: Order): Omit<CheckoutRequest, 'begun'> {
  const { state, asked } = order;
  const attempt = currentAttempt(state);
  const { workflow: _unknown, ...request } = screenRequest(order, attempt);
  attempt.invoiceNumber = request.invoiceNumber;
  return { ...request, ...asked, ...defined({ adopt: state.adopted }) };
}

/**
 * Applies the checkout's result to a new order.
 * @param result undefined: the activity failed, and a create may have been sent
 * @returns why the order can't be screened at all, or undefined: it can
 */
export function applyCheckout(order: Order, result: CheckedOut | undefined): Refusal | undefined {
  const { state } = order;
  if (result !== undefined && result.at > order.now) order.now = result.at;
  if (result?.refusal !== undefined) return result.refusal;
  if (result !== undefined && 'earlier' in result) {
    order.state = result.earlier;
    return STARTED_AGAIN;
  }
  if (result === undefined && state.adopted !== undefined) return NOT_READ;
  if (result === undefined) order.policyMissing = true;
  else {
    takePolicy(order, result.policy);
    noteFingerprint(currentAttempt(state), result);
  }
  const outcome = result?.outcome ?? failedScreening(state.startedAt);
  noteAskedPause(order, outcome);
  if (state.adopted !== undefined) announce(order, applyAdoption(state, state.adopted, outcome, order.now));
  else {
    const events = answerCheckout(state, outcome, order.now);
    announce(order, eventsOfAnswer(order, events, result?.again === true));
  }
  return undefined;
}

/** The catch-up of this checkout starts no earlier. */
export function noteAskedPause(order: Order, outcome: ScreeningOutcome): void {
  delete order.notBefore;
  if (outcome.kind === 'unanswered' && outcome.notBefore !== undefined) order.notBefore = outcome.notBefore;
}

export function takePolicy(order: Order, policy: Policy): void {
  const { state } = order;
  delete order.policyMissing;
  state.policy = policy;
  state.workflow = policy.workflow;
  const attempt = currentAttempt(state);
  attempt.screenUntil = laterBy(policy.screeningDeadlineMs, attempt.startedAt);
  // The fallback policy isn't passive, so its action may have to become `proceed`.
  if (policy.passive) setAction(state, state.action);
}

/**
 * Applies the screening of an attempt whose caller waits, and answers it.
 * @returns the events to send, oldest first
 */
export function answerCheckout(state: OrderState, outcome: ScreeningOutcome, now: Instant): OrderEventType[] {
  const events = applyScreening(state, outcome, { source: 'checkout', now });
  currentAttempt(state).answer = checkoutAnswer(state);
  return events;
}

/**
 * Returns the answer that the order will record for its checkout, for a caller that can't wait for the record.
 * If the record is lost, the order is screened again with a lookup first, which finds this transaction.
 * @param input the order's input
 * @param request the request of its screening
 * @returns undefined if the answer must be recorded first: there is no final answer, or the customer is declined (or would be without a
 * decision), since a declined order accepts another attempt
 */
export function answerBeforeRecord(
  input: ScreenOrderInput,
  request: CheckoutRequest,
  checkedOut: CheckedOut,
): CheckoutAnswer | undefined {
  if (checkedOut.refusal !== undefined) return undefined;
  if ('earlier' in checkedOut) return undefined;
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

// A screening whose activity failed, for example because its worker hung.

export const BROKE_DOWN = 'screening-broke-down';

/** Returns the outcome of a screening whose activity failed: a create may have been sent since it began. */
export function failedScreening(unseenSince: Instant): ScreeningOutcome {
  return { kind: 'unanswered', reason: BROKE_DOWN, unseenSince };
}

/** Returns whether the attempt's checkout activity failed, and the attempt has no reading since. */
export function checkoutFailed({ answer, rescreens, readings }: Attempt): boolean {
  return answer?.reason === BROKE_DOWN && rescreens === 0 && readings.length === 0;
}

/** Rule «started again»: the order keeps the record of its earlier run. */
const STARTED_AGAIN: Refusal = { code: 'order-closed', message: 'The order has ended before.' };

/** Refuses an adoption whose transaction can't be read: continuing without a decision would create a transaction. */
const NOT_READ: Refusal = {
  code: 'screening-service-unavailable',
  message: 'The status could not be read, so nothing was adopted: send the same request again.',
};
