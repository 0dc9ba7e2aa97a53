/** Card numbers that nobody gave out, and the disguises in which they come. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { withCheckDigit } from './lookalikes.ts';

/** How a brand's numbers begin, and how many digits they have. */
const BRANDS: readonly [begins: readonly string[], length: number][] = [
  [['4'], 16],
  [['4'], 19],
  [['51', '52', '53', '54', '55', '2221', '2400', '2720'], 16],
  [['34', '37'], 15],
  [['300', '305', '36', '38', '39'], 14],
  [['6011', '644', '649', '65', '3528', '3589', '62', '50', '56', '67', '69'], 16],
  [['6011', '65', '3528', '62', '50', '63'], 19],
];

/** Brands and lengths that only free text is searched for, and those of few countries. */
const RARE: typeof BRANDS = [
  [['4', '5018', '67'], 13],
  [['50', '58', '6304', '67'], 12],
  [['6759', '62'], 18],
  [['60', '65', '81', '82', '508'], 16],
  [['9792', '2200', '2204', '5061'], 16],
];

const numbersOf = (brands: typeof BRANDS): fc.Arbitrary<string> =>
  fc
    .constantFrom(...brands)
    .chain(([begins, length]) =>
      fc
        .tuple(fc.constantFrom(...begins), fc.stringMatching(new RegExp(`^\\d{${length}}$`)))
        .map(([begin, rest]) => withCheckDigit(`${begin}${rest}`.slice(0, length - 1))),
    );
/** A number of a brand, digits and nothing else. */
export const cardNumber = numbersOf(BRANDS);
/** One of any brand, as free text may have it. */
export const anyCardNumber = numbersOf([...BRANDS, ...RARE]);

/** Zeros of scripts: Arabic, Devanagari, Thai, full width, Bengali, mathematical, Adlam, NKo, Khmer. */
const ZEROS = [0x660, 0x966, 0xe50, 0xff10, 0x9e6, 0x1d7ce, 0x1d7f6, 0x1e950, 0x7c0, 0x17e0, 0x30];
const OF_ONE_NUMBER = [
  ...[' ', '-', '.', '/', '_', '\t', '\n', '\\', '·', '•', '・', "'", '⁄', '−', ' - ', '. '],
  ...['\u00a0', '\u00ad', '\u2003', '\u2009', '\u200b', '\u200d', '\u2010', '\u2011', '\u2013', '\u2014'],
  ...['\u2028', '\u202e', '\u2060', '\u3000', '\u3164', '\ufe0f', '\ufeff', '\u0301', '\u20e3', '\u2800'],
];
const ANY_SIGNS = [...OF_ONE_NUMBER, ',', ', ', ':', ';', '|', '*', '+', '#', ' ~ ', ') ('];
const ENCODED_SIGNS = ['%20', '%22', '%2D', '%2d', '%C2%A0', '%2520', '%FF', '%3D', '+'];
const EXPIRIES = ['12/28', '1/28', '12/2028', '1228', '122028', '12-28', '12 2028', '2028-12'];

function inScript(digits: string, zeros: readonly number[]): string {
  return [...digits]
    .map((digit, index) => String.fromCodePoint((zeros[index % zeros.length] ?? 0x30) + Number(digit)))
    .join('');
}

/** In fours, or as American Express and Diners Club print them. */
function asPrinted(digits: string): string[] {
  const groups =
    digits.length === 14 || digits.length === 15
      ? /^(.{4})(.{6})(.+)$/.exec(digits)?.slice(1)
      : digits.match(/.{1,4}/g);
  return [...(groups ?? [digits])];
}

const scripts = fc.oneof(
  fc.constant([0x30]),
  fc.constantFrom(...ZEROS).map((zero) => [zero]),
  fc.shuffledSubarray(ZEROS, { minLength: 2 }),
);

/** Cut anywhere, with one separator or several. */
const cutAnywhere = (digits: string) =>
  fc
    .array(fc.option(fc.constantFrom(...OF_ONE_NUMBER)), {
      minLength: digits.length,
      maxLength: digits.length,
    })
    .map((signs) =>
      [...digits].map((digit, index) => `${index > 0 ? (signs[index] ?? '') : ''}${digit}`).join(''),
    );

const withSigns = (digits: string) =>
  fc.constantFrom(...ANY_SIGNS).map((sign) => asPrinted(digits).join(sign));

/** In an address, with what is encoded in it around the number and between its groups. */
export const inAnAddress = (digits: string) =>
  fc
    .tuple(...Array.from({ length: 3 }, () => fc.constantFrom(...ENCODED_SIGNS)))
    .map(([before, between, after]) => {
      const number = asPrinted(digits).join(between);
      return `https://shop.example/s?a=100%25&q=card${before}${number}${after}x`;
    });

const behind = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom(' ', '  ', '/', '-', '\u2003', '_'), fc.constantFrom(...EXPIRIES))
    .map((two) => two.join('')),
);

/** A text with a card number in it that a person could read. */
export const disguisedOf = (digits: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.oneof(fc.constant(digits), cutAnywhere(digits), withSigns(digits)),
      behind,
      scripts,
      fc.constantFrom('', 'card ', 'no:', 'Zahlung mit ', '('),
      fc.constantFrom('', ' please', 'x', ')', ', thanks'),
    )
    .map(([text, expiry, zeros, before, after]) => {
      const digitsOf = (part: string) => part.replace(/[0-9]+/g, (run) => inScript(run, zeros));
      return `${before}${digitsOf(`${text}${expiry}`)}${after}`;
    });
export const disguised = fc.oneof(
  { weight: 4, arbitrary: cardNumber.chain(disguisedOf) },
  cardNumber.chain(inAnAddress),
);

/** One that fits into ASCII, as headers have it. */
export const disguisedInAscii: fc.Arbitrary<string> = fc
  .tuple(cardNumber, fc.constantFrom('', '-', '.', '/', '_', ',', ':'), fc.constantFrom('', 'cancel-', 'k:'))
  .map(([digits, sign, before]) => `${before}${asPrinted(digits).join(sign)}`);

/** What a value may be: a text, a number as far as JSON has it, something deeper with a key or a value. */
export const planted: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: disguised },
  cardNumber.map(Number),
  disguised.map((text) => ({ [text]: 'x' })),
  disguised.map((text) => [{ note: ['x', text] }]),
);

// Where card data is planted, and what of it must not come back.

export const REFUSED = 'card-data-in-request';
/** An id that is a card number by all its digits. */
export const CARD_LIKE_ID = '4111111111111111';

export const card = { creditCard: { ...TEST_CARD } };
/** With places of every kind. */
export const order = aTransaction({
  order: { invoiceNumber: '7' },
  userFields: { a: { b: ['c'] } },
  gatewayName: 'a1',
});

/**
 * @returns every place of a value, and new ones: the whole value, each field and item, and a field more in each object; without phone
 * numbers, which a short card number may be
 */
export function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside = Object.entries(value)
    .filter(([name]) => name !== 'phoneNumber')
    .flatMap(([name, inner]) => placesOf(inner, [...path, name]));
  return [
    ...(path.length > 0 ? [path] : []),
    ...inside,
    ...(Array.isArray(value) ? [] : [[...path, 'more']]),
  ];
}

export function planting(value: unknown, [name, ...rest]: readonly string[], plant: unknown): unknown {
  if (name === undefined) return plant;
  if (Array.isArray(value))
    return value.map((item, index) => (`${index}` === name ? planting(item, rest, plant) : item));
  return { ...Object(value), [name]: planting(Object(value)[name], rest, plant) };
}

/** The digits of a plant must not stand in what is shown. */
export function expectNothingOf(plant: unknown, shown: string): void {
  const digits = JSON.stringify(plant).normalize('NFKC').replace(/\D/g, '');
  if (digits.length >= 14) expect(shown.replace(/\D/g, '')).not.toContain(digits.slice(0, 14));
}
