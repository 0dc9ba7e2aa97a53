/** What readers see of an order: search attributes, the record in the memo, the details in the Temporal UI, and metrics. */
import {
  metricMeter,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrderState } from '../contract/state.ts';
import { recordOf } from '../orders/bounded-record.ts';
import { describe, searchAttributesOf } from '../orders/describe.ts';
import { counterOf } from '../orders/metrics.ts';
import type { Order } from '../orders/order.ts';
import { memoOf, WrittenMemo } from '../orders/order-memo.ts';
import { currentAttempt } from '../orders/record.ts';

export class Show {
  readonly #metrics: OrderMetrics;
  readonly #shown = new Map<string, string>();
  readonly #memo = new WrittenMemo();

  /** @param order as it begins, or as it continues as new: then the previous run has written its memo */
  constructor(order: Order) {
    this.#metrics = new OrderMetrics(order.state);
    if (workflowInfo().continuedFromExecutionRunId !== undefined) this.#memo.isNews(recordOf(order.state));
  }

  /** Shows what changed since the last call. */
  changes(order: Order): void {
    const changed = searchAttributesOf(order).filter(({ key, value }) => {
      const text = JSON.stringify(value);
      if (this.#shown.get(key.name) === text) return false;
      this.#shown.set(key.name, text);
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    const record = recordOf(order.state);
    if (this.#memo.isNews(record)) upsertMemo(memoOf(record));
    setCurrentDetails(describe(order));
    this.#metrics.note(order.state);
  }
}

// Counts what becomes of an order. A metric is no command: it leaves no trace in the history, and a replay
// counts nothing.

// Made when they are needed: while a module is loaded there is no workflow yet.
const decisions = () => counterOf(metricMeter, 'order_screening_decisions_total');
const attention = () => counterOf(metricMeter, 'order_screening_attention_total');

class OrderMetrics {
  #decision: OrderState['decision'];
  #raised: readonly string[];

  /** @param state as the order begins, or continues as new: what it has is counted already */
  constructor(state: OrderState) {
    this.#decision = state.decision;
    this.#raised = codes(state);
  }

  /** Counts what is new since the last call. */
  note(state: OrderState): void {
    const { integration, decision } = state;
    if (decision !== this.#decision) {
      const source = currentAttempt(state).readings.at(-1)?.source ?? 'checkout';
      if (decision !== 'pending') decisions().add(1, { integration, decision, source });
      this.#decision = decision;
    }
    for (const reason of codes(state)) {
      if (!this.#raised.includes(reason)) attention().add(1, { integration, reason });
    }
    this.#raised = codes(state);
  }
}

function codes(state: OrderState): string[] {
  return state.attention.map(({ code }) => code);
}
