/** What the load consists of. */
import { randomBytes } from 'node:crypto';
import { aTransaction, withEmail } from '../test/fixtures/transactions.ts';

export interface BenchOrder {
  orderId: string;
  transaction: Record<string, unknown>;
}

/** Ids of two runs on one server never meet. */
const run = randomBytes(4).toString('hex');
let made = 0;

/** @returns a new order that the sandbox decides so */
export function anOrder(decision: 'pass' | 'review' | 'fail' | 'fraudulent' | 'error' = 'pass'): BenchOrder {
  made += 1;
  const transaction = withEmail(`${decision}@example.com`, aTransaction());
  return { orderId: `bench-${run}-${made}`, transaction: { ...transaction } };
}
