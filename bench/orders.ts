/** The orders of the load. */
import { randomBytes } from 'node:crypto';
import { aTransaction, withEmail } from '../test/fixtures/transactions.ts';

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
