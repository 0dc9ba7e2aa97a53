/** The screening service as the bench calls it. */

export const SANDBOX_KEY = 'sandbox-test-key';

/** @returns the smallest create-transaction request of an order */
export function bareCreate(orderId: string, transaction: Record<string, unknown>): Record<string, unknown> {
  return { 'nf-token': SANDBOX_KEY, ...transaction, order: { invoiceNumber: orderId } };
}
