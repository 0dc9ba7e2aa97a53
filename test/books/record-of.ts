/** Reads the order's public record, the one place that knows its shape. */
import type { ActionRecord, Attempt, AttentionCode, OrderState } from '../../src/orders/state.ts';
import { millis } from '../../src/orders/words.ts';

export interface RecordedTransaction {
  id: string;
  attempt: number;
  /** Absent: the record names no end of its window. */
  cancelBy?: number;
}

export interface PublicRecord {
  phase: OrderState['phase'];
  decision: OrderState['decision'];
  action: OrderState['action'];
  /** How many attempts it has. */
  attempts: number;
  /** The newest transaction of its newest attempt. */
  newest?: string;
  transactions: RecordedTransaction[];
  attention: AttentionCode[];
  actions: Pick<ActionRecord, 'number' | 'kind' | 'transactionId' | 'status' | 'by'>[];
  /** How many events it sent. */
  events: number;
}

/** @returns what the judge needs of the record */
export function recordOf(state: OrderState): PublicRecord {
  const newest = state.attempts.at(-1)?.transactionId;
  return {
    phase: state.phase,
    decision: state.decision,
    action: state.action,
    attempts: state.attempts.length,
    ...(newest !== undefined && { newest }),
    transactions: state.attempts.flatMap(transactionsOf),
    attention: state.attention.map(({ code }) => code),
    actions: state.actions,
    events: state.events.sequence,
  };
}

function transactionsOf(attempt: Attempt): RecordedTransaction[] {
  const { number, transactionId, transactionIds, cancelBy, earlierWindows } = attempt;
  return transactionIds.map((id) => {
    const end = id === transactionId ? cancelBy : earlierWindows?.[id];
    return { id, attempt: number, ...(end !== undefined && { cancelBy: millis(end) }) };
  });
}
