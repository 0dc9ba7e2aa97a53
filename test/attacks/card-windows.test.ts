/** Card numbers next to other numbers, and in more disguises. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cardDataIn } from '../../src/card-data/card-data.ts';
import { holdsCardNumber } from '../../src/card-data/card-numbers.ts';
import { cardNumber, disguised } from './card-disguises.ts';

/** As many as each rate is measured with. */
const SAMPLES = 20_000;

const beside = fc.oneof(
  fc.constant(''),
  fc.integer({ min: 1_000, max: 9_999 }).map(String),
  fc.constant('2028'),
);
const CONTEXTS: Record<string, fc.Arbitrary<string>> = {
  'next to other numbers': fc
    .tuple(beside, fc.constantFrom(' ', ', ', ': ', ' no. '), disguised, fc.constantFrom(' ', ', '), beside)
    .map((parts) => parts.join('')),
  'two in a text': fc.tuple(disguised, disguised).map((two) => `caller had ${two.join(' and ')}`),
  'with an expiry glued on': fc
    .tuple(cardNumber, fc.constantFrom('1228', '122028', '2812', '202812'))
    .map(([number, expiry]) => `${number}${expiry}`),
  'with 0. in front': cardNumber.map((number) => `0.${number}`),
  'in circles': cardNumber.map((number) =>
    [...number]
      .map((digit) => String.fromCodePoint(digit === '0' ? 0x24ff : 0x2775 + Number(digit)))
      .join(''),
  ),
  'in Chinese digits': cardNumber.map((number) =>
    [...number].map((digit) => '〇一二三四五六七八九'[Number(digit)]).join(''),
  ),
};

describe('no card number is missed', () => {
  it.each(Object.entries(CONTEXTS))('%s', (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => holdsCardNumber(text)),
      { numRuns: SAMPLES },
    );
  });

  test.each([
    'caller of order 1001 4111 1111 1111 1111 confirmed',
    '4222222222222',
    'RuPay 6521 1111 1111 1110',
    'RuPay 8172 1111 1111 1118',
    'Troy 9792 0303 9444 0796',
    '5018 0000 0009',
  ])('%s', (text) => {
    expect(cardDataIn({ reason: text })).toEqual(['reason']);
  });

  it('of at least 15 digits in the field of a phone number', () => {
    const long = fc
      .tuple(cardNumber, fc.constantFrom('', ' 12/28', ' x99'))
      .filter(([digits]) => digits.length > 14);
    fc.assert(
      fc.property(long, (text) => cardDataIn({ phoneNumber: text.join('') }).length === 1),
      { numRuns: 2_000 },
    );
  });

  it('in a list of its groups, and in fields of card codes', () => {
    expect(cardDataIn({ a: ['4111', '1111', '1111', '1111'], b: [3782, 822463, 10005] })).toEqual(['a', 'b']);
    const codes = ['cvc2', 'cvn', 'card_cvc', 'card-cvv2', 'cid', 'CSC', 'cardVerificationValue'];
    for (const name of codes) expect(cardDataIn({ [name]: '123' })).toEqual([name]);
  });
});
