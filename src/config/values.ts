/** The kinds of value that settings consist of. No message holds the value that was given. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { NamedKey } from '../codec/sealer.ts';
import { isLoopback } from '../contract/values.ts';

export const text = z.string({ error: 'must be text' }).min(1, 'must not be empty');
export const texts = z.array(text, { error: 'must be a list of texts' }).min(1, 'must not be empty');

/** A secret that addresses and headers can carry. */
export const secretText = z
  .string()
  .regex(
    /^[\x21-\x7e]+$/,
    'must hold only visible ASCII characters, without white space at its start or end',
  );

const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A duration such as `500ms`, `8s` or `30d`, read as whole milliseconds. The default maximum catches typing errors. */
export function duration({ leastMs = 1, most = '3650d' } = {}) {
  const message = 'must be a duration such as "500ms", "8s", "1m", "12h" or "30d"';
  return z
    .string({ error: message })
    .regex(DURATION, message)
    .transform(durationMs)
    .refine((ms) => ms >= leastMs, 'must be longer than 0')
    .refine((ms) => ms <= durationMs(most), `must be at most ${most}`);
}

export function durationMs(written: string): number {
  const [, number = '', unit = 'ms'] = DURATION.exec(written) ?? [];
  return Math.round(Number(number) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS]);
}

/** An address as text: a URL would ignore white space around it, and an empty query. */
function address(message: string, form: RegExp) {
  return z
    .string({ error: message })
    .refine((written) => form.test(written) && httpUrl(written) !== undefined, message);
}

/** An http(s) address that paths are appended to. */
export const baseUrl = address(
  'must be an http:// or https:// address without user, password, query, fragment and white space',
  /^[^\s?#]+$/,
);

/** An http(s) address that requests are sent to unchanged. */
export const targetUrl = address(
  'must be an http:// or https:// address without user, password and white space',
  /^\S+$/,
);

function httpUrl(written: string): URL | undefined {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    ? url
    : undefined;
}

export const timeZone = z.string().refine((name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}, 'must be the name of a time zone, such as Europe/Berlin');

const PORT = 'must be a port: a whole number from 0 to 65535';
const SERVICE_LINK =
  'is set by Kubernetes, for a Service of that name; set enableServiceLinks: false in the pod, or rename the Service';
/** A port; 0 takes a free one. */
export const port = z
  .string()
  .refine((written) => !/^(?:tcp|udp|sctp):\/\//.test(written), { error: SERVICE_LINK, abort: true })
  .regex(/^\d{1,5}$/, PORT)
  .transform(Number)
  .refine((number) => number <= 65_535, PORT);

const list = z.string().transform((written) =>
  written
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/**
 * A comma list of entries of one form.
 * @param read returns undefined for an entry that is not well formed
 */
export function listOf<T>(read: (entry: string) => T | undefined, message: string, { least = 0 } = {}) {
  return list.transform((entries, context): T[] => {
    const values = entries.map(read).filter((value) => value !== undefined);
    if (values.length < Math.max(entries.length, least)) context.addIssue({ code: 'custom', message });
    return values;
  });
}

/** An empty list would refuse every webhook. */
export const webhookSecrets = listOf((entry) => entry, 'must be a list with at least one secret', {
  least: 1,
});

export const networks = listOf((entry) => {
  const [, ip = '', bits = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const mostBits = { 0: 0, 4: 32, 6: 128 }[isIP(ip)] ?? 0;
  return Number(bits) >= 1 && Number(bits) <= mostBits ? entry : undefined;
}, 'must be a list of IP addresses, or networks such as 10.0.0.0/8');

const NAMED_KEYS =
  'must be a list "id:base64,…" of 32-byte keys with unique ids; create each key with openssl rand -base64 32';
/** Encryption keys: the first encrypts, all decrypt. */
export const namedKeys = listOf((entry): NamedKey | undefined => {
  const [, id, encoded] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
  return id === undefined || encoded === undefined ? undefined : { id, key: Buffer.from(encoded, 'base64') };
}, NAMED_KEYS).refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, NAMED_KEYS);

export const signingSecrets = listOf(
  (entry) => {
    const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(entry)?.[1] ?? '';
    const bytes = Buffer.from(encoded, 'base64').length;
    return bytes >= 24 && bytes <= 64 ? entry : undefined;
  },
  'must be a list of secrets, each "whsec_" and 24 to 64 random bytes in base64',
  { least: 1 },
);

export const origins = listOf(
  (entry) => (httpUrl(entry)?.origin === entry && !entry.includes('*') ? entry : undefined),
  'must be a list of origins "http[s]://host[:port]", without path and wildcard, as a browser sends them',
  { least: 1 },
);

const PLAINTEXT_NAMES = ['redis', 'temporal', 'events'] as const;
/** A connection that may be unencrypted in mode live, and why. */
export interface AllowedPlaintext {
  name: (typeof PLAINTEXT_NAMES)[number];
  reason: string;
}

export const allowedPlaintext = listOf(
  (entry): AllowedPlaintext | undefined => {
    const [, given, reason] = /^(\w+):\s*(\S.{0,199})$/.exec(entry) ?? [];
    const name = PLAINTEXT_NAMES.find((one) => one === given);
    return name === undefined || reason === undefined ? undefined : { name, reason };
  },
  `must be a list "name:reason,…"; names are ${PLAINTEXT_NAMES.join(', ')}, a reason has at most 200 characters`,
);

/** Whether an address is unencrypted and on another machine. */
export function isPlaintext(address: string | undefined): boolean {
  if (address === undefined || !URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return /^(?:http|redis):$/.test(protocol) && !isLoopback(hostname);
}

/** Returns the code of an error, such as `ENOENT` or a gRPC status number; undefined if it has none. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export const IN_QUOTES = 'must be written without quotes around it';

export function isQuoted(value: string | undefined): boolean {
  return value !== undefined && /^(["']).*\1$/s.test(value);
}

/** Whether a variable has a value; an empty one counts as not set. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
