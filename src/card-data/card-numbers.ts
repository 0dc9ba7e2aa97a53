/**
 * Finds card numbers in a text, in any script and with any separators between the digits: every window of whole groups of digits that
 * has a brand's prefix and length, and a valid check digit. Pure, and in linear time.
 */

import { type Digits, Groups, hasDigits, LISTED, normalized } from './digit-groups.ts';

/** What a field holds. Free text is judged most strictly; ids and phone numbers often look like card numbers. */
export type Content = 'text' | 'id' | 'phone';

/** The brands by their first four digits (from, to), the lengths that are issued, and those that the standard allows (ISO/IEC 7812). */
const BRANDS: readonly (readonly [
  from: number,
  to: number,
  issued: readonly number[],
  more: readonly number[],
])[] = [
  [4000, 4999, [16, 19], [13]], // Visa
  [5100, 5599, [16], []], // Mastercard
  [2221, 2720, [16], []],
  [3400, 3499, [15], []], // American Express
  [3700, 3799, [15], []],
  [3000, 3059, [14, 16], [15, 17, 18, 19]], // Diners Club
  [3095, 3095, [14, 16], [15, 17, 18, 19]],
  [3600, 3699, [14, 16], [15, 17, 18, 19]],
  [3800, 3999, [14, 16], [15, 17, 18, 19]],
  [3088, 3094, [16], [17, 18, 19]], // JCB
  [3528, 3589, [16], [17, 18, 19]],
  [5000, 5099, [16, 19], [12, 13, 14, 15, 17, 18]], // Maestro, Verve, RuPay
  [5600, 6999, [16, 19], [12, 13, 14, 15, 17, 18]], // Maestro, Discover, UnionPay, RuPay, Verve
  [8100, 8299, [16, 19], [17, 18]], // UnionPay, RuPay
  [2200, 2204, [16], [17, 18, 19]], // Mir
  [9792, 9792, [16], []], // Troy
];
const SHORTEST = 12;
const LONGEST = 19;

/** @returns whether the last digit of a number is its valid check digit (ISO/IEC 7812) */
export function passesLuhn(digits: string): boolean {
  return checks(Uint8Array.from(digits, Number));
}

/** @returns whether digits have a brand's prefix and length, whatever their check digit */
export function beginsAsACard(digits: string, content: Content): boolean {
  return isOfABrand(Uint8Array.from(digits, Number), content);
}

function checks(digits: Digits): boolean {
  let sum = 0;
  for (let index = digits.length - 1, twice = false; index >= 0; index -= 1, twice = !twice) {
    const digit = digits[index] ?? 0;
    if (!twice) sum += digit;
    else sum += digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}

function isOfABrand(digits: Digits, content: Content): boolean {
  const brand = brandOf(digits);
  const { length } = digits;
  if (brand === undefined) return false;
  const [, , issued, more] = brand;
  return issued.includes(length) || (content === 'text' && more.includes(length));
}

/** The brand of each four digits. */
const BRAND_OF = Array.from({ length: 10_000 }, (_, begin) =>
  BRANDS.find(([from, to]) => begin >= from && begin <= to),
);

function brandOf([first = 0, second = 0, third = 0, fourth = 0]: Digits) {
  return BRAND_OF[first * 1_000 + second * 100 + third * 10 + fourth];
}

function isCardNumber(digits: Digits, content: Content): boolean {
  return isOfABrand(digits, content) && checks(digits) && (content === 'text' || !isOtherId(digits));
}

/** Ids that have the prefix of a brand: a time with four more digits (`yyMMddHHmmss`), and a trade item's number (GTIN-14). */
function isOtherId(digits: Digits): boolean {
  if (digits.length === 16) {
    return /^[23]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d/.test(
      digits.join(''),
    );
  }
  if (digits.length !== 14) return false;
  return digits.reduce((sum, digit, index) => sum + (index % 2 === 0 ? 3 * digit : digit), 0) % 10 === 0;
}

/** @returns whether a text contains a card number, by what its field holds */
export function holdsCardNumber(text: string, content: Content = 'text'): boolean {
  if (!hasDigits(text, SHORTEST)) return false;
  const plain = normalized(text);
  if (content === 'phone') return hasCardNumber(new Groups(plain.replace(EXTENSION, '')), content);
  if (!hasCardNumber(new Groups(plain), content)) return false;
  const rest = withoutOtherNumbers(plain, content);
  return rest === plain || hasCardNumber(new Groups(rest), content);
}

const EXTENSION = /[^\d]{0,3}(?:x|ext\.?|#|durchwahl)[^\d]{0,3}\d{1,8}\s*$/i;

/** @returns a text that is safe to log: if it contains a card number, only its last four digits are shown */
export function withoutCardNumbers(text: string): string {
  if (!holdsCardNumber(text)) return text;
  const shown = [...text.matchAll(/\p{N}/gu)].at(-4)?.index ?? 0;
  return text.replace(/\p{N}/gu, (digit, index: number) => (index < shown ? '*' : digit));
}

/** Hexadecimal ids and digests: one in a few thousand contains a card number by chance. */
const DIGESTS =
  /(?<![0-9a-z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{32,})(?![0-9a-z])/gi;
const IBANS = /(?<![A-Z0-9])[A-Z]{2}\d\d(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?(?![A-Z0-9])/g;
/** Tracking numbers of UPS, and of USPS, in groups or not. */
const TRACKING =
  /(?<![0-9A-Z])1Z ?[0-9A-Z]{3} ?[0-9A-Z]{3} ?[0-9A-Z]{2} ?[0-9A-Z]{4} ?[0-9A-Z]{4}(?![0-9A-Z])|(?<!\d)9[1-5](?: ?\d){18,20}(?![\d ])/gi;

/** Removes other kinds of numbers. A "digest" with far fewer letters than random ones have is kept. */
function withoutOtherNumbers(text: string, content: Content): string {
  const rest = text
    .replace(DIGESTS, (digest) =>
      digest.replace(/[^a-f]/gi, '').length * 12 >= digest.length ? 'x' : digest,
    )
    .replace(IBANS, (iban) => (isIban(iban.replaceAll(' ', '')) ? 'x' : iban));
  return content === 'id' ? rest.replace(TRACKING, 'x') : rest;
}

/** Validates the two check digits (ISO 7064). */
function isIban(iban: string): boolean {
  const turned = [...`${iban.slice(4)}${iban.slice(0, 4)}`].map((sign) => Number.parseInt(sign, 36));
  return BigInt(turned.join('')) % 97n === 1n;
}

/** Checks every window of whole groups: with only separators inside, cut anywhere; else cut as it is printed on cards. */
function hasCardNumber(groups: Groups, content: Content): boolean {
  for (let first = 0; first < groups.count; first += 1) {
    if (hasWindow(groups, first, content)) return true;
  }
  return false;
}

function hasWindow(groups: Groups, first: number, content: Content): boolean {
  const digits = groups.from(first, LONGEST + LONGEST_EXPIRY);
  // Most windows end here, which keeps the scan of a long text quick.
  if (brandOf(digits) === undefined) return false;
  let length = 0;
  let isSeparated = true;
  let sizes = 0;
  for (let last = first; length < digits.length; last += 1) {
    if (last > first && !groups.continues(last, LISTED)) return false;
    isSeparated &&= last === first || groups.continues(last);
    const size = groups.sizeOf(last);
    length += size;
    sizes = Math.min(sizes * 10 + size, TOO_MANY);
    const isCut =
      isSeparated && (content !== 'phone' || (length > LONGEST_PHONE && isWhole(groups, first, last)));
    if ((isCut || PRINTED.has(sizes)) && isCardNumber(digits.subarray(0, length), content)) return true;
    if (content === 'text' && isSeparated && hasGluedExpiry(digits.subarray(0, length), size)) return true;
  }
  return false;
}

/** A phone number is one number of at most 15 digits. */
const LONGEST_PHONE = 15;

function isWhole(groups: Groups, first: number, last: number): boolean {
  return !groups.continues(first) && !groups.continues(last + 1);
}

/** The sizes of the groups on cards: 4, 4, 4 and 4 digits, and so on. */
const PRINTED = new Set([444, 4441, 4444, 44441, 44442, 44443, 464, 465]);
const TOO_MANY = 1_000_000;

/** MMYY, MMYYYY, YYMM, YYYYMM. */
const EXPIRY = /^(?:(?:0[1-9]|1[0-2])(?:20)?[2-4]\d|(?:20)?[2-4]\d(?:0[1-9]|1[0-2]))$/;

const LONGEST_EXPIRY = 6;

/** Checks for an expiry that follows the card number in the same group: `41111111111111111228`. */
function hasGluedExpiry(digits: Digits, lastSize: number): boolean {
  return [4, LONGEST_EXPIRY].some((size) => {
    const length = digits.length - size;
    if (lastSize <= size || length < SHORTEST) return false;
    return EXPIRY.test(digits.subarray(length).join('')) && isCardNumber(digits.subarray(0, length), 'id');
  });
}
