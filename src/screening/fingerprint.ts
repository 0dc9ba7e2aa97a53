import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { CardData, Transaction } from './transaction-schema.ts';

/**
 * SHA-256 in hex of a canonical request: what makes the same attempt the same. The order of keys doesn't matter. Of
 * card data only the number's first six and last four digits count, so the result is one and the same with the card at
 * hand and without it, once `parseTransaction` has put those digits into the transaction.
 */
export function fingerprint(transaction: Transaction, card?: CardData): string {
  const { creditCard } = transaction.payment;
  const bin = creditCard.bin ?? card?.cardNumber;
  const last4 = creditCard.last4 ?? card?.cardNumber.slice(-4);
  const reduced = { ...creditCard, bin: bin?.slice(0, 6), last4 };
  const request = { ...transaction, payment: { ...transaction.payment, creditCard: reduced } };
  return createHash('sha256').update(stringify(request)).digest('hex');
}
