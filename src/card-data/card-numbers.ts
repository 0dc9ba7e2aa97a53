/** Finds card numbers in a text, in any script and with any separators between the digits. Pure, and in linear time. */

// A card number has a brand's prefix and length, and a valid check digit.

const OTHERS = [16, 17, 18, 19];
/** The brands by their first four digits (from, to), and their lengths (ISO/IEC 7812). Thirteen digits are obsolete. */
const BRANDS: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [4000, 4999, [16, 19]], // Visa
  [5100, 5599, [16]], // Mastercard
  [2221, 2720, [16]],
  [3400, 3499, [15]], // American Express
  [3700, 3799, [15]],
  [3000, 3059, [14, ...OTHERS]], // Diners Club
  [3600, 3699, [14, ...OTHERS]],
  [3800, 3999, [14, ...OTHERS]],
  [3088, 3094, OTHERS], // JCB
  [3528, 3589, OTHERS],
  [5000, 5099, OTHERS], // Maestro, Discover, UnionPay, RuPay, Verve
  [5600, 6999, OTHERS],
  [8100, 8171, OTHERS], // UnionPay
  [2200, 2204, OTHERS], // Mir
];
const SHORTEST = 14;
const LONGEST = 19;

/** The values of some digits of a text. */
type Digits = Uint8Array;

/** @returns whether the last digit of a number is its valid check digit (ISO/IEC 7812) */
export function passesLuhn(digits: string): boolean {
  return checks(Uint8Array.from(digits, Number));
}

/** @returns whether digits have a brand's prefix and length, whatever their check digit */
export function beginsAsACard(digits: string): boolean {
  return isOfABrand(Uint8Array.from(digits, Number));
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

function isOfABrand(digits: Digits): boolean {
  if (digits.length < SHORTEST || digits.length > LONGEST) return false;
  const [first = 0, second = 0, third = 0, fourth = 0] = digits;
  const begin = first * 1_000 + second * 100 + third * 10 + fourth;
  return BRANDS.some(
    ([from, to, lengths]) => begin >= from && begin <= to && lengths.includes(digits.length),
  );
}

function isCardNumber(digits: Digits): boolean {
  return isOfABrand(digits) && checks(digits);
}

/**
 * A card number is one of: a whole run of digits with separators, or the start of a run that is followed by an expiry; digits without
 * separators; or groups as printed on cards, with any characters in between.
 * @returns whether a text contains one
 */
export function holdsCardNumber(text: string): boolean {
  if (!hasEnoughDigits(text)) return false;
  const plain = normalized(text);
  if (!hasCardNumber(new Groups(plain))) return false;
  const rest = withoutOtherNumbers(plain);
  return rest === plain || hasCardNumber(new Groups(rest));
}

/** @returns a text that is safe to log: if it contains a card number, only its last four digits are shown */
export function withoutCardNumbers(text: string): string {
  if (!holdsCardNumber(text)) return text;
  const shown = [...text.matchAll(/\p{N}/gu)].at(-4)?.index ?? 0;
  return text.replace(/\p{N}/gu, (digit, index: number) => (index < shown ? '*' : digit));
}

/** Rejects most texts early: they have too few digits. */
function hasEnoughDigits(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // A character outside of ASCII may be two digits: ⑳.
    if (code > 127) return text.length >= SHORTEST / 2;
    if ((OF_ASCII[code] ?? APART) < SEPARATED) digits += 1;
    if (digits >= SHORTEST) return true;
  }
  return false;
}

/** Hexadecimal ids and digests: one in a few thousand contains a card number by chance. */
const DIGESTS =
  /(?<![0-9a-z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{32,})(?![0-9a-z])/gi;
const IBANS = /(?<![A-Z0-9])[A-Z]{2}\d\d(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?(?![A-Z0-9])/g;
const FRACTIONS = /(?<![\d.])0\.\d{14,}/g;

/** Removes other kinds of numbers. A "digest" with far fewer letters than random ones have is kept. */
function withoutOtherNumbers(text: string): string {
  return text
    .replace(DIGESTS, (digest) =>
      digest.replace(/[^a-f]/gi, '').length * 12 >= digest.length ? 'x' : digest,
    )
    .replace(IBANS, (iban) => (isIban(iban.replaceAll(' ', '')) ? 'x' : iban))
    .replace(FRACTIONS, 'x');
}

/** Validates the two check digits (ISO 7064). */
function isIban(iban: string): boolean {
  const turned = [...`${iban.slice(4)}${iban.slice(0, 4)}`].map((sign) => Number.parseInt(sign, 36));
  return BigInt(turned.join('')) % 97n === 1n;
}

// Splits texts into groups of digits.

const INVISIBLE = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/** Returns a text in NFKC. Removes first what would make that slow: marks, sorted in quadratic time, and one-character words. */
function normalized(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(/[\ufdfa\ufdfb]+/g, 'a')
    .normalize('NFKC');
}

/** Kinds of gaps between groups: separators that a number may contain, other characters too, or letters. */
const SEPARATED = 10;
const LISTED = 11;
const APART = 12;
/** Spaces, dashes, dots, slashes, underscores, and invisible characters. */
const SEPARATOR = /[\p{Z}\p{C}\p{M}\p{Pd}\p{Pc}./\\'’·•∙⋅・。⁄∕−\u2800]/u;

/** @returns the value of a digit of any script, or the kind of gap that a character makes */
function kindOf(point: number): number {
  const sign = String.fromCodePoint(point);
  if (/\p{Nd}/u.test(sign)) return digitValue(point);
  if (/\p{L}/u.test(sign)) return APART;
  return SEPARATOR.test(sign) ? SEPARATED : LISTED;
}

/** In Unicode the digits of a script are consecutive, starting with zero. */
function digitValue(point: number): number {
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (point - zero) % 10;
}

const OF_ASCII = Uint8Array.from({ length: 128 }, (_, point) => kindOf(point));

/** @returns a text in NFKC with its digits in ASCII, whatever their script */
export function plainText(text: string): string {
  return normalized(text).replace(/[^\P{Nd}0-9]/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** @returns the digits of a value that contains only digits and separators, else an empty string */
export function digitsOf(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const digits = [...plainText(String(value))].filter((sign) => !SEPARATOR.test(sign)).join('');
  return /^\d+$/.test(digits) ? digits : '';
}

/** The digits of a text, in groups of adjacent digits. */
class Groups {
  readonly #digits: Digits;
  readonly #length: number;
  readonly count: number;
  /** The index of each group's first digit. */
  readonly #begins: Uint32Array;
  /** The gap before each group: SEPARATED, LISTED or APART. Before the first group it is APART. */
  readonly #joins: Uint8Array;

  constructor(text: string) {
    const most = Math.ceil(text.length / 2);
    this.#digits = new Uint8Array(text.length);
    this.#begins = new Uint32Array(most);
    this.#joins = new Uint8Array(most);
    let count = 0;
    const kinds = new Map<number, number>();
    let gap = APART;
    let length = 0;
    let inside = false;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      const point = code < 128 ? code : (text.codePointAt(index) ?? code);
      const kind = OF_ASCII[point] ?? known(kinds, point);
      if (point > 0xffff) index += 1;
      if (kind < SEPARATED) {
        if (!inside) {
          this.#begins[count] = length;
          this.#joins[count] = gap;
          count += 1;
          gap = SEPARATED;
        }
        this.#digits[length] = kind;
        length += 1;
      } else if (kind > gap) gap = kind;
      inside = kind < SEPARATED;
    }
    this.#length = length;
    this.count = count;
  }

  /** @returns the number of digits of a group; 0 if there is no such group */
  sizeOf(group: number): number {
    return group < this.count ? this.#end(group) - (this.#begins[group] ?? 0) : 0;
  }

  /** @returns the digits of consecutive groups */
  of(first: number, last = first): Digits {
    return this.#digits.subarray(this.#begins[first], this.#end(last));
  }

  /** @returns whether only separators are between a group and the previous one; with LISTED also other characters except letters */
  continues(group: number, by = SEPARATED): boolean {
    return group < this.count && (this.#joins[group] ?? APART) <= by;
  }

  #end(group: number): number {
    return group + 1 < this.count ? (this.#begins[group + 1] ?? 0) : this.#length;
  }
}

function known(kinds: Map<number, number>, point: number): number {
  const kind = kinds.get(point) ?? kindOf(point);
  kinds.set(point, kind);
  return kind;
}

function hasCardNumber(groups: Groups): boolean {
  for (let group = 0; group < groups.count; group += 1) {
    const size = groups.sizeOf(group);
    if (size >= SHORTEST && isCardNumber(groups.of(group))) return true;
    if (!groups.continues(group) && isCardRun(groups, group)) return true;
    if (size <= SHORTEST / 2 && startsRow(groups, group) && isPrintedCard(groups, group)) return true;
  }
  return false;
}

/** Checks a whole run, and its start if an expiry follows. */
function isCardRun(groups: Groups, first: number): boolean {
  let length = 0;
  for (let last = first; length <= LONGEST; last += 1) {
    length += groups.sizeOf(last);
    const ends = !groups.continues(last + 1);
    const complete = length >= SHORTEST && (ends || isExpiry(groups, last + 1));
    if (complete && isCardNumber(groups.of(first, last))) return true;
    if (ends) return false;
  }
  return false;
}

/** MMYY, MMYYYY; MM/YY, MM/YYYY; YYYY-MM. */
const EXPIRY =
  /^(?:(?:0[1-9]|1[0-2])(?:20)?\d\d\/.*|(?:0?[1-9]|1[0-2])\/(?:20)?\d\d|20\d\d\/(?:0[1-9]|1[0-2]))$/;

function isExpiry(groups: Groups, group: number): boolean {
  if (groups.sizeOf(group) > 6) return false;
  const next = groups.continues(group + 1) && groups.sizeOf(group + 1) <= 4 ? groups.of(group + 1) : [];
  return EXPIRY.test(`${groups.of(group).join('')}/${next.join('')}`);
}

/** The printed group sizes that aren't uniform. */
const PRINTED = ['4,6,5', '4,6,4', '4,4,4,4,1', '4,4,4,4,2', '4,4,4,4,3'];

/** Checks all consecutive groups of one size, and groups as printed on cards. */
function isPrintedCard(groups: Groups, first: number): boolean {
  const size = groups.sizeOf(first);
  let length = 0;
  let alike = true;
  for (let last = first; length < LONGEST; last += 1) {
    if (last >= groups.count || (last > first && !groups.continues(last, LISTED))) return false;
    length += groups.sizeOf(last);
    alike &&= groups.sizeOf(last) === size;
    if (length < SHORTEST || length > LONGEST) continue;
    const hasNext = groups.continues(last + 1, LISTED) && groups.sizeOf(last + 1) === size;
    const row = alike && (!hasNext || isExpiry(groups, last + 1));
    if (!row && !PRINTED.includes(sizesOf(groups, first, last))) continue;
    if (isCardNumber(groups.of(first, last))) return true;
  }
  return false;
}

function sizesOf(groups: Groups, first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => groups.sizeOf(first + index)).join();
}

function startsRow(groups: Groups, first: number): boolean {
  return !groups.continues(first, LISTED) || groups.sizeOf(first - 1) !== groups.sizeOf(first);
}
