import type { TransactionJson } from '../../../src/contract/messages.ts';
import { aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import type { Life } from './life.ts';

const BASE = aTransaction();

/** Kept in the card stash when an order is screened with its full card data. */
export const CARD = TEST_CARD;

/** @returns what an attempt sends: it names its attempt, so that the screening service knows what it is to decide */
export function transactionOf(
  { amount, laterAmount = amount }: Pick<Life, 'amount' | 'laterAmount'>,
  attempt: number,
): TransactionJson {
  return {
    ...BASE,
    amount: String(attempt === 1 ? amount : laterAmount),
    userFields: { attempt: String(attempt) },
  };
}
