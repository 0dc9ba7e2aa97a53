/** The search attributes that an order shows. Design section 8: no personal data among them. */
import type { SearchAttributePair } from '@temporalio/common';
import { currentAttempt } from './new-order.ts';
import type { Order } from './order.ts';
import {
  cancelBy,
  invoiceNumber,
  needsAttention,
  orderAmount,
  screeningAction,
  screeningDecision,
  screeningIntegration,
  screeningPhase,
  screeningRules,
  transactionId,
} from './search-attributes.ts';
import { millis } from './words.ts';

/** @returns all search attributes of the order as it stands; `amount` undefined when the transaction names none */
export function searchAttributesOf(
  { state: order, rules }: Pick<Order, 'state' | 'rules'>,
  amount: number | undefined,
): SearchAttributePair[] {
  const attempt = currentAttempt(order);
  const invoices = order.attempts.flatMap((one) => one.invoiceNumber ?? []);
  const transactions = order.attempts.flatMap((one) => one.transactionIds);
  return [
    { key: screeningPhase, value: order.phase },
    { key: screeningDecision, value: order.decision },
    { key: screeningAction, value: order.action },
    { key: screeningIntegration, value: order.integration },
    { key: needsAttention, value: order.attention.length > 0 },
    ...(invoices.length > 0 ? [{ key: invoiceNumber, value: [...new Set(invoices)] }] : []),
    ...(transactions.length > 0 ? [{ key: transactionId, value: transactions }] : []),
    ...(attempt.cancelBy !== undefined ? [{ key: cancelBy, value: new Date(millis(attempt.cancelBy)) }] : []),
    ...(amount !== undefined ? [{ key: orderAmount, value: amount }] : []),
    ...(rules > 0 ? [{ key: screeningRules, value: rules }] : []),
  ];
}
