/** One life, as it was planned: all that is drawn by chance is in here, or depends on the seed and a count alone. */
import type { TransactionJson } from '../../../src/contract/messages.ts';
import type { Policy } from '../../../src/contract/policy.ts';
import type { Decision } from '../../../src/contract/words.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import type { Adopted } from './adopted-lives.ts';
import type { Happening } from './happenings.ts';
import type { IntegrationName } from './policies.ts';

const TRANSACTION = aTransaction();

export interface Life {
  seed: number;
  integration: IntegrationName;
  policy: Policy;
  checkoutBudgetMs: number;
  amount: number;
  /** What attempts after the first are about, where that is another amount. */
  laterAmount?: number;
  /** What the service decides, by attempt, and of an attempt by create. */
  wishes: Decision[][];
  /** A plain start; an update with the start; or in the process of a worker, which answers before the record. */
  start: 'plain' | 'update' | 'fast';
  /** Until when the caller waits, in milliseconds after the start. */
  answerByMs?: number;
  card: boolean;
  /** The order is adopted, and not screened. */
  adopted?: Adopted;
  happenings: Happening[];
}

/** When every life begins: 10:00 on a day in March. */
export const START = Date.parse('2026-03-02T10:00:00.000Z');

/** @returns what an attempt sends: it names its attempt, so that the screening service knows what it is to decide */
export function transactionOf(
  { amount, laterAmount = amount }: Pick<Life, 'amount' | 'laterAmount'>,
  attempt: number,
): TransactionJson {
  const sent = String(attempt === 1 ? amount : laterAmount);
  return { ...TRANSACTION, amount: sent, userFields: { attempt: String(attempt) } };
}
