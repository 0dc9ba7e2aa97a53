/** Reads the order's public record, the one place that knows its shape. */
import type { OrderState } from '../../src/contract/state.ts';
import { millis } from '../../src/contract/words.ts';
import { currentAttempt } from '../../src/orders/record.ts';
import { transactionOf } from '../../src/orders/transactions.ts';

export type PublicRecord = ReturnType<typeof recordOf>;

/** @returns what the judge reads of the record */
export function recordOf(state: OrderState) {
  return {
    phase: state.phase,
    decision: state.decision,
    action: state.action,
    attempts: state.attempts.length,
    /** The transaction of its newest attempt that counts. */
    newest: transactionOf(state, currentAttempt(state))?.id,
    transactions: state.transactions.map(({ id, attempt, cancelBy }) => ({
      id,
      attempt,
      cancelBy: millis(cancelBy),
    })),
    attention: state.attention.map(({ code }) => code),
    actions: state.actions.map(({ number, kind, transactionId, status }) => ({
      number,
      kind,
      transactionId,
      status,
    })),
    /** How many events it sent. */
    events: state.events.sequence,
  };
}
