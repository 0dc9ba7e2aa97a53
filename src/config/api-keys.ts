/** The API keys: who has each, what it may do and for which integrations; from a variable, or from a file that may change. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Fault } from '../contract/errors.ts';
import { FaultList, list, readJsonFile } from './values.ts';

/** What a key may do; every route asks for one of them. */
export const SCOPES = ['screen', 'read', 'act', 'ops', 'codec'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a key of `API_KEYS` may do: what an order service needs, and who looks after orders day by day. */
const SCOPES_OF_THE_LIST: readonly Scope[] = ['screen', 'read', 'act'];

/** Shorter ones are warned of: a random one has at least that many characters. */
const LEAST_LENGTH = 24;

/** An API key as it is kept: what it is for, and its SHA-256. */
export interface ApiKey {
  name: string;
  hash: Buffer;
  scopes: readonly Scope[];
  /** The only integrations that it is for; absent: all. */
  integrations?: readonly string[];
  /** It has fewer characters than it should; never known of a key that came as its hash. */
  short?: true;
}

/** The keys that are valid now. */
export interface ApiKeys {
  readonly current: readonly ApiKey[];
  /** Their file was read again, and is broken: those of before are valid still. */
  readonly refused?: boolean;
}

/** @returns the key as it is kept; the key itself can't be read from it */
export function hashedKey(
  name: string,
  key: string,
  limits: Partial<Pick<ApiKey, 'scopes' | 'integrations'>> = {},
): ApiKey {
  return {
    name,
    hash: createHash('sha256').update(key).digest(),
    scopes: SCOPES_OF_THE_LIST,
    ...limits,
    ...(key.length < LEAST_LENGTH && { short: true }),
  };
}

const NAME = '[A-Za-z0-9][\\w-]{0,31}';

/** `name:key,…` from a variable. A name may stand twice, while its key is changed. */
export function apiKeys() {
  const message =
    'must be a list "name:key,…": names of 1 to 32 letters, digits, - or _, keys of 16 to 256 visible characters';
  const written = new RegExp(`^(${NAME}):([\\x21-\\x7e]{16,256})$`);
  return list().transform((entries, context): ApiKey[] => {
    const keys = entries.flatMap((entry) => {
      const [, name, key] = written.exec(entry) ?? [];
      return name === undefined || key === undefined ? [] : [hashedKey(name, key)];
    });
    if (keys.length !== entries.length) context.addIssue({ code: 'custom', message });
    return keys;
  });
}

/** One key of the file. The codec opens payloads of every integration, so it is for keys of all. */
const keyInFile = z
  .strictObject(
    {
      name: z
        .string({ error: 'must be the name of who has the key' })
        .regex(new RegExp(`^${NAME}$`), 'must be 1 to 32 letters, digits, - or _'),
      sha256: z
        .string({ error: 'must be the SHA-256 of the key, in hex' })
        .regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the key, 64 hex digits'),
      scopes: z
        .array(z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` }), {
          error: `must be a list of ${SCOPES.join(', ')}`,
        })
        .min(1, 'must have one scope at least'),
      integrations: z
        .array(z.string({ error: 'must be the name of an integration' }), {
          error: 'must be a list of integrations',
        })
        .min(1, 'must name one at least; without the list the key is for all')
        .exactOptional(),
    },
    { error: 'must be {name, sha256, scopes, integrations?}' },
  )
  .refine(({ scopes, integrations }) => integrations === undefined || !scopes.includes('codec'), {
    path: ['integrations'],
    message: 'must be left out with the scope codec, which opens payloads of every integration',
  });

const keysInFile = z
  .array(keyInFile, { error: 'names a file that is no JSON list of keys' })
  .min(1, 'names a file without a key')
  .refine(
    (keys) => new Set(keys.map(({ sha256 }) => sha256.toLowerCase())).size === keys.length,
    'names a file in which a key stands twice: what it may do would not be clear',
  );

export const API_KEYS_FILE = 'API_KEYS_FILE';

/**
 * Reads the keys from a file. No fault holds a value of it.
 * @param integrations the names that a key may be limited to
 * @returns undefined after its faults were added
 */
export function readApiKeysFile(
  file: string,
  integrations: ReadonlySet<string>,
  faults: FaultList,
): ApiKey[] | undefined {
  const written = readJsonFile(API_KEYS_FILE, file, faults);
  const read = written === undefined ? undefined : faults.read(API_KEYS_FILE, keysInFile, written);
  if (read === undefined) return undefined;
  const before = faults.all.length;
  for (const [place, one] of read.entries()) {
    if (one.integrations?.some((name) => !integrations.has(name))) {
      faults.add(`${API_KEYS_FILE}[${place}].integrations`, 'names an integration that is not configured');
    }
  }
  if (faults.all.length > before) return undefined;
  return read.map(({ sha256, ...key }) => ({ ...key, hash: Buffer.from(sha256, 'hex') }));
}

/** The keys of a file, which may be read again. One that is broken changes nothing: the last good keys stay. */
export class KeysOfFile implements ApiKeys {
  readonly file: string;
  readonly #integrations: ReadonlySet<string>;
  #current: readonly ApiKey[];
  #refused = false;

  constructor(file: string, integrations: ReadonlySet<string>, first: readonly ApiKey[]) {
    this.file = file;
    this.#integrations = integrations;
    this.#current = first;
  }

  get current(): readonly ApiKey[] {
    return this.#current;
  }

  get refused(): boolean {
    return this.#refused;
  }

  /** Reads the file again. @returns its faults: none, and its keys are the valid ones from now on */
  reload(): readonly Fault[] {
    const faults = new FaultList();
    const keys = readApiKeysFile(this.file, this.#integrations, faults);
    if (keys !== undefined) this.#current = keys;
    this.#refused = keys === undefined;
    return faults.all;
  }
}
