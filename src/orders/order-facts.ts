/** What policy rules look at, read from a transaction that nobody has checked yet: skip rules come before the checks. */
import type { OrderFacts } from './rules.ts';

/** @returns the facts of a transaction in either spelling; USD when no currency is named (interface document, Transaction) */
export function orderFactsOf(transaction: unknown): OrderFacts {
  const order = record(transaction);
  const items = Array.isArray(order.lineItems) ? order.lineItems : [];
  return {
    amount: amountOf(order.amount),
    currency: (text(order.currency_code) ?? text(order.currencyCode) ?? 'USD').toUpperCase(),
    paymentMethod: text(record(order.payment).method),
    customerId: text(record(order.customer).id),
    itemCategories: items.flatMap((item) => text(record(item).category) ?? []),
  };
}

/** What is no decimal number matches no rule: JavaScript makes 0 of an empty text, and numbers of others, too. */
function amountOf(value: unknown): number {
  return typeof value === 'string' && /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
