/** The API keys: their names, scopes and integrations, from a variable or from a file that may change. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { z } from 'zod';
import type { FieldError } from '../contract/errors.ts';
import { oneOf } from '../contract/fields.ts';
import { ErrorList, readJsonFile } from './errors.ts';
import { listOf, text, texts } from './values.ts';

export const SCOPES = ['screen', 'read', 'act', 'ops', 'codec'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key in `API_KEYS`: for an order service and for daily work with orders. */
const LISTED_KEY_SCOPES: readonly Scope[] = ['screen', 'read', 'act'];

/** An API key as the process keeps it: its SHA-256, never the key. */
export interface ApiKey {
  name: string;
  hash: Buffer;
  scopes: readonly Scope[];
  /** The only integrations it may use; absent: all. */
  integrations?: readonly string[];
}

export interface ApiKeys {
  readonly current: readonly ApiKey[];
  /** The last read of their file failed; the keys of the read before remain valid. */
  readonly refused?: boolean;
}

export function hashedKey(
  name: string,
  key: string,
  limits: Partial<Pick<ApiKey, 'scopes' | 'integrations'>> = {},
): ApiKey {
  return {
    name,
    hash: createHash('sha256').update(key).digest(),
    scopes: LISTED_KEY_SCOPES,
    ...limits,
  };
}

/** In place of a key's name: the person beside it was verified by the sign-in provider. */
export const SIGNED_IN = 'sign-in';

const NAME = '[A-Za-z0-9][\\w-]{0,31}';
const LISTED_KEY = new RegExp(`^(${NAME}):([\\x21-\\x7e]{16,256})$`);

/** `name:key,…`. Two keys may have one name, while one replaces the other. An empty list would let in everybody. */
export const apiKeyList = listOf(
  (entry) => {
    const [, name, key] = LISTED_KEY.exec(entry) ?? [];
    return name === undefined || name === SIGNED_IN || key === undefined ? undefined : hashedKey(name, key);
  },
  'must be a list "name:key,…": names of 1 to 32 letters, digits, - or _, but not sign-in, keys of 16 to 256 visible characters',
  { least: 1 },
);

/** What a key, or a role of people who sign in, may do. */
const keyLimits = z.strictObject(
  {
    scopes: z.array(oneOf(SCOPES), { error: 'must be a list' }).min(1, 'must have at least one scope'),
    integrations: texts.exactOptional(),
  },
  { error: 'must be {scopes, integrations?}' },
);

const ROLES = 'must be JSON such as {"analyst": {"scopes": ["read", "act"]}}';

export const signInRoles = z
  .string()
  .transform((written, context): unknown => {
    try {
      return JSON.parse(written);
    } catch {
      context.addIssue({ code: 'custom', message: ROLES });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), keyLimits, { error: ROLES }))
  .transform((written) => new Map(Object.entries(written)))
  .refine(({ size }) => size > 0, 'must have at least one role');

/** The codec decrypts payloads of every integration, so its scope can't be limited to some. */
const keyInFile = z
  .strictObject(
    {
      name: text
        .regex(new RegExp(`^${NAME}$`), 'must be 1 to 32 letters, digits, - or _')
        .refine((name) => name !== SIGNED_IN, `must not be ${SIGNED_IN}, the name of people who sign in`),
      sha256: text.regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the key, 64 hex digits'),
      ...keyLimits.shape,
    },
    { error: 'must be {name, sha256, scopes, integrations?}' },
  )
  .refine(({ scopes, integrations }) => integrations === undefined || !scopes.includes('codec'), {
    path: ['integrations'],
    error: 'must be left out with the scope codec, which decrypts payloads of every integration',
  });

const keysInFile = z
  .array(keyInFile, { error: 'names a file that does not hold a JSON list of keys' })
  .min(1, 'names a file without a key')
  .refine(
    (keys) => new Set(keys.map(({ sha256 }) => sha256.toLowerCase())).size === keys.length,
    'names a file that has the same key twice; give each key its scopes in one entry',
  );

type Integrations = ReadonlyMap<string, { mode: 'test' | 'live' }>;

/**
 * Reads the keys from a file. No error quotes the file.
 * @returns undefined after adding errors
 */
export function readApiKeysFile(
  file: string,
  integrations: Integrations,
  errors: ErrorList,
): ApiKey[] | undefined {
  const isLive = [...integrations.values()].some(({ mode }) => mode === 'live');
  if (isLive && isWritableByOthers(file)) {
    errors.add('API_KEYS_FILE', 'names a file that others may change; run chmod go-w on it');
    return undefined;
  }
  const existing = z.string().refine((name) => integrations.has(name), 'is not a configured integration');
  const written = readJsonFile('API_KEYS_FILE', file, errors);
  const keys = written === undefined ? undefined : errors.read('API_KEYS_FILE', keysInFile, written);
  const before = errors.all.length;
  for (const [index, key] of (keys ?? []).entries()) {
    errors.read(`API_KEYS_FILE[${index}].integrations`, z.array(existing), key.integrations ?? []);
  }
  if (keys === undefined || errors.all.length > before) return undefined;
  return keys.map(({ sha256, ...key }) => ({ ...key, hash: Buffer.from(sha256, 'hex') }));
}

/** A file that can't be read has an error of its own. */
function isWritableByOthers(file: string): boolean {
  const { mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return (mode & 0o022) !== 0;
}

/** The keys of a file, which may be read again. A file with an error changes nothing. */
export class KeysOfFile implements ApiKeys {
  readonly file: string;
  readonly #integrations: Integrations;
  current: readonly ApiKey[];
  refused = false;

  constructor(file: string, integrations: Integrations, first: readonly ApiKey[]) {
    this.file = file;
    this.#integrations = integrations;
    this.current = first;
  }

  /** Reads the file again. @returns its errors; without any, its keys are the valid ones from now on */
  reload(): readonly FieldError[] {
    const errors = new ErrorList();
    const keys = readApiKeysFile(this.file, this.#integrations, errors);
    this.current = keys ?? this.current;
    this.refused = keys === undefined;
    return errors.all;
  }
}
