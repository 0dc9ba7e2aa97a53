/** The orders of the load, and the screening service's request for them. */
import { randomBytes } from 'node:crypto';
import { aTransaction, withEmail } from '../test/fixtures/transactions.ts';

export const SANDBOX_KEY = 'sandbox-test-key';

export interface BenchOrder {
  orderId: string;
  transaction: Record<string, unknown>;
}

/** Keeps the ids of two runs on one server apart. */
const run = randomBytes(4).toString('hex');
let made = 0;

/** @returns a new order for which the sandbox returns this decision */
export function anOrder(decision: 'pass' | 'review' | 'fail' | 'fraudulent' = 'pass'): BenchOrder {
  made += 1;
  const transaction = withEmail(`${decision}@example.com`, aTransaction());
  return { orderId: `bench-${run}-${made}`, transaction: { ...transaction } };
}

/** @returns the smallest create-transaction request of an order */
export function bareCreate({ orderId, transaction }: BenchOrder): Record<string, unknown> {
  return { 'nf-token': SANDBOX_KEY, ...transaction, order: { invoiceNumber: orderId } };
}
