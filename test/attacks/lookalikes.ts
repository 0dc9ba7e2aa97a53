/** Values that merchants send and that are no card numbers, with the share of each kind that the scan mistakes for one. */
import { holdsCardNumber, passesLuhn } from '../../src/card-data/card-numbers.ts';

/** Random parts of a value. */
class Dice {
  whole(from: number, to: number): number {
    return from + Math.floor(Math.random() * (to - from + 1));
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

  /** Replaces each 0 of a pattern such as `0000-00-0` with a digit. */
  like(pattern: string): string {
    return pattern.replace(/0/g, () => String(this.whole(0, 9)));
  }
}

const HEX = '0123456789abcdef';
const CAPITALS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

/** Country codes with the lengths of their national numbers. */
const COUNTRIES: readonly [[string, number, number], ...[string, number, number][]] = [
  ['1', 10, 10],
  ['7', 10, 10],
  ['20', 9, 10],
  ['27', 9, 9],
  ['30', 10, 10],
  ['31', 9, 9],
  ['32', 8, 9],
  ['33', 9, 9],
  ['34', 9, 9],
  ['36', 8, 9],
  ['39', 8, 11],
  ['40', 9, 9],
  ['41', 9, 9],
  ['43', 7, 11],
  ['44', 9, 10],
  ['45', 8, 8],
  ['46', 7, 9],
  ['47', 8, 8],
  ['48', 9, 9],
  ['49', 7, 11],
  ['51', 9, 9],
  ['52', 10, 10],
  ['54', 10, 11],
  ['55', 10, 11],
  ['56', 9, 9],
  ['57', 10, 10],
  ['60', 8, 10],
  ['61', 9, 9],
  ['62', 8, 12],
  ['63', 10, 10],
  ['64', 8, 10],
  ['65', 8, 8],
  ['66', 9, 9],
  ['81', 9, 10],
  ['82', 8, 10],
  ['84', 9, 10],
  ['86', 11, 11],
  ['90', 10, 10],
  ['91', 10, 10],
  ['351', 9, 9],
  ['353', 7, 9],
  ['358', 6, 10],
  ['359', 8, 9],
  ['370', 8, 8],
  ['371', 8, 8],
  ['372', 7, 8],
  ['380', 9, 9],
  ['381', 8, 9],
  ['385', 8, 9],
  ['386', 8, 8],
  ['420', 9, 9],
  ['421', 9, 9],
  ['852', 8, 8],
  ['971', 8, 9],
];

function phoneNumber(dice: Dice): string {
  const [code, least, most] = dice.one(COUNTRIES);
  const national = `${dice.whole(1, 9)}${dice.digits(dice.whole(least, most) - 1)}`;
  const sign = dice.one([' ', '-', '.', '/', ' ']);
  const size = dice.whole(2, 4);
  const groups = national.replace(new RegExp(`(\\d{${size}})(?=\\d)`, 'g'), `$1${sign}`);
  const [begin, rest] = [groups.slice(0, 3), groups.slice(3)];
  const number = dice.one([national, groups, groups, `(${begin})${rest}`, `(0)${sign}${groups}`]);
  const extension = dice.one(['', '', '', ` x${dice.digits(3)}`, ` ext. ${dice.digits(4)}`]);
  return `${dice.one([`+${code}`, `+${code}${sign}`, `00${code}${sign}`, `011 ${code} `, code])}${number}${extension}`;
}

function imei(dice: Dice): string {
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
  /** The largest share that the scan may mistake, 0 to 1: twice what docs/security.md says, as values are random. */
  mistaken: number;
  make: (dice: Dice) => string;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  'phone numbers with country code': { mistaken: 0, make: phoneNumber },
  'IMEIs, 15 digits': { mistaken: 0, make: imei },
  'IMEIs with software version, 16 digits': {
    mistaken: 0.032,
    make: (dice) => `${dice.one(['35', '86', '01', '99'])}${dice.digits(14)}`,
  },
  'tracking numbers of UPS': {
    mistaken: 0.004,
    make: (dice) => `1Z${dice.text(6, CAPITALS + HEX.slice(0, 10))}${dice.digits(10)}`,
  },
  'tracking numbers of FedEx, 12, 15 or 20 digits': {
    mistaken: 0.006,
    make: (dice) =>
      dice.like(dice.one(['000000000000', '0000 0000 0000', '000000000000000', '61000000000000000000'])),
  },
  'tracking numbers of USPS, 20 or 22 digits': {
    mistaken: 0,
    make: (dice) =>
      `${dice.one(['94', '92', '93'])}${dice.like(dice.one(['00000000000000000000', '00 0000 0000 0000 0000 00', '000000000000000000']))}`,
  },
  'tracking numbers of DHL, 10 or 20 digits': {
    mistaken: 0.02,
    make: (dice) => dice.one([dice.digits(10), `003404${dice.digits(14)}`, `JJD${dice.digits(18)}`]),
  },
  'gift cards, 16 or 19 digits, with a check digit': {
    mistaken: 0.6,
    make: (dice) => {
      const body = `${dice.one(['6006', '6036', '7777', '9840', '1000'])}${dice.digits(dice.one([11, 14]))}`;
      const whole = [...'0123456789'].map((digit) => body + digit).find(passesLuhn) ?? body;
      return dice.one([whole, whole.replace(/(.{4})(?=.)/g, '$1 ')]);
    },
  },
  'order ids of 8 to 15 digits': {
    mistaken: 0.006,
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(dice.whole(7, 14))}`,
  },
  'order ids of 16 digits': {
    mistaken: 0.09,
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(15)}`,
  },
  'order ids of 17 to 20 digits': {
    mistaken: 0.04,
    make: (dice) => `${dice.whole(1, 9)}${dice.digits(dice.whole(16, 19))}`,
  },
  'timestamps in s, ms or µs': {
    mistaken: 0,
    make: (dice) => {
      const at = moment(dice);
      return dice.one([String(Math.floor(at / 1_000)), String(at), `${at}${dice.digits(3)}`]);
    },
  },
  'dates and times': {
    mistaken: 0,
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
    mistaken: 0.01,
    make: (dice) => gtin(dice, dice.one([8, 13, 14])),
  },
  // One in a million has so few letters, and a card number among its digits.
  UUIDs: {
    mistaken: 0.0002,
    make: (dice) => {
      const hex = (length: number) => dice.text(length, HEX);
      return `${hex(8)}-${hex(4)}-4${hex(3)}-${dice.one(['8', '9', 'a', 'b'])}${hex(3)}-${hex(12)}`;
    },
  },
  'digests, 32, 40 or 64 hexadecimal digits': {
    mistaken: 0.0002,
    make: (dice) => dice.text(dice.one([32, 40, 64]), HEX),
  },
  'IBANs, coordinates, decimals': {
    mistaken: 0,
    make: (dice) =>
      dice.one([
        iban(dice),
        `${dice.whole(-89, 89)}.${dice.digits(6)}, ${dice.whole(-179, 179)}.${dice.digits(6)}`,
        `0.${dice.digits(16)}`,
        `${dice.whole(0, 99_999)}.${dice.digits(2)}`,
      ]),
  },
};

/** @returns the share of so many random values of a kind that the scan mistakes for card numbers */
export function mistakenShare({ make }: Kind, values: number): number {
  const dice = new Dice();
  let mistaken = 0;
  for (let index = 0; index < values; index += 1) if (holdsCardNumber(make(dice))) mistaken += 1;
  return mistaken / values;
}
