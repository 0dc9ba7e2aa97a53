import type { TransactionJson } from '../../src/orders/messages.ts';
import type { Life } from './life.ts';

/** @returns what an attempt sends: it names its attempt, so that the service knows what it is to decide */
export function transactionOf(
  { amount, laterAmount }: Pick<Life, 'amount' | 'laterAmount'>,
  attempt: number,
): TransactionJson {
  return {
    attempt,
    amount: String(attempt === 1 ? amount : (laterAmount ?? amount)),
    customer: { email: 'jane@example.com' },
  };
}
