/** Values as merchants write them that are no card numbers, and how many of each kind are taken for one: a table of `docs/security.md`. */
import { holdsCardNumber, passesLuhn } from '../../src/card-data/card-numbers.ts';

const SEED = 20_261_121;
/** Of all kinds together. */
export const VALUES = 100_000;

/** @returns numbers from 0 to 1, the same for the same seed (mulberry32) */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What a value is made with. */
class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  one<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.whole(0, choices.length - 1)] ?? choices[0];
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.whole(0, 9)).join('');
  }

  text(length: number, alphabet: string): string {
    return Array.from({ length }, () => alphabet[this.whole(0, alphabet.length - 1)]).join('');
  }

  /** As `0000-00-0` says, a digit for each 0. */
  like(pattern: string): string {
    return pattern.replace(/0/g, () => String(this.whole(0, 9)));
  }
}

const HEX = '0123456789abcdef';
const CAPITALS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

/** Country codes with the lengths of the numbers behind them. */
const COUNTRIES: readonly [string, number, number][] = [
  ...([
    ['1', 10, 10],
    ['7', 10, 10],
    ['20', 9, 10],
    ['27', 9, 9],
    ['30', 10, 10],
    ['31', 9, 9],
  ] as const),
  ...([
    ['32', 8, 9],
    ['33', 9, 9],
    ['34', 9, 9],
    ['36', 8, 9],
    ['39', 8, 11],
    ['40', 9, 9],
  ] as const),
  ...([
    ['41', 9, 9],
    ['43', 7, 11],
    ['44', 9, 10],
    ['45', 8, 8],
    ['46', 7, 9],
    ['47', 8, 8],
  ] as const),
  ...([
    ['48', 9, 9],
    ['49', 7, 11],
    ['51', 9, 9],
    ['52', 10, 10],
    ['54', 10, 11],
    ['55', 10, 11],
  ] as const),
  ...([
    ['56', 9, 9],
    ['57', 10, 10],
    ['60', 8, 10],
    ['61', 9, 9],
    ['62', 8, 12],
    ['63', 10, 10],
  ] as const),
  ...([
    ['64', 8, 10],
    ['65', 8, 8],
    ['66', 9, 9],
    ['81', 9, 10],
    ['82', 8, 10],
    ['84', 9, 10],
  ] as const),
  ...([
    ['86', 11, 11],
    ['90', 10, 10],
    ['91', 10, 10],
    ['351', 9, 9],
    ['353', 7, 9],
    ['358', 6, 10],
  ] as const),
  ...([
    ['359', 8, 9],
    ['370', 8, 8],
    ['371', 8, 8],
    ['372', 7, 8],
    ['380', 9, 9],
    ['381', 8, 9],
  ] as const),
  ...([
    ['385', 8, 9],
    ['386', 8, 8],
    ['420', 9, 9],
    ['421', 9, 9],
    ['852', 8, 8],
    ['971', 8, 9],
  ] as const),
].map(([code, least, most]) => [code, least, most]);

export function phoneNumber(dice: Dice): string {
  const [code, least, most] = dice.one(COUNTRIES as [[string, number, number]]);
  const national = `${dice.whole(1, 9)}${dice.digits(dice.whole(least, most) - 1)}`;
  const sign = dice.one([' ', '-', '.', '/', ' ']);
  const size = dice.whole(2, 4);
  const groups = national.replace(new RegExp(`(\\d{${size}})(?=\\d)`, 'g'), `$1${sign}`);
  const [begin, rest] = [groups.slice(0, 3), groups.slice(3)];
  const number = dice.one([national, groups, groups, `(${begin})${rest}`, `(0)${sign}${groups}`]);
  const extension = dice.one(['', '', '', ` x${dice.digits(3)}`, ` ext. ${dice.digits(4)}`]);
  return `${dice.one([`+${code}`, `+${code}${sign}`, `00${code}${sign}`, `011 ${code} `, code])}${number}${extension}`;
}

export function imei(dice: Dice): string {
  const body = `${dice.one(['35', '86', '01', '99'])}${dice.digits(12)}`;
  const whole = [...'0123456789'].map((digit) => body + digit).find(passesLuhn) ?? body;
  const [, a, b, c, d] = /^(..)(.{6})(.{6})(.)$/.exec(whole) ?? [];
  const sign = dice.one(['-', ' ', '/', '.']);
  return dice.one([whole, whole, [a, b, c, d].join(sign), `IMEI ${whole}`, `${whole},${whole}`]);
}

function gtin(dice: Dice, length: number): string {
  const body = dice.digits(length - 1);
  const sum = [...body].reduce(
    (sum, digit, at) => sum + Number(digit) * ((length - at) % 2 === 0 ? 3 : 1),
    0,
  );
  return `${body}${(10 - (sum % 10)) % 10}`;
}

function iban(dice: Dice): string {
  const account = dice.digits(18);
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, '0')}${account}`.replace(/(.{4})(?=.)/g, '$1 ');
}

function moment(dice: Dice): number {
  return dice.whole(1_600_000_000_000, 1_999_999_999_999);
}

interface Kind {
  /** What it looks like. */
  such: string;
  make: (dice: Dice) => string;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  'phone numbers with country code': { such: '+49 30 1234-5678', make: phoneNumber },
  'IMEIs, 15 digits': { such: '35-209900-176148-1', make: imei },
  'IMEIs with software version, 16 digits': {
    such: '3520990017614823',
    make: (dice) => `${dice.one(['35', '86', '01', '99'])}${dice.digits(14)}`,
  },
  'tracking numbers of UPS': {
    such: '1Z999AA10123456784',
    make: (dice) => `1Z${dice.text(6, CAPITALS + HEX.slice(0, 10))}${dice.digits(10)}`,
  },
  'tracking numbers of FedEx, 12, 15 or 20 digits': {
    such: '9632 0108 0000',
    make: (dice) =>
      dice.like(dice.one(['000000000000', '0000 0000 0000', '000000000000000', '61000000000000000000'])),
  },
  'tracking numbers of USPS, 20 or 22 digits': {
    such: '9400 1118 9922 3333 4444 55',
    make: (dice) =>
      `${dice.one(['94', '92', '93'])}${dice.like(dice.one(['00000000000000000000', '00 0000 0000 0000 0000 00', '000000000000000000']))}`,
  },
  'tracking numbers of DHL, 10 or 20 digits': {
    such: '00340434161094042557',
    make: (dice) => dice.one([dice.digits(10), `003404${dice.digits(14)}`, `JJD${dice.digits(18)}`]),
  },
  'gift cards, 16 or 19 digits, with a check digit': {
    such: '7777 0123 4567 8901',
    make: (dice) => {
      const body = `${dice.one(['6006', '6036', '7777', '9840', '1000'])}${dice.digits(dice.one([11, 14]))}`;
      const whole = [...'0123456789'].map((digit) => body + digit).find(passesLuhn) ?? body;
      return dice.one([whole, whole.replace(/(.{4})(?=.)/g, '$1 ')]);
    },
  },
  'order ids of 8 to 15 digits': {
    such: '1002003004',
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(dice.whole(7, 14))}`,
  },
  'order ids of 16 digits': {
    such: '4100200300400500',
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(15)}`,
  },
  'order ids of 17 to 20 digits': {
    such: '410020030040050060',
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(dice.whole(16, 19))}`,
  },
  'timestamps in s, ms or µs': {
    such: '1792000000000',
    make: (dice) => {
      const at = moment(dice);
      return dice.one([String(Math.floor(at / 1_000)), String(at), `${at}${dice.digits(3)}`]);
    },
  },
  'dates and times': {
    such: '30.11.2026 12:30:15',
    make: (dice) => {
      const [date = '', time = ''] = new Date(moment(dice)).toISOString().split(/[TZ]/);
      const turned = date.split('-').reverse().join('.');
      return dice.one([
        `${date}T${time}Z`,
        `${turned} ${time.slice(0, 8)}`,
        `${date} ${time}`,
        `${date}${time}`.replace(/\D/g, ''),
      ]);
    },
  },
  'EAN and GTIN, 8, 13 or 14 digits': {
    such: '4006381333931',
    make: (dice) => gtin(dice, dice.one([8, 13, 14])),
  },
  'UUIDs and digests': {
    such: '9f1c8a52-6f0e-4b44-9a3e-2a5d3c1b7e10',
    make: (dice) => {
      const hex = (length: number) => dice.text(length, HEX);
      const uuid = `${hex(8)}-${hex(4)}-4${hex(3)}-${dice.one(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`;
      return dice.one([uuid, hex(32), hex(40), hex(64)]);
    },
  },
  'IBANs, coordinates, decimals': {
    such: '48.137154, 11.576124',
    make: (dice) =>
      dice.one([
        iban(dice),
        `${dice.whole(-89, 89)}.${dice.digits(6)}, ${dice.whole(-179, 179)}.${dice.digits(6)}`,
        `0.${dice.digits(16)}`,
        `${dice.whole(0, 99_999)}.${dice.digits(2)}`,
      ]),
  },
};

/** @returns how many of so many values of a kind are taken for card numbers */
export function refusedOf(kind: Kind, values: number, random: () => number): number {
  const dice = new Dice(random);
  let refused = 0;
  for (let index = 0; index < values; index += 1) if (holdsCardNumber(kind.make(dice))) refused += 1;
  return refused;
}

/** @returns the rows of the table, the same each time */
export function lookalikeRows(): string[][] {
  const kinds = Object.entries(KINDS);
  const each = VALUES / kinds.length;
  const random = randomOf(SEED);
  return kinds.map(([name, kind]) => {
    const share = (refusedOf(kind, each, random) / each) * 100;
    return [name, `\`${kind.such}\``, share === 0 ? 'none' : `${share.toFixed(2)}%`];
  });
}
