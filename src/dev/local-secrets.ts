import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCodecToken, readPayloadKeys } from '../config.ts';
import type { NamedKey } from '../sealer.ts';
import { exists } from './exists.ts';
import { withFileLock } from './file-lock.ts';

/** What the embedded server's data is encrypted with, and the token of the address at which its UI has it decrypted. */
export interface LocalSecrets {
  payloadKeys: NamedKey[];
  codecToken: string;
}

/** As PAYLOAD_KEYS is written, so that `PAYLOAD_KEYS=$(cat .data/payload-keys)` lets another process read the same orders. */
const PAYLOAD_KEYS_FILE = 'payload-keys';
const CODEC_TOKEN_FILE = 'codec-token';

const OWNER_ONLY = 0o600;

/**
 * Reads the secrets of a data folder; at the first start makes them, in files that only their owner reads.
 * @throws ConfigError when a file doesn't hold what it should, naming the file
 */
export async function localSecrets(dataDir: string): Promise<LocalSecrets> {
  return withFileLock(join(dataDir, 'secrets.lock'), async () => ({
    payloadKeys: await kept(dataDir, PAYLOAD_KEYS_FILE, newKey, readPayloadKeys),
    codecToken: await kept(dataDir, CODEC_TOKEN_FILE, newToken, readCodecToken),
  }));
}

/** @returns the keys that `npm start` made in a data folder; none when it never ran there @throws ConfigError as above */
export async function localPayloadKeys(dataDir: string): Promise<NamedKey[]> {
  const file = join(dataDir, PAYLOAD_KEYS_FILE);
  return (await exists(file)) ? readPayloadKeys((await readFile(file, 'utf8')).trim(), file) : [];
}

async function kept<T>(
  dataDir: string,
  name: string,
  make: () => string,
  read: (written: string, from: string) => T,
): Promise<T> {
  const file = join(dataDir, name);
  if (!(await exists(file))) {
    const unfinished = `${file}.new`;
    await writeFile(unfinished, `${make()}\n`, { mode: OWNER_ONLY, flush: true });
    await rename(unfinished, file);
  }
  return read((await readFile(file, 'utf8')).trim(), file);
}

function newKey(): string {
  return `local-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
}

function newToken(): string {
  return randomBytes(24).toString('base64url');
}
