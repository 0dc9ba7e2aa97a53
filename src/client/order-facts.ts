import type { OrderFacts } from '../orders/rules.ts';
import type { Transaction } from '../screening/index.ts';

/** @returns what policy rules look at; USD when no currency is named (interface document, "Transaction") */
export function orderFacts(transaction: Transaction): OrderFacts {
  return {
    amount: Number(transaction.amount),
    currency: (transaction.currency_code ?? 'USD').toUpperCase(),
    paymentMethod: transaction.payment.method,
    customerId: transaction.customer.id,
    itemCategories: (transaction.lineItems ?? []).flatMap(({ category }) => category ?? []),
  };
}
