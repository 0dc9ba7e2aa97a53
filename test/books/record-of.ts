/** Reads the order's public record, the one place that knows its shape. */
import type { OrderState } from '../../src/contract/order/state.ts';
import { millis } from '../../src/contract/words.ts';
import { currentAttempt, numberBeforeEvents } from '../../src/order/record.ts';
import { transactionOf } from '../../src/order/transactions.ts';

export type PublicRecord = ReturnType<typeof recordOf>;

/** @returns what the judge needs of the record */
export function recordOf(state: OrderState) {
  const { phase, decision, action, endedAt, attempts, transactions } = state;
  const newest = transactionOf(state, currentAttempt(state))?.id;
  return {
    phase,
    decision,
    action,
    /** No record keeps what is reported after it ended. */
    ...(endedAt !== undefined && { endedAt: millis(endedAt) }),
    attempts: attempts.length,
    /** The transaction of its newest attempt that counts. */
    ...(newest !== undefined && { newest }),
    transactions: transactions.map(({ id, attempt, cancelBy }) => ({
      id,
      attempt,
      cancelBy: millis(cancelBy),
    })),
    attention: state.attention.map(({ code }) => code),
    /** The attempts that attention to a gateway result names. */
    gatewayMatters: state.attention.map(({ code, cause: { attempt } }) => `${code}:${attempt}`),
    /** The transactions for which it gave a gateway result up. */
    resultsNotSent: state.attention.flatMap(({ code, cause }) =>
      code === 'gateway-not-sent' && cause.transactionId !== undefined ? [cause.transactionId] : [],
    ),
    actions: state.actions.map(({ number, kind, transactionId, status }) => ({
      number,
      kind,
      transactionId,
      status,
    })),
    /** The numbers before its first event, and of its last one. */
    eventsBefore: numberBeforeEvents(state),
    events: state.events.sequence,
  };
}
