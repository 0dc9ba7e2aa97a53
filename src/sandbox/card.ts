/** Validates the card of a transaction. */
import { z } from 'zod';
import type { Mode } from './model.ts';
import { texts } from './spelling.ts';

/** Numbers that payment gateways publish for tests. */
export const TEST_CARDS = new Set(
  // Visa
  (
    '4111111111111111 4242424242424242 4012888888881881 4222222222222 4000056655665556 4000000000000002 ' +
    '4000000000000069 4000000000000119 4000000000000127 4000000000009995 4000000000000077 4000000000000341 ' +
    '4007000000027 4012888818888 4009348888881881 4012000033330026 4012000077777777 4217651111111119 ' +
    '4500600000000061 4000111111111115 4988438843884305 4166676667666746 4646464646464644 4444333322221111 ' +
    '4917610000000000 4462030000000000 4484070000000000 4917300800000000 ' +
    // Mastercard
    '5555555555554444 5105105105105100 5424000000000015 5454545454545454 5200828282828210 5577000055770004 ' +
    '5136333333333335 5555341244441115 2223000010309703 2223000010309711 2223003122003222 2223000048400011 ' +
    '2222400070000005 ' +
    // American Express
    '370000000000002 378282246310005 371449635398431 378734493671000 374251018720018 343434343434343 ' +
    // Discover
    '6011000000000012 6011111111111117 6011000990139424 6011981111111113 6011601160116611 6011000400000000 ' +
    // JCB and Diners Club
    '3088000000000017 3530111333300000 3566002020360505 3569990010095841 3528000700000000 30569309025904 ' +
    '38520000023237 38000000000006 3056930009020004 36227206271667 36259600000004 36700102000000 ' +
    // UnionPay, Maestro and Dankort
    '6555900000604105 6200000000000005 6304000000000000 6759649826438453 5019717010103742'
  ).split(' '),
);

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
