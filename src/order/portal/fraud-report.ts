/** Decisions that follow a fraud report of a caller. The order may have shipped before the report. */
import type { OrderState } from '../../contract/order/state.ts';
import type { Decision } from '../../contract/words.ts';
import { currentAttempt } from '../record.ts';
import { transactionOf } from '../transactions.ts';

const SENT = ['running', 'done', 'unconfirmed'];

/**
 * Returns whether the order could ship before a caller reported its transaction as fraud: it had passed, and did not wait for the payment
 * gateway. The policy `cancelAfterReport: never` then leaves the action to a person.
 */
export function keepsActionAfterReport(state: OrderState): boolean {
  if (state.policy.cancelAfterReport === 'always' || state.phase === 'awaiting-gateway') return false;
  const attempt = currentAttempt(state);
  const transactionId = transactionOf(state, attempt)?.id;
  return state.actions.some(
    (one) =>
      one.kind === 'report-fraud' &&
      one.transactionId === transactionId &&
      SENT.includes(one.status) &&
      attempt.readings.findLast(({ at }) => at <= one.requestedAt)?.decision === 'pass',
  );
}

export function confirmedWords(read: Decision): string {
  return `The screening service’s decision is «${read}» after the fraud report. The order is not canceled automatically: cancel it, unless it has shipped.`;
}
