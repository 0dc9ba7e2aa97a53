/** Validates the card of a transaction. */
import { z } from 'zod';
import { TEST_CARDS } from '../card-data/test-cards.ts';
import type { Mode } from './model.ts';
import { texts } from './spelling.ts';

export const creditCard = z.looseObject({
  bin: z.string().optional(),
  ...texts('cardType'),
  last4: z
    .string()
    .regex(/^\d{4}$/)
    .optional(),
  cardNumber: z.string().refine(isCardNumber, 'must be a valid card number').optional(),
  expirationDate: z.string().optional(),
  cardCode: z
    .string()
    .regex(/^\d{3,4}$/)
    .optional(),
});

/** Errors of the card: its expiry, and its number by the key's mode (test keys accept test cards only, live keys real ones only). */
export function cardErrors(card: z.infer<typeof creditCard> | undefined, mode: Mode, now: Date): string[] {
  const errors: string[] = [];
  if (card?.expirationDate !== undefined && !isUnexpired(card.expirationDate, now)) {
    errors.push('payment.creditCard.expirationDate: must be a valid, unexpired date');
  }
  if (card?.cardNumber === undefined) return errors;
  const { cardNumber, bin = '', last4 = '' } = card;
  if (!cardNumber.startsWith(bin)) errors.push('payment.creditCard.bin: must match the card number');
  if (!cardNumber.endsWith(last4)) errors.push('payment.creditCard.last4: must match the card number');
  const isTestCard = TEST_CARDS.has(cardNumber);
  if (mode === 'test' && !isTestCard) errors.push('Real card numbers are not accepted with a test key.');
  if (mode === 'live' && isTestCard) errors.push('Test card numbers are not accepted with a live key.');
  return errors;
}

function isUnexpired(expirationDate: string, now: Date): boolean {
  const found = /^(0[1-9]|1[0-2])(?:[-/]?(\d{2})|[-/](\d{4}))$/.exec(expirationDate);
  if (!found) return false;
  const year = Number(found[3] ?? `20${found[2]}`);
  // A card is valid until its month has ended in every time zone.
  return now.getTime() < Date.UTC(year, Number(found[1]), 1, 12);
}

function isCardNumber(value: string): boolean {
  if (!/^\d{12,19}$/.test(value)) return false;
  const digits = [...value].reverse().map(Number);
  const sum = digits.reduce((total, digit, index) => {
    const counted = index % 2 === 0 ? digit : digit * 2;
    return total + (counted > 9 ? counted - 9 : counted);
  }, 0);
  return sum % 10 === 0;
}
