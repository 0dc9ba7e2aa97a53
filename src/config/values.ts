/** The kinds of value that settings are made of. No message holds the value that was given. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { NamedKey } from '../codec/sealer.ts';
import type { Fault } from '../orders/errors.ts';

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

/** An API key as it is kept: the name of who has it, and the SHA-256 of the key. */
export interface HashedKey {
  name: string;
  hash: Buffer;
}

/** @returns the key as it is kept; the key itself can't be read from it */
export function hashedKey(name: string, key: string): HashedKey {
  return { name, hash: createHash('sha256').update(key).digest() };
}

/** `name:key,…` from a variable. A name may stand twice, while its key is changed. */
export function apiKeys() {
  const message =
    'must be a list "name:key,…": names of 1 to 32 letters, digits, - or _, keys of 16 to 256 visible characters';
  return list().transform((entries, context): HashedKey[] => {
    const keys = entries.flatMap((entry) => {
      const [, name, key] = /^([A-Za-z0-9][\w-]{0,31}):([\x21-\x7e]{16,256})$/.exec(entry) ?? [];
      return name === undefined || key === undefined ? [] : [hashedKey(name, key)];
    });
    if (keys.length !== entries.length) context.addIssue({ code: 'custom', message });
    return keys;
  });
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

/** A secret of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
export function webhookSigningSecret() {
  return z.string().refine((secret) => {
    const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
    const bytes = encoded === undefined ? 0 : Buffer.from(encoded, 'base64').length;
    return bytes >= 24 && bytes <= 64;
  }, 'must be "whsec_" and 24 to 64 random bytes in base64');
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

/** How much a process logs, from all to nothing. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** @returns where an API that listens there is reached from this machine, `http://host:port` */
export function localApiAddress({ host, port }: { host: string; port: number }): string {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  return `http://${everywhere[host] ?? (host.includes(':') ? `[${host}]` : host)}:${port}`;
}

/** @returns the code of an error, such as `ENOENT` of a system call's or a number of gRPC's; undefined when it has none */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
