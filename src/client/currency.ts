/** An order's currency, which is stored only in the summary that its workflow was started with. */
import { orderWorkflowId } from '../contract/ids.ts';
import type { OrderSummary } from '../contract/order.ts';
import { decoded } from './decode.ts';
import { type DescribedOrder, describeOrder } from './describe-order.ts';
import { inBatches } from './in-batches.ts';
import type { ClientContext } from './types.ts';

/** Temporal's limit of a static summary, in bytes. */
const SUMMARY_BYTES = 200;

/** One line for lists in the Temporal UI, without personal data. */
export function startSummary(
  orderId: string,
  workflow: string,
  { amount, currency }: { amount: number; currency: string },
): string {
  // Amount and currency of an order that policy skips are unchecked.
  const money = Number.isFinite(amount) && /^[A-Z]{3}$/.test(currency) ? `${amount} ${currency}, ` : '';
  const line = `Order ${orderId}, ${money}${workflow}`;
  // Only the order id may have multi-byte characters, and it is well before the cut.
  return Buffer.from(line).subarray(0, SUMMARY_BYTES).toString('utf8');
}

/** @returns the currency in a summary; undefined if there is none, such as for an adopted order */
export function currencyIn(summary: unknown): string | undefined {
  return /, [\d.e+]+ ([A-Z]{3}), [a-z-]*$/.exec(String(summary))?.[1];
}

/** Returns the currency of a described order. An unreadable summary has none. */
export async function currencyOf(
  context: Pick<ClientContext, 'client'>,
  { workflowId, raw }: DescribedOrder,
): Promise<string | undefined> {
  const payload = raw.executionConfig?.userMetadata?.summary;
  if (!payload) return undefined;
  const summary = await decoded(context, workflowId, payload).catch(() => undefined);
  return currencyIn(summary);
}

/** Orders whose currency is kept, and the maximum that one list looks up: the next list has the others. */
const MOST_KEPT = 10_000;
const MOST_ASKED = 100;

/** Finds the currencies of a list's orders. They never change, so each order is described once per process. */
export class Currencies {
  readonly #context: Pick<ClientContext, 'client'>;
  readonly #known = new Map<string, string | undefined>();

  constructor(context: Pick<ClientContext, 'client'>) {
    this.#context = context;
  }

  /** Adds the currencies to a list's orders. Temporal's errors leave them out. */
  async add<Order extends { summary: OrderSummary; currency?: string }>(
    orders: readonly Order[],
  ): Promise<Order[]> {
    const missing = orders.filter(
      ({ summary }) => summary.amount !== undefined && !this.#known.has(keyOf(summary)),
    );
    await inBatches(missing.slice(0, MOST_ASKED), ({ summary }) => this.#look(summary));
    return orders.map((order) => {
      const currency = this.#known.get(keyOf(order.summary));
      return currency === undefined ? order : { ...order, currency };
    });
  }

  async #look(summary: OrderSummary): Promise<void> {
    try {
      const order = await describeOrder(this.#context, orderWorkflowId(summary.integration, summary.orderId));
      if (order === undefined) return;
      this.#known.set(keyOf(summary), await currencyOf(this.#context, order));
    } catch {
      return;
    }
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > MOST_KEPT) this.#known.delete(oldest);
  }
}

/** An order id can be used again after its order was deleted. */
function keyOf({ integration, orderId, startedAt }: OrderSummary): string {
  return `${integration}/${startedAt}/${orderId}`;
}
