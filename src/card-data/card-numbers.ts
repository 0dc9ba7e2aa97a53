/**
 * Finds card numbers in a text, in any script and with any separators between the digits: every window of whole groups of digits that
 * has a brand's prefix and length, and a valid check digit. Pure, and in linear time.
 */

import { ANY_DIGIT, type Digits, decodings, Groups, hasDigits, LISTED, normalized } from './digit-groups.ts';

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
  [3088, 3094, [16, 19], [17, 18]], // JCB
  [3528, 3589, [16, 19], [17, 18]],
  [5000, 5099, [16, 19], [12, 13, 14, 15, 17, 18]], // Maestro, Verve, RuPay
  [5600, 6999, [16, 19], [12, 13, 14, 15, 17, 18]], // Maestro, Discover, UnionPay, RuPay, Verve
  [8100, 8299, [16, 19], [17, 18]], // UnionPay, RuPay
  [2200, 2204, [16], [17, 18, 19]], // Mir
  [9792, 9792, [16], []], // Troy
];
export const SHORTEST = 12;

/** @returns whether the last digit of a number is its valid check digit (ISO/IEC 7812) */
export function passesLuhn(digits: string): boolean {
  return new Groups(digits).checks(0, digits.length);
}

/** @returns whether digits have a brand's prefix and length, whatever their check digit */
export function beginsAsACard(digits: string, content: Content): boolean {
  return lengthsOf(Uint8Array.from(digits, Number), 0, content).includes(digits.length);
}

const NONE: readonly number[] = [];
/** The lengths of the numbers that begin with each four digits: those that are issued, and all. */
const ISSUED = Array.from({ length: 10_000 }, (_, begin) => brandOf(begin)?.[2] ?? NONE);
const ALL = Array.from({ length: 10_000 }, (_, begin) => {
  const [, , issued = NONE, more = NONE] = brandOf(begin) ?? [];
  return [...issued, ...more];
});

function brandOf(begin: number) {
  return BRANDS.find(([from, to]) => begin >= from && begin <= to);
}

function lengthsOf(digits: Digits, at: number, content: Content): readonly number[] {
  let begin = 0;
  for (let index = at; index < at + 4; index += 1) begin = begin * 10 + (digits[index] ?? 0);
  return (content === 'text' ? ALL : ISSUED)[begin] ?? NONE;
}

/** A time with four more digits, which has the prefix of a brand: `yyMMddHHmmss0000`. */
const TIME = /^[23]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d\d{4}$/;

/** @returns whether a text contains a card number, by what its field holds, also if it is percent-encoded */
export function holdsCardNumber(text: string, content: Content = 'text'): boolean {
  if (!hasDigits(text, SHORTEST)) return false;
  return decodings(text).some((decoded) => holdsPlainly(decoded, content));
}

function holdsPlainly(text: string, content: Content): boolean {
  const plain = normalized(text);
  if (content === 'phone') return hasCardNumber(new Groups(plain.replace(EXTENSION, '')), content);
  if (!hasCardNumber(new Groups(plain), content)) return false;
  const rest = withoutOtherNumbers(plain, content);
  return rest === plain || hasCardNumber(new Groups(rest), content);
}

const EXTENSION = /[^\d]{0,3}(?:x|ext\.?|#|durchwahl)[^\d]{0,3}\d{1,8}\s*$/i;

/** @returns a text that is safe to log: if it contains a card number, no digit is shown, since others may be its expiry and card code */
export function withoutCardNumbers(text: string, content: Content = 'text'): string {
  return holdsCardNumber(text, content) ? text.replace(ANY_DIGIT, '*') : text;
}

/** Hexadecimal ids and digests: one in a few thousand contains a card number by chance. */
const DIGESTS =
  /(?<![0-9a-z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{32,})(?![0-9a-z])/gi;
const IBANS = /(?<![A-Z0-9])[A-Z]{2}\d\d(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?(?![A-Z0-9])/g;
/** In an id field, in any spelling. */
const IBAN_IDS = /(?<![A-Z0-9])[A-Z]{2}\d\d(?:[ -]?[A-Z0-9]){11,30}(?![A-Z0-9])/gi;
/** Tracking numbers of UPS, and of USPS in groups. In a longer run of digits there is no window. */
const TRACKING =
  /(?<![0-9A-Z])1Z ?[0-9A-Z]{3} ?[0-9A-Z]{3} ?[0-9A-Z]{2} ?[0-9A-Z]{4} ?[0-9A-Z]{4}(?![0-9A-Z])|(?<!\d)9[1-5]\d\d(?: \d{4}){4} \d\d(?![\d ])/gi;

/** Removes other kinds of numbers. A "digest" with far fewer letters than random ones have is kept. */
function withoutOtherNumbers(text: string, content: Content): string {
  const isRandom = (digest: string) => digest.replace(/[^a-f]/gi, '').length * 12 >= digest.length;
  const rest = text
    .replace(DIGESTS, (digest) => {
      const isId = content === 'id' && digest.includes('-');
      return isId || isRandom(digest) ? 'x' : digest;
    })
    .replace(content === 'id' ? IBAN_IDS : IBANS, (iban) => (isIban(iban.replace(/[ -]/g, '')) ? 'x' : iban));
  return content === 'id' ? rest.replace(TRACKING, 'x') : rest;
}

/** Validates the two check digits (ISO 7064). */
function isIban(iban: string): boolean {
  const turned = [...`${iban.slice(4)}${iban.slice(0, 4)}`].map((sign) => Number.parseInt(sign, 36));
  return BigInt(turned.join('')) % 97n === 1n;
}

function hasCardNumber(groups: Groups, content: Content): boolean {
  const { digits } = groups;
  let runEnd = 0;
  let nextRun = 0;
  for (let group = 0; group < groups.count; group += 1) {
    const isFirst = group === nextRun;
    if (isFirst) {
      do nextRun += 1;
      while (groups.continues(nextRun));
      runEnd = groups.beginOf(nextRun);
    }
    const lengths = lengthsOf(digits, groups.beginOf(group), content);
    // Most groups end here, which keeps the scan of a long text quick.
    if (lengths.length === 0) continue;
    const isPhone = content === 'phone';
    const mayBegin = !isPhone || isFirst;
    const fitting = isPhone ? lengths.filter((length) => length > LONGEST_PHONE) : lengths;
    if (mayBegin && isCutFromRun(groups, group, runEnd, fitting, content)) return true;
    if (isPrintedCard(groups, group, lengths)) return true;
  }
  return false;
}

/** A phone number is one run. None of 15 digits begins as a card of that length. */
const LONGEST_PHONE = 14;

/** Checks the windows that begin with a group and lie within its run, cut anywhere. */
function isCutFromRun(
  groups: Groups,
  group: number,
  runEnd: number,
  lengths: readonly number[],
  content: Content,
): boolean {
  const { digits } = groups;
  const begin = groups.beginOf(group);
  for (const length of lengths) {
    const end = begin + length;
    if (end > runEnd || !groups.checks(begin, end)) continue;
    const isCut = groups.endsBefore(end);
    if (isCut && (content === 'text' || !TIME.test(digits.subarray(begin, end).join('')))) return true;
    if (!isCut && isExpiry(groups, end)) return true;
  }
  return false;
}

/** MMYY, MMYYYY, YYMM, YYYYMM. */
const EXPIRY = /^(?:(?:0[1-9]|1[0-2])(?:20)?[2-4]\d|(?:20)?[2-4]\d(?:0[1-9]|1[0-2]))$/;

/** Checks for an expiry that is glued to a card number, at the end of its last group: `41111111111111111228`. */
function isExpiry(groups: Groups, begin: number): boolean {
  return [4, 6].some((size) => {
    const end = begin + size;
    for (let index = begin; index < end; index += 1) if (groups.endsBefore(index)) return false;
    return groups.endsBefore(end) && EXPIRY.test(groups.digits.subarray(begin, end).join(''));
  });
}

/** The sizes of the groups on cards: 4, 4, 4 and 4 digits, and so on. */
const PRINTED = new Set([444, 4441, 4444, 44441, 44442, 44443, 464, 465]);
const MOST_GROUPS = 5;

/** Checks groups as on cards, with any characters in between that are no letters. */
function isPrintedCard(groups: Groups, first: number, lengths: readonly number[]): boolean {
  const begin = groups.beginOf(first);
  let sizes = 0;
  for (let group = first; group < first + MOST_GROUPS && group < groups.count; group += 1) {
    if (group > first && !groups.continues(group, LISTED)) return false;
    const end = groups.beginOf(group + 1);
    const size = end - groups.beginOf(group);
    if (size > 6) return false;
    sizes = sizes * 10 + size;
    if (PRINTED.has(sizes) && lengths.includes(end - begin) && groups.checks(begin, end)) return true;
  }
  return false;
}
