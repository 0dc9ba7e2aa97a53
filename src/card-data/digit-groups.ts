/** Splits texts into groups of digits, of any script and in circles. */

/** The values of some digits of a text. */
export type Digits = Uint8Array;

const INVISIBLE = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/** Returns a text in NFKC. Removes first what would make that slow: marks, sorted in quadratic time, and one-character words. */
export function normalized(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(/[\ufdfa\ufdfb]+/g, 'a')
    .replace(CIRCLED, circledValue)
    .normalize('NFKC');
}

/** An address within an address is encoded twice. */
const MOST_DECODINGS = 2;

/** @returns a text as it is, and without its percent-encoding: the digits of `%20` would join those of a number */
export function decodings(text: string): string[] {
  const found = [text];
  for (let last = text; found.length <= MOST_DECODINGS; found.push(last)) {
    const decoded = percentDecoded(last);
    if (decoded === last) break;
    last = decoded;
  }
  return found;
}

const ENCODED = /%([0-9a-f]{2})/gi;
const NOT_ENCODED = /%(?![0-9a-f]{2})/gi;

/** If the bytes are not UTF-8, those outside of ASCII become spaces. */
function percentDecoded(text: string): string {
  if (text.search(ENCODED) < 0) return text;
  try {
    return decodeURIComponent(text.replace(NOT_ENCODED, '%25'));
  } catch {
    return text.replace(ENCODED, (_, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code < 128 ? String.fromCharCode(code) : ' ';
    });
  }
}

/** Numbers in circles that NFKC leaves as they are: the first of a row, how many, and the value of the first. */
const CIRCLES: readonly (readonly [first: number, count: number, value: number])[] = [
  [0x24eb, 10, 11],
  [0x24f5, 10, 1],
  [0x24ff, 1, 0],
  [0x2776, 10, 1],
  [0x2780, 10, 1],
  [0x278a, 10, 1],
  [0x1f10b, 2, 0],
];
const CIRCLED = /[\u24eb-\u24ff\u2776-\u2793\u{1f10b}\u{1f10c}]/gu;

function circledValue(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  const row = CIRCLES.find(([first, count]) => point >= first && point < first + count);
  return row === undefined ? sign : String(point - row[0] + row[2]);
}

/** Chinese digits, as in text and as on cheques. */
const CHINESE = ['〇零', '一壹', '二贰貳', '三叁參', '四肆', '五伍', '六陆陸', '七柒', '八捌', '九玖'];
const CHINESE_DIGITS = new Map(
  CHINESE.flatMap((signs, value) => [...signs].map((sign) => [sign.codePointAt(0) ?? 0, value])),
);
/** Digits and other numbers of any script. */
export const ANY_DIGIT = new RegExp(`[\\p{N}${CHINESE.join('')}]`, 'gu');

/** Kinds of gaps before a digit: none, separators that a number may contain, other characters too, or letters. */
const INSIDE = 0;
const SEPARATED = 10;
export const LISTED = 11;
const APART = 12;
/** Spaces, dashes, dots, slashes, underscores, and invisible characters. */
const SEPARATOR = /[\p{Z}\p{C}\p{M}\p{Pd}\p{Pc}./\\'’·•∙⋅・。⁄∕−\u2800]/u;

/** @returns the value of a digit of any script, or the kind of gap that a character makes */
function kindOf(point: number): number {
  const sign = String.fromCodePoint(point);
  if (/\p{Nd}/u.test(sign)) return digitValue(point);
  const chinese = CHINESE_DIGITS.get(point);
  if (chinese !== undefined) return chinese;
  if (/\p{L}/u.test(sign)) return APART;
  return SEPARATOR.test(sign) ? SEPARATED : LISTED;
}

/** @returns the value of a digit (Nd): in Unicode the digits of a script are consecutive, starting with zero */
export function digitValue(point: number): number {
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return (point - zero) % 10;
}

const OF_ASCII = Uint8Array.from({ length: 128 }, (_, point) => kindOf(point));

/** @returns whether a text may have so many digits: most texts have too few */
export function hasDigits(text: string, least: number): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // A character outside of ASCII may be two digits: ⑳.
    if (code > 127) return text.length >= least / 2;
    if ((OF_ASCII[code] ?? APART) < SEPARATED) digits += 1;
    if (digits >= least) return true;
  }
  return false;
}

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

/** The digits of a text, in groups of adjacent digits. Groups with only separators in between are a run. */
export class Groups {
  readonly digits: Digits;
  readonly length: number;
  /** The index of each group's first digit. */
  readonly #begins: number[] = [];
  /** The gap before each digit: INSIDE a group, SEPARATED, LISTED or APART. Before the first group it is APART. */
  readonly #gaps: Uint8Array;
  /** The sums of the digits before each one, with those at even or at odd places doubled as for a check digit. Most texts need none. */
  readonly #sums: [even?: Uint32Array, odd?: Uint32Array] = [];

  constructor(text: string) {
    this.digits = new Uint8Array(text.length);
    this.#gaps = new Uint8Array(text.length);
    let kinds: Map<number, number> | undefined;
    let gap = APART;
    let length = 0;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      const point = code < 128 ? code : (text.codePointAt(index) ?? code);
      let kind = OF_ASCII[point] ?? kinds?.get(point);
      if (kind === undefined) {
        kind = kindOf(point);
        kinds ??= new Map();
        kinds.set(point, kind);
      }
      if (point > 0xffff) index += 1;
      if (kind >= SEPARATED) {
        if (kind > gap) gap = kind;
        continue;
      }
      if (gap !== INSIDE) this.#begins.push(length);
      this.#gaps[length] = gap;
      this.digits[length] = kind;
      length += 1;
      gap = INSIDE;
    }
    this.length = length;
  }

  get count(): number {
    return this.#begins.length;
  }

  /** @returns whether digits end with their check digit (Luhn, ISO/IEC 7812) */
  checks(begin: number, end: number): boolean {
    const doubled = end % 2 === 0 ? 0 : 1;
    this.#sums[doubled] ??= sumsOf(this.digits, this.length, doubled);
    const sums = this.#sums[doubled];
    return ((sums[end] ?? 0) - (sums[begin] ?? 0)) % 10 === 0;
  }

  /** @returns the index of a group's first digit; the number of digits after the last group */
  beginOf(group: number): number {
    return this.#begins[group] ?? this.length;
  }

  endsBefore(index: number): boolean {
    return index >= this.length || this.#gaps[index] !== INSIDE;
  }

  /** @returns whether only separators are between a group and the previous one; with LISTED also other characters except letters */
  continues(group: number, by = SEPARATED): boolean {
    return group < this.count && (this.#gaps[this.beginOf(group)] ?? APART) <= by;
  }
}

function sumsOf(digits: Digits, length: number, doubled: 0 | 1): Uint32Array {
  const sums = new Uint32Array(length + 1);
  for (let index = 0; index < length; index += 1) {
    const digit = digits[index] ?? 0;
    const twice = digit > 4 ? digit * 2 - 9 : digit * 2;
    sums[index + 1] = (sums[index] ?? 0) + (index % 2 === doubled ? twice : digit);
  }
  return sums;
}
