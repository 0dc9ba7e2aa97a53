/** Shows an order to ops: search attributes, one upsert for all that changed, the words, and metrics. */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { describe } from '../orders/describe.ts';
import { currentAttempt } from '../orders/new-order.ts';
import type { Order } from '../orders/order.ts';
import { searchAttributesOf } from '../orders/visibility.ts';
import { OrderMetrics } from './order-metrics.ts';

export class Show {
  readonly #metrics: OrderMetrics;
  readonly #shown = new Map<string, string>();

  /** @param order as it begins, or as it continues as new */
  constructor(order: Order) {
    this.#metrics = new OrderMetrics(order.state);
  }

  /** Shows what changed since the last call. */
  changes(order: Order): void {
    const changed = searchAttributesOf(order, amountOf(order)).filter(({ key, value }) => {
      const text = JSON.stringify(value);
      if (this.#shown.get(key.name) === text) return false;
      this.#shown.set(key.name, text);
      return true;
    });
    if (changed.length > 0) upsertSearchAttributes(changed);
    setCurrentDetails(describe(order));
    this.#metrics.note(order.state);
  }
}

function amountOf({ state, transactions }: Order): number | undefined {
  const { amount } = transactions[currentAttempt(state).number] ?? {};
  return amount === undefined || !Number.isFinite(Number(amount)) ? undefined : Number(amount);
}
