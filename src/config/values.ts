/** The kinds of value that settings are made of. No message holds the value that was given. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { NamedKey } from '../codec/sealer.ts';
import type { Fault } from '../contract/errors.ts';

/** What a duration is written in; in milliseconds. */
export const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
/** Ten years: longer is a slip of the pen. */
const LONGEST_MS = 3_650 * DURATION_UNITS.d;

/** A duration as `500ms`, `8s`, `1m`, `12h` or `30d`, read as whole milliseconds. @param leastMs 0 allows `0s` */
export function duration(leastMs: 0 | 1 = 1) {
  const message = 'must be a duration such as "500ms", "8s", "1m", "12h" or "30d"';
  return z
    .string({ error: message })
    .regex(DURATION, { error: message, abort: true })
    .transform(durationMs)
    .refine((ms) => ms >= leastMs, 'must be longer than nothing')
    .refine((ms) => ms <= LONGEST_MS, 'must be at most 3650d');
}

/** @returns a duration that is written right, in milliseconds */
export function durationMs(written: string): number {
  const [, number = '', unit = 'ms'] = DURATION.exec(written) ?? [];
  return Math.round(Number(number) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS]);
}

/** One of a few words. */
export function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.map((one) => `"${one}"`).join(', ')}` });
}

/** true or false. */
export function flag() {
  return z.boolean({ error: 'must be true or false' });
}

/** An http(s) address that paths are added to: no user, password, query or fragment. */
export function baseUrl() {
  const message = 'must be an http:// or https:// address without user, password, query and fragment';
  return z.string({ error: message }).refine((written) => {
    const url = httpUrl(written);
    return url !== undefined && url.search === '' && url.hash === '';
  }, message);
}

/** An http(s) address that something is sent to as it stands: no user, no password. */
export function targetUrl() {
  const message = 'must be an http:// or https:// address without user and password';
  return z.string({ error: message }).refine((written) => httpUrl(written) !== undefined, message);
}

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

/** A port from a variable; 0 takes a free one. */
export function port() {
  const message = 'must be a port: a whole number from 0 to 65535';
  return z
    .string()
    .regex(/^\d{1,5}$/, { error: message, abort: true })
    .transform(Number)
    .refine((number) => number <= 65_535, message);
}

/** A comma list from a variable; spaces around an entry don't count. */
export function list() {
  return z.string().transform((written) =>
    written
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );
}

/** Addresses and networks (`10.0.0.0/8`) from a variable. */
export function networks() {
  const message = 'must be a list of IP addresses, or networks such as 10.0.0.0/8';
  return list().refine((entries) => entries.every(isNetwork), message);
}

function isNetwork(written: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(written) ?? [];
  const version = isIP(address);
  return (
    version !== 0 && (bits === undefined || (Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)))
  );
}

/** `id:base64,…` with 32 bytes each, from a variable: the first encrypts, all decrypt. */
export function namedKeys() {
  const message = 'must be a list "id:base64,…" of keys of 32 bytes, each with an id of its own';
  return list().transform((entries, context): NamedKey[] => {
    const keys = entries.flatMap((entry) => {
      const [, id, encoded] = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
      return id === undefined || encoded === undefined ? [] : [{ id, key: Buffer.from(encoded, 'base64') }];
    });
    if (keys.length !== entries.length || new Set(keys.map(({ id }) => id)).size !== keys.length) {
      context.addIssue({ code: 'custom', message });
    }
    return keys;
  });
}

/** A comma list of secrets of Standard Webhooks, one at least: `whsec_` and 24 to 64 bytes in base64 each. */
export function webhookSigningSecrets() {
  const message = 'must be a list of secrets, each "whsec_" and 24 to 64 random bytes in base64';
  return list().refine((secrets) => secrets.length > 0 && secrets.every(isSigningSecret), message);
}

function isSigningSecret(secret: string): boolean {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const bytes = encoded === undefined ? 0 : Buffer.from(encoded, 'base64').length;
  return bytes >= 24 && bytes <= 64;
}

/** A comma list of web origins from a variable, as a browser sends them; no wildcard. */
export function origins() {
  const message =
    'must be a list of origins "http[s]://host[:port]", without path and wildcard, as a browser sends them';
  return list().refine((entries) => entries.length > 0 && entries.every(isOrigin), message);
}

function isOrigin(written: string): boolean {
  return httpUrl(written)?.origin === written && !written.includes('*');
}

/** What may go in plain although an integration is live, where somebody says why. The screening service's addresses never. */
const PLAINTEXT_NAMES = ['redis', 'temporal', 'events'] as const;
export interface AllowedPlaintext {
  name: (typeof PLAINTEXT_NAMES)[number];
  reason: string;
}

/** `redis:reason,temporal:reason` from a variable. */
export function allowedPlaintext() {
  const message = `must be a list "name:reason,…": names from ${PLAINTEXT_NAMES.join(', ')}, and why, in up to 200 characters`;
  return list().transform((entries, context): AllowedPlaintext[] =>
    entries.flatMap((entry) => {
      const [, given, reason] = /^(\w+):\s*(\S.{0,199})$/.exec(entry) ?? [];
      const name = PLAINTEXT_NAMES.find((one) => one === given);
      if (name !== undefined && reason !== undefined) return [{ name, reason }];
      context.addIssue({ code: 'custom', message });
      return [];
    }),
  );
}

/** A random part of an address from a variable. */
export function pathToken() {
  return z
    .string()
    .regex(/^[\w-]{22,128}$/, 'must be 22 to 128 letters, digits, "-" or "_", from a random generator');
}

/** Thrown when a process can't start with its settings. Its message lists every fault, and no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const lines = faults.map(({ path, message }) => `  ${path}: ${message}`);
    super(`The configuration has ${faults.length} fault(s):\n${lines.join('\n')}`);
    this.faults = faults;
  }
}

/** Collects faults while settings are read, so that a person sees all of them at once. */
export class FaultList {
  readonly #faults: Fault[] = [];

  /** @param path a variable's name, or the path in the policy file */
  add(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  /** Reads one value. @returns it, or undefined after its faults were added */
  read<T>(path: string, schema: z.ZodType<T>, raw: unknown): T | undefined {
    const result = schema.safeParse(raw);
    if (result.success) return result.data;
    for (const issue of result.error.issues) this.#addIssue(path, issue);
    return undefined;
  }

  #addIssue(path: string, issue: z.core.$ZodIssue): void {
    const place = pathTo(path, issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) this.add(pathTo(place, [key]), 'is not a known key');
    } else if (issue.code === 'invalid_union') {
      // The kind of value that was meant is the one whose faults lie inside it.
      const meant = issue.errors.find((issues) => issues.some((inner) => inner.path.length > 0));
      if (meant === undefined) this.add(place, issue.message);
      else for (const inner of meant) this.#addIssue(place, inner);
    } else {
      this.add(place, issue.message);
    }
  }

  get all(): readonly Fault[] {
    return this.#faults;
  }

  /** @throws ConfigError when there is any fault */
  throwIfAny(): void {
    if (this.#faults.length > 0) this.fail();
  }

  /** @throws ConfigError, always */
  fail(): never {
    throw new ConfigError(this.#faults);
  }
}

function pathTo(path: string, rest: readonly PropertyKey[]): string {
  return rest.reduce<string>(
    (so, step) => (typeof step === 'number' ? `${so}[${step}]` : `${so}.${String(step)}`),
    path,
  );
}

/**
 * Reads a file of JSON. No fault quotes it: it may hold secrets.
 * @param variable the one that names the file
 * @returns undefined after its fault was added
 */
export function readJsonFile(variable: string, file: string, faults: FaultList): unknown {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    faults.add(variable, `names a file that can't be read (${String(errorCode(error) ?? 'unknown reason')})`);
    return undefined;
  }
  try {
    return JSON.parse(content);
  } catch {
    // The parser's own words would quote the file.
    faults.add(variable, 'names a file that is not JSON');
    return undefined;
  }
}

/** Whether a name or an address, an IPv6 one in brackets or not, is this machine and can be no other. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|::1|\[::1\]|127(?:\.\d{1,3}){3})$/i.test(host);
}

/** @returns the code of an error, such as `ENOENT` of a system call's or a number of gRPC's; undefined when it has none */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A variable that is read by its schema. */
export interface Variable<T> {
  name: string;
  schema: z.ZodType<T>;
  /** As it would be written. */
  fallback?: string;
}

/** Reads one variable. A faulty one adds its faults. */
export interface ReadVariable {
  /** @returns what is written; when nothing is, or nothing right, the fallback */
  <T>(variable: Variable<T> & { fallback: string }): T;
  /** @returns undefined when it isn't set, or after its faults were added */
  <T>(variable: Variable<T>): T | undefined;
}

/** @returns a reader of one variable; an empty one counts as not set */
export function variableReader(env: NodeJS.ProcessEnv, faults: FaultList): ReadVariable {
  function read<T>(variable: Variable<T> & { fallback: string }): T;
  function read<T>(variable: Variable<T>): T | undefined;
  function read<T>({ name, schema, fallback }: Variable<T>): T | undefined {
    const given = isSet(env[name]) ? faults.read(name, schema, env[name]) : undefined;
    return given ?? (fallback === undefined ? undefined : schema.parse(fallback));
  }
  return read;
}

/** Whether a variable holds anything. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
