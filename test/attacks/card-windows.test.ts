/** Card numbers in every disguise next to other numbers, and ids and phone numbers in fields of their own. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cardDataIn } from '../../src/card-data/card-data.ts';
import { holdsCardNumber } from '../../src/card-data/card-numbers.ts';
import { cardNumber, disguised } from './card-disguises.ts';
import { KINDS } from './lookalikes.ts';

/** As many as each rate is measured with. */
const SAMPLES = 20_000;

const beside = fc.oneof(fc.constant(''), fc.integer({ min: 1_000, max: 9_999 }).map(String), fc.constant('2028'));
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
    [...number].map((digit) => String.fromCodePoint(digit === '0' ? 0x24ff : 0x2775 + Number(digit))).join(''),
  ),
  'in Chinese digits': cardNumber.map((number) => [...number].map((digit) => '〇一二三四五六七八九'[Number(digit)]).join('')),
};

describe('no card number is missed', () => {
  it.each(Object.entries(CONTEXTS))('%s', (_name, texts) => {
    fc.assert(fc.property(texts, (text) => holdsCardNumber(text)), { numRuns: SAMPLES });
  });

  test.each([
    'caller of order 1001 4111 1111 1111 1111 confirmed',
    '4222222222222',
    'RuPay 6521 1111 1111 1117',
    'RuPay 8172 1111 1111 1113',
    'Troy 9792 0303 9444 0796',
    '5018 0000 0009',
  ])('%s', (text) => {
    expect(cardDataIn({ reason: text })).toEqual(['reason']);
  });

  it('in a list of its groups, and in fields of card codes', () => {
    expect(cardDataIn({ a: ['4111', '1111', '1111', '1111'], b: [3782, 822463, 10005] })).toEqual(['a', 'b']);
    const codes = ['cvc2', 'cvn', 'card_cvc', 'card-cvv2', 'cid', 'CSC', 'cardVerificationValue'];
    for (const name of codes) expect(cardDataIn({ [name]: '123' })).toEqual([name]);
  });
});

/** The field of each kind, and the greatest share that may be refused there. */
const FIELDS: Record<string, readonly [field: string, most: number]> = {
  'phone numbers with country code': ['phoneNumber', 0],
  'IMEIs, 15 digits': ['imei', 0],
  'tracking numbers of UPS': ['carrier_tracking_number', 0],
  UUIDs: ['id', 0],
  'IBANs, coordinates, decimals': ['reference', 0],
  'EAN and GTIN, 8, 13 or 14 digits': ['sku', 0],
  'tracking numbers of FedEx, 12, 15 or 20 digits': ['trackingNumber', 0.01],
  'tracking numbers of USPS, 20 or 22 digits': ['trackingNumber', 0.01],
  'tracking numbers of DHL, 10 or 20 digits': ['trackingNumber', 0.01],
  'order ids of 8 to 15 digits': ['orderId', 0.01],
};
const digits = (length: number) => Array.from({ length }, () => Math.floor(Math.random() * 10)).join('');
const one = <T>(of: readonly T[]) => of[Math.floor(Math.random() * of.length)];
const two = (value: number) => String(value).padStart(2, '0');
const SHOPS: Record<string, () => string> = {
  Amazon: () => `${one(['026', '112', '171', '202', '303', '404', '701'])}-${digits(7)}-${digits(7)}`,
  Shopify: () => one([`#${digits(4)}`, `${one([4, 5, 6])}${digits(12)}`, `82${digits(16)}`]) ?? '',
  Magento: () => one([`1000${digits(5)}`, `2${digits(8)}`]) ?? '',
  WooCommerce: () => digits(5),
  eBay: () => `${digits(2)}-${digits(5)}-${digits(5)}`,
  'GS1 (SSCC)': () => `3${digits(17)}`,
  'a time and four digits': () =>
    `${two(20 + Math.floor(Math.random() * 10))}${two(1 + Math.floor(Math.random() * 12))}${two(1 + Math.floor(Math.random() * 28))}` +
    `${two(Math.floor(Math.random() * 24))}${two(Math.floor(Math.random() * 60))}${two(Math.floor(Math.random() * 60))}${digits(4)}`,
};

function refusedShare(field: string, make: () => string): number {
  let refused = 0;
  for (let at = 0; at < SAMPLES; at += 1) if (cardDataIn({ [field]: make() }).length > 0) refused += 1;
  return refused / SAMPLES;
}

describe('few ids and phone numbers are refused in their own fields', () => {
  it.each(Object.entries(SHOPS))('order ids of %s', (_shop, make) => {
    expect(refusedShare('orderId', make)).toBeLessThan(0.01);
  });

  it.each(Object.entries(FIELDS))('%s', (kind, [field, most]) => {
    const random = KINDS[kind];
    if (random === undefined) throw new Error(kind);
    const share = refusedShare(field, () => random.make(DICE));
    if (most === 0) expect(share).toBe(0);
    else expect(share).toBeLessThan(most);
  });
});
