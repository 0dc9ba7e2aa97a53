/** The replies to callers: the answer to a checkout, the result of a portal action, and the result of other requests. */
import type { CheckoutAnswer } from '../../contract/answers.ts';
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import { overrideAnswer } from '../concerns/operators.ts';
import { defined } from '../defined.ts';
import type { Order, Reply, Taken } from '../order.ts';
import { actionNumbered, portalAnswer, portalFailure } from '../portal/portal-records.ts';
import { currentAttempt } from '../record.ts';
import { attemptSummary, isUnderWay, transactionOf } from '../transactions.ts';

/** @returns the reply to an accepted request, or undefined: its caller still waits */
export function replyTo(order: Order, taken: Taken): Reply | undefined {
  const { state } = order;
  if ('attempt' in taken) {
    const answer = answerNow(state, taken.attempt);
    return answer && { checkout: answer };
  }
  if ('action' in taken) {
    const record = actionNumbered(state, taken.action);
    if (isUnderWay(record) && taken.until > order.now) return undefined;
    const isDone = taken.withdraws === true && record.status === 'withdrawn';
    const refusal = isDone ? undefined : portalFailure(record);
    return refusal === undefined ? { portal: portalAnswer(state, record) } : { refusal };
  }
  return 'overridden' in taken ? { override: overrideAnswer(order, taken.overridden) } : taken;
}

/** @returns the current answer to the checkout of an attempt, by default the newest, without insights */
export function checkoutAnswer(state: OrderState, attempt: Attempt = currentAttempt(state)): CheckoutAnswer {
  const { message, wouldBe, reason } = attempt === currentAttempt(state) ? state : {};
  const { fingerprint } = attempt;
  return { ...attemptSummary(state, attempt), ...defined({ message, wouldBe, reason, fingerprint }) };
}

/**
 * Rule «pending becomes the decision»: a recorded answer never changes, except a `pending` one that wasn't declined.
 * @returns the current answer to the attempt's checkout; undefined if it has none yet
 */
export function answerNow(state: OrderState, number: number): CheckoutAnswer | undefined {
  const attempt = state.attempts.find((one) => one.number === number);
  const answer = attempt?.answer;
  if (attempt === undefined || answer === undefined) return undefined;
  const { decision = 'pending', insights, source } = attempt.readings[0] ?? {};
  if (answer.decision !== 'pending' || answer.action === 'decline') {
    return { ...answer, ...(source === 'checkout' && insights && { insights }) };
  }
  if (isUncertain(state, attempt)) {
    const { transactionId: _uncertain, ...rest } = checkoutAnswer(state, attempt);
    return { ...rest, decision: 'pending' };
  }
  return { ...checkoutAnswer(state, attempt), decision, ...(insights && { insights }) };
}

/**
 * Returns whether the attempt's transaction may be a later attempt's: a lookup by a shared invoice number found it when that attempt may
 * have sent its create. A skipped attempt sends none.
 */
function isUncertain(state: OrderState, attempt: Attempt): boolean {
  const transaction = transactionOf(state, attempt);
  if (transaction?.found !== 'lookup') return false;
  const { invoiceNumber, sentUntil } = transaction;
  return state.attempts.some(
    (other) =>
      other.number > attempt.number &&
      other.invoiceNumber === invoiceNumber &&
      other.startedAt <= sentUntil &&
      other.decision !== 'skipped',
  );
}
