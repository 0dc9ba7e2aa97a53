import type { TransactionJson } from '../../src/orders/messages.ts';
import type { Life } from './life.ts';

/** @returns what an attempt sends: it names its attempt, so that the service knows what it is to decide */
export function transactionOf({ amount }: Pick<Life, 'amount'>, attempt: number): TransactionJson {
  return { attempt, amount: String(amount), customer: { email: 'jane@example.com' } };
}
