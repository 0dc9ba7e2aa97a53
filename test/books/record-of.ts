/** Reads the order's public record, the one place that knows its shape. */
import type { ActionRecord, OrderState } from '../../src/contract/order/state.ts';
import { type AttentionCode, millis } from '../../src/contract/words.ts';
import { currentAttempt } from '../../src/order/record.ts';
import { transactionOf } from '../../src/order/transactions.ts';

export interface RecordedTransaction {
  id: string;
  attempt: number;
  cancelBy: number;
}

export interface PublicRecord {
  phase: OrderState['phase'];
  decision: OrderState['decision'];
  action: OrderState['action'];
  /** When it ended; no record keeps what is reported later. */
  endedAt?: number;
  /** How many attempts it has. */
  attempts: number;
  /** The transaction of its newest attempt that counts. */
  newest?: string;
  transactions: RecordedTransaction[];
  attention: AttentionCode[];
  actions: Pick<ActionRecord, 'number' | 'kind' | 'transactionId' | 'status' | 'by'>[];
  /** How many events it sent. */
  events: number;
}

/** @returns what the judge needs of the record */
export function recordOf(state: OrderState): PublicRecord {
  const newest = transactionOf(state, currentAttempt(state))?.id;
  return {
    phase: state.phase,
    decision: state.decision,
    action: state.action,
    ...(state.endedAt !== undefined && { endedAt: millis(state.endedAt) }),
    attempts: state.attempts.length,
    ...(newest !== undefined && { newest }),
    transactions: state.transactions.map(({ id, attempt, cancelBy }) => ({
      id,
      attempt,
      cancelBy: millis(cancelBy),
    })),
    attention: state.attention.map(({ code }) => code),
    actions: state.actions,
    events: state.events.sequence,
  };
}
