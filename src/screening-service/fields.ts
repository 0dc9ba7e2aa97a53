/**
 * Field types of the screening service's resources. Each message says what is wrong and what to send instead, without the
 * submitted value.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { bounded, filledText, printable } from '../contract/fields.ts';

/**
 * The invoice number, by which a lost create is looked up: 1 to 64 characters that are safe in an address. At most one leading `#`
 * is allowed: it is removed before this check. The lookup would remove a second one too, and not find the transaction.
 */
export const invoiceNumber = filledText(64)
  .regex(/^(?!\.{1,2}$)/, 'must not consist of dots only: such a number can’t be looked up')
  .refine((number) => !number.startsWith('#'), 'must have at most one leading #')
  .refine(...printable);

/** A decimal number in a string. Stricter than the screening service's pattern `^\d*\.?\d*$`, which also matches '' and '.'. */
export const decimal = z
  .string()
  .regex(
    /^(?:\d+(?:\.\d*)?|\.\d+)$/,
    'must be a non-negative number in a string, such as "125.50", without sign or separators',
  );

/** An amount of money: a decimal of at most 24 characters. */
export const amount = decimal.max(24, 'must have at most 24 characters; shorten it');

/** A discount. It may be empty, since the screening service documents only the pattern. */
export const discount = z
  .string()
  .regex(
    /^\d*(?:\.\d*)?$/,
    'must be digits with at most one point, such as "10.00", without sign or separators',
  );

const DATE_MESSAGE = 'must be a date that exists, written MM/DD/YYYY, such as "02/28/2026"';
/** A date `MM/DD/YYYY` that exists in the calendar. */
export const usDate = z
  .string()
  .regex(/^\d{2}\/\d{2}\/\d{4}$/, { error: DATE_MESSAGE, abort: true })
  .refine((date) => z.regexes.date.test(date.replace(/^(..).(..).(....)$/, '$3-$1-$2')), DATE_MESSAGE);

/** A fully qualified domain name of at most 128 characters: no scheme, no path. */
export const domainName = bounded().regex(
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i,
  'must be a domain name such as "www.example.com", without https:// and path',
);

export const ipAddress = z
  .string()
  .refine((ip) => isIP(ip) !== 0, 'must be an IPv4 or IPv6 address of the customer');

const PHONE_MESSAGE = 'must be a phone number of 5 to 20 digits, such as "+1 212 555 0100"';
/** Assumption «phone numbers»: 5 to 20 digits with the usual separators, and an optional extension. */
export const phoneNumber = bounded()
  .regex(/^[+\d\s().\-/]+(?:(?:x|ext\.?|#)\s*\d{1,8})?$/i, { error: PHONE_MESSAGE, abort: true })
  .refine((number) => {
    const digits = number.replace(/(?:x|ext|#).*$/i, '').replace(/\D/g, '').length;
    return digits >= 5 && digits <= 20;
  }, PHONE_MESSAGE);

/** Assumption «free objects»: the screening service doesn't document the content, which is passed through unchanged. */
export const passThrough = z.record(z.string(), z.unknown());

/** Assumption «country codes»: ISO 3166-1 alpha-2, and the user-assigned code XK, which merchants use for Kosovo. */
const COUNTRY_CODES = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
    'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
    'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
    'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
    'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
    'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW'
  ).split(' '),
);

/** An ISO 3166 two-letter country code in capitals. `parseTransaction` converts it before, so any case is accepted. */
export const country = z
  .string()
  .refine((code) => COUNTRY_CODES.has(code), 'must be an ISO two-letter country code, such as "US"');
