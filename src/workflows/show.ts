/** Publishes an order: search attributes, the record in the memo, the details in the Temporal UI, and metrics. */
import {
  metricMeter,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OrderState } from '../contract/order/state.ts';
import type { Order } from '../order/order.ts';
import { currentAttempt } from '../order/record.ts';
import { recordOf } from '../order/view/bounded-record.ts';
import { describe, searchAttributesOf } from '../order/view/describe.ts';
import { counterOf } from '../order/view/metrics.ts';
import { WrittenMemo } from '../order/view/order-memo.ts';

export class Show {
  readonly #metrics: OrderMetrics;
  readonly #shown = new Map<string, string>();
  readonly #memo = new WrittenMemo();

  /** @param order at its start, or after continue-as-new: then the previous run has written its memo */
  constructor(order: Order) {
    this.#metrics = new OrderMetrics(order.state);
    if (workflowInfo().continuedFromExecutionRunId !== undefined) this.#memo.newsOf(recordOf(order.state));
  }

  /** Publishes the changes since the last call. */
  changes(order: Order): void {
    const changed = searchAttributesOf(order).filter(({ key, value }) => {
      const text = JSON.stringify(value);
      if (this.#shown.get(key.name) === text) return false;
      this.#shown.set(key.name, text);
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    const memo = this.#memo.newsOf(recordOf(order.state));
    if (memo !== undefined) upsertMemo(memo);
    setCurrentDetails(describe(order));
    this.#metrics.note(order.state);
  }
}

// Counts decisions and attention. Metrics are not commands: they are not recorded in the history, and a replay counts nothing.

// Created on demand: there is no workflow yet while the module is loaded.
const decisions = () => counterOf(metricMeter, 'order_screening_decisions_total');
const attention = () => counterOf(metricMeter, 'order_screening_attention_total');

class OrderMetrics {
  #decision: OrderState['decision'];
  #raised: readonly string[];

  /** @param state at the order's start, or after continue-as-new: its decision and attention are counted already */
  constructor(state: OrderState) {
    this.#decision = state.decision;
    this.#raised = codes(state);
  }

  /** Counts the changes since the last call. */
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
