/** The screening service as everything here calls it. */

export const SANDBOX_KEY = 'sandbox-test-key';

/** @returns the body of a create-transaction request with nothing done to it */
export function bareCreate(orderId: string, transaction: Record<string, unknown>): Record<string, unknown> {
  return { 'nf-token': SANDBOX_KEY, ...transaction, order: { invoiceNumber: orderId } };
}
