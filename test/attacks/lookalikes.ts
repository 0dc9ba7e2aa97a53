/** Values that merchants send and that are no card numbers, with the share of each kind that the scan mistakes for one. */
import { cardDataIn } from '../../src/card-data/card-data.ts';
import { passesLuhn } from '../../src/card-data/card-numbers.ts';

// Random parts of a value.

const whole = (from: number, to: number) => from + Math.floor(Math.random() * (to - from + 1));

function one<T>(choices: readonly T[]): T {
  const chosen = choices[whole(0, choices.length - 1)];
  if (chosen === undefined) throw new Error('no choices');
  return chosen;
}

const text = (length: number, alphabet: string) =>
  Array.from({ length }, () => alphabet.charAt(whole(0, alphabet.length - 1))).join('');
const digits = (length: number) => text(length, '0123456789');
const hex = (length: number) => text(length, '0123456789abcdef');
/** A number of so many digits. */
const number = (least: number, most = least) => `${whole(1, 9)}${digits(whole(least, most) - 1)}`;
/** Replaces each 0 of a pattern such as `0000-00-0` with a digit. */
const like = (pattern: string) => pattern.replace(/0/g, () => digits(1));
const inFours = (value: string) => value.replace(/(.{4})(?=.)/g, '$1 ');

/** @returns the digits and the one that makes them a valid number */
export function withCheckDigit(body: string): string {
  return [...'0123456789'].map((digit) => body + digit).find(passesLuhn) ?? body;
}

/** Country codes. With its code a number has up to 13 digits. */
const CODES = [
  ...'1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 54 55 56 57 60 61 62 63 64'.split(' '),
  ...'65 66 81 82 84 86 90 91 351 353 358 359 370 371 372 380 381 385 386 420 421 852 971'.split(' '),
];

function phoneNumber(): string {
  const code = one(CODES);
  const national = number(6, 13 - code.length);
  const sign = one([' ', '-', '.', '/', ' ']);
  const size = whole(2, 4);
  const groups = national.replace(new RegExp(`(\\d{${size}})(?=\\d)`, 'g'), `$1${sign}`);
  const written = [
    national,
    groups,
    groups,
    `(${groups.slice(0, 3)})${groups.slice(3)}`,
    `(0)${sign}${groups}`,
  ];
  const extension = one(['', '', '', ` x${digits(3)}`, ` ext. ${digits(4)}`]);
  return `${one([`+${code}`, `+${code}${sign}`, `00${code}${sign}`, `011 ${code} `, code])}${one(written)}${extension}`;
}

const imeiOf = (length: number) => `${one(['35', '86', '01', '99'])}${digits(length - 2)}`;

function imei(): string {
  const valid = withCheckDigit(imeiOf(14));
  const groups = valid
    .replace(/^(..)(.{6})(.{6})(.)$/, `$1 $2 $3 $4`)
    .replaceAll(' ', one(['-', ' ', '/', '.']));
  return one([valid, valid, groups, `IMEI ${valid}`, `${valid},${valid}`]);
}

function giftCard(): string {
  const begin = one(['6006', '6036', '7777', '9840', '1000']);
  const valid = withCheckDigit(`${begin}${digits(one([11, 14]))}`);
  return one([valid, inFours(valid)]);
}

/** The check digit of GS1. */
function gs1Check(body: string): number {
  const weight = (at: number) => ((body.length - at) % 2 === 1 ? 3 : 1);
  const sum = [...body].reduce((sum, digit, at) => sum + Number(digit) * weight(at), 0);
  return (10 - (sum % 10)) % 10;
}

function gtin(length: number): string {
  const body = digits(length - 1);
  return `${body}${gs1Check(body)}`;
}

/** The length of the account number in some countries, and the letters that it begins with. */
const BANKS = [
  ['DE', 18, ''],
  ['GB', 18, 'NWBK'],
  ['AT', 16, ''],
  ['FR', 23, ''],
  ['NL', 14, 'ABNA'],
] as const;

function iban(): string {
  const [country, length, bank] = one(BANKS);
  const account = `${bank}${digits(length - bank.length)}`;
  const values = [...`${account}${country}00`].map((sign) => Number.parseInt(sign, 36)).join('');
  const check = String(98n - (BigInt(values) % 97n)).padStart(2, '0');
  const whole = `${country}${check}${account}`;
  return one([inFours(whole), whole, inFours(whole).replaceAll(' ', '-'), inFours(whole).toLowerCase()]);
}

const coordinates = () => `${whole(-89, 89)}.${digits(6)}, ${whole(-179, 179)}.${digits(6)}`;
const decimal = () => one([`0.${digits(16)}`, `${whole(0, 99_999)}.${digits(2)}`]);

const moment = () => whole(1_600_000_000_000, 1_999_999_999_999);

function timestamp(): string {
  const at = moment();
  return one([`${Math.floor(at / 1_000)}`, `${at}`, `${at}${digits(3)}`]);
}

function dateAndTime(): string {
  const [date = '', time = ''] = new Date(moment()).toISOString().split(/[TZ]/);
  const turned = date.split('-').reverse().join('.');
  const together = `${date}${time}`.replace(/\D/g, '');
  return one([`${date}T${time}Z`, `${turned} ${time.slice(0, 8)}`, `${date} ${time}`, together]);
}

const FEDEX = ['000000000000', '0000 0000 0000', '000000000000000', '61000000000000000000'];
const USPS = ['00000000000000000000', '00 0000 0000 0000 0000 00', '000000000000000000'];

const ups = () => `1Z${text(6, 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789')}${digits(10)}`;
const usps = () => `${one(['94', '92', '93'])}${like(one(USPS))}`;
const dhl = () => one([digits(10), `003404${digits(14)}`, `JJD${digits(18)}`]);
const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-${text(1, '89ab')}${hex(3)}-${hex(12)}`;

const AMAZON = ['026', '112', '171', '202', '303', '404', '701'];
const shopify = () => one([`#${number(4)}`, `${one(['4', '5', '6'])}${digits(12)}`, `82${digits(16)}`]);
const ebay = () => `${digits(2)}-${digits(5)}-${digits(5)}`;

/** `yyMMddHHmmss` and four more digits. */
function timeAndFourDigits(): string {
  const iso = new Date(whole(1_600_000_000_000, 1_999_999_999_999)).toISOString();
  return `${iso.replace(/\D/g, '').slice(2, 14)}${digits(4)}`;
}

/**
 * Each kind, the field that it belongs in, and the largest shares that the scan may mistake, 0 to 1: in that field, and in free text.
 * docs/security.md has the highest of them, as measured.
 */
export const KINDS: readonly [
  kind: string,
  field: string,
  inField: number,
  inText: number,
  make: () => string,
][] = [
  ['phone numbers with country code', 'phoneNumber', 0, 0.01, phoneNumber],
  ['IMEIs, 15 digits', 'imei', 0, 0.01, imei],
  ['IMEIs with software version, 16 digits', 'imei', 0.04, 0.04, () => imeiOf(16)],
  ['tracking numbers of UPS', 'carrier_tracking_number', 0, 0.02, ups],
  ['tracking numbers of FedEx, 12, 15 or 20 digits', 'trackingNumber', 0.01, 0.04, () => like(one(FEDEX))],
  ['tracking numbers of USPS, 20 or 22 digits', 'trackingNumber', 0.01, 0.07, usps],
  ['tracking numbers of DPD, 14 digits', 'trackingNumber', 0.01, 0.03, () => digits(14)],
  ['tracking numbers of DHL, 10 or 20 digits', 'trackingNumber', 0.01, 0.02, dhl],
  ['gift cards, 16 or 19 digits, with a check digit', 'id', 0.6, 0.6, giftCard],
  ['order ids of Amazon', 'orderId', 0.01, 0.05, () => `${one(AMAZON)}-${digits(7)}-${digits(7)}`],
  ['order ids of Shopify', 'orderId', 0.01, 0.13, shopify],
  ['order ids of Magento and WooCommerce', 'orderId', 0, 0.001, () => one([`1000${digits(5)}`, number(5)])],
  ['order ids of eBay', 'orderId', 0.01, 0.04, ebay],
  ['order ids of 8 to 15 digits', 'orderId', 0.01, 0.03, () => number(8, 15)],
  ['order ids of 16 digits', 'orderId', 0.09, 0.09, () => number(16)],
  ['order ids of 17 to 20 digits', 'orderId', 0.02, 0.05, () => number(17, 20)],
  ['a time and four digits', 'orderId', 0.01, 0.1, timeAndFourDigits],
  ['SSCC of GS1, 18 digits', 'sscc', 0.01, 0.06, () => gtin(18)],
  ['timestamps in s, ms or µs', 'id', 0, 0, timestamp],
  ['dates and times', 'reference', 0, 0.001, dateAndTime],
  ['EAN, 8 or 13 digits', 'sku', 0, 0.03, () => gtin(one([8, 13]))],
  ['GTIN, 14 digits', 'sku', 0.01, 0.03, () => gtin(14)],
  // One in a million has so few letters, and a card number among its digits.
  ['UUIDs', 'id', 0, 0.0002, uuid],
  ['digests, 32, 40 or 64 hexadecimal digits', 'reference', 0.0002, 0.0002, () => hex(one([32, 40, 64]))],
  ['IBANs', 'reference', 0, 0.08, iban],
  ['IBANs in their own field', 'iban', 0, 0.08, iban],
  ['coordinates, decimals', 'geo_code', 0.02, 0.02, () => one([coordinates, decimal])()],
];

/** @returns the share of so many random values that the scan mistakes for card numbers in a field */
export function mistakenShare(field: string, make: () => string, values: number): number {
  return (
    Array.from({ length: values }, make).filter((value) => cardDataIn({ [field]: value }).length > 0).length /
    values
  );
}
