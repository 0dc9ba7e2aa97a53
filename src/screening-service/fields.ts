/**
 * Field types of the screening service's resources. Each message says what is wrong and what to send instead, without the
 * submitted value.
 */
import { isIP } from 'node:net';
import { z } from 'zod';
import { bounded, exists, filledText } from '../contract/fields.ts';
import { type Finding, isObject, schemaAt } from './spellings.ts';

/**
 * Whether text has control characters or lone surrogates. Not every place that uses an order's id supports them: addresses,
 * workflow ids, databases.
 */
export function hasUnprintable(text: string): boolean {
  return /[\p{Cc}\p{Cs}]/u.test(text);
}

/**
 * The invoice number, by which a lost create is looked up: 1 to 64 characters that are safe in an address. At most one leading `#`
 * is allowed: it is removed before this check. The lookup would remove a second one too, and not find the transaction.
 */
export const invoiceNumber = filledText(64)
  .regex(/^(?!\.{1,2}$)/, 'must not consist of dots only: such a number can’t be looked up')
  .refine((number) => !number.startsWith('#'), 'must have at most one leading #')
  .refine((number) => !hasUnprintable(number), 'must not have control characters or lone surrogates');

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
  .refine((date) => exists(date.slice(6), date.slice(0, 2), date.slice(3, 5)), DATE_MESSAGE);

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

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** Messages for missing fields that need more than "is required". */
const MISSING: Record<string, string> = {
  billTo: 'is required; it may be an empty object',
  customerIP: "is required; send the customer's IP address",
};

/**
 * Converts zod's issues to findings. Uses only messages from our schemas, since some of zod's own messages contain the submitted
 * value.
 * @param rules the rules between fields, which may require a field that is optional in the schema
 */
export function schemaFindings(
  error: z.ZodError,
  value: unknown,
  schema: z.core.$ZodType,
  rules: (body: Record<string, unknown>) => Finding[] = () => [],
): Finding[] {
  const nulls = error.issues.map(({ path }) => path).filter((path) => valueAt(value, path) === null);
  const insteadOfNull = nulls.length === 0 ? () => '' : insteadOfNulls(value, nulls, schema, rules);
  return error.issues.flatMap((issue): Finding[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: [...issue.path, key],
        message: 'is not a field of the interface; check its spelling, or leave it out',
      }));
    }
    const given = valueAt(value, issue.path);
    if (given === undefined) return [{ path: issue.path, message: missing(issue.path) }];
    const message = issue.code === 'invalid_type' ? kindMessage(issue.expected, given) : issue.message;
    return [
      {
        path: issue.path,
        message: given === null ? `${message}, not null; ${insteadOfNull(issue.path)}` : message,
      },
    ];
  });
}

function missing(path: readonly PropertyKey[]): string {
  return MISSING[path.join('.')] ?? 'is required';
}

/** Returns what each field that is null accepts instead, by its path. The rules are asked once about all of them. */
function insteadOfNulls(
  value: unknown,
  nulls: readonly (readonly PropertyKey[])[],
  schema: z.core.$ZodType,
  rules: (body: Record<string, unknown>) => Finding[],
): (path: readonly PropertyKey[]) => string {
  const refusals = (instead: '' | undefined) => {
    const body = nulls.reduce((before, path) => withAt(before, path, instead), value);
    const found = isObject(body) ? rules(body) : [];
    return new Map(found.map(({ path, message }) => [path.join('.'), message]));
  };
  const [whenLeftOut, whenEmpty] = [refusals(undefined), refusals('')];
  return (path) => {
    const field = schemaAt(schema, path);
    const name = path.join('.');
    const isOptional = field?._zod.optin === 'optional';
    const required = isOptional ? whenLeftOut.get(name) : missing(path);
    const mayBeEmpty = field !== undefined && z.safeParse(field, '').success && !whenEmpty.has(name);
    if (required === undefined) return `it may be ${mayBeEmpty ? '"" or ' : ''}left out`;
    return mayBeEmpty ? `it may be "", and ${required}` : `it ${required}`;
  };
}

/**
 * A parameter for `safeParse` with default messages for schemas without their own. Zod's defaults are for developers and contain
 * the submitted value.
 */
export const OUR_WORDS = {
  error(issue: z.core.$ZodRawIssue): string | undefined {
    if (issue.input === undefined) return 'is required';
    if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
    if (issue.code !== 'invalid_type') return undefined;
    // A query parameter that is given twice arrives as a list.
    const isRepeated = issue.expected === 'string' && Array.isArray(issue.input);
    if (isRepeated) return 'must be given once, as a string';
    const message = kindMessage(issue.expected, issue.input);
    return issue.input === null
      ? `${message}, not null: send a value, or leave the field out if it may be missing`
      : message;
  },
};

function kindMessage(expected: string, given: unknown): string {
  const kind = KINDS[expected] ?? 'of another kind';
  if (expected === 'string' && typeof given === 'number') return `must be ${kind}; put the number in quotes`;
  return `must be ${kind}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at[Number(part)];
    return isObject(at) ? at[String(part)] : undefined;
  }, value);
}

/** Returns the value with a different one at a path, or without the field there. Lists stay unchanged: no rule is about an item. */
function withAt(value: unknown, [name, ...inner]: readonly PropertyKey[], instead: '' | undefined): unknown {
  if (name === undefined) return instead;
  if (!isObject(value)) return value;
  const { [String(name)]: before, ...others } = value;
  const now = withAt(before, inner, instead);
  return now === undefined ? others : { ...others, [name]: now };
}
