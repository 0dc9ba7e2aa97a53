/** Defaults of a local stack: settings that are not configured, and secrets in the data folder. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedKey } from '../codec/sealer.ts';
import { isSet, readCodecToken, readPayloadKeys } from '../config/index.ts';
import { errorCode } from '../config/values.ts';

/** Returns the environment, completed with the sandbox's settings unless a screening service is configured. */
export function localEnvironment(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; sandbox: boolean } {
  if (isSet(env.SCREENING_BASE_URL) || isSet(env.SCREENING_CONFIG)) return { env, sandbox: false };
  const sandbox = `http://127.0.0.1:${env.SANDBOX_PORT || '8090'}`;
  return {
    sandbox: true,
    env: {
      ...env,
      SCREENING_API_KEY: env.SCREENING_API_KEY || 'sandbox-test-key',
      SCREENING_BASE_URL: `${sandbox}/test`,
      SCREENING_PORTAL_BASE_URL: `${sandbox}/portal/api/v1/transaction-update`,
      WEBHOOK_SECRETS: env.WEBHOOK_SECRETS || randomBytes(18).toString('base64url'),
    },
  };
}

export interface LocalSecrets {
  /** Encrypt the data of the embedded Temporal server. */
  payloadKeys: NamedKey[];
  /** Part of the address at which the Temporal UI decrypts payloads. */
  codecToken: string;
}

/** In the format of PAYLOAD_KEYS: `PAYLOAD_KEYS=$(cat .data/payload-keys)` lets another process read the same orders. */
const PAYLOAD_KEYS_FILE = 'payload-keys';

/**
 * Reads the secrets of a data folder. The first start creates them, in files that only their owner can read.
 *
 * @throws ConfigError naming the file that has no valid secret
 */
export async function localSecrets(dataDir: string): Promise<LocalSecrets> {
  const newKey = () => `local-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
  const newToken = () => randomBytes(24).toString('base64url');
  return withFileLock(join(dataDir, 'secrets.lock'), async () => ({
    payloadKeys: await readOrMake(join(dataDir, PAYLOAD_KEYS_FILE), newKey, readPayloadKeys),
    codecToken: await readOrMake(join(dataDir, 'codec-token'), newToken, readCodecToken),
  }));
}

/**
 * Returns the keys that `npm start` created in a data folder, or none if it never ran there.
 *
 * @throws ConfigError naming the file that has no valid keys
 */
export async function localPayloadKeys(dataDir: string): Promise<NamedKey[]> {
  const file = join(dataDir, PAYLOAD_KEYS_FILE);
  return existsSync(file) ? readSecret(file, readPayloadKeys) : [];
}

type ReadSecret<T> = (written: string, from: string) => T;

async function readOrMake<T>(file: string, make: () => string, read: ReadSecret<T>): Promise<T> {
  if (!existsSync(file)) {
    const unfinished = `${file}.new`;
    await writeFile(unfinished, `${make()}\n`, { mode: 0o600, flush: true });
    await rename(unfinished, file);
  }
  return readSecret(file, read);
}

async function readSecret<T>(file: string, read: ReadSecret<T>): Promise<T> {
  return read((await readFile(file, 'utf8')).trim(), file);
}

const LOCK_RETRY_MS = 250;

/**
 * Runs `work` while no other process runs work under the same lock.
 *
 * A lock whose process has ended is taken over. Two processes that take it over in the same instant may both run, so `work`
 * must put its result in place by a rename.
 *
 * @param onWait called once when another process holds the lock
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; !(await tryLock(path)); attempt++) {
    if (attempt === 1) onWait?.();
    await sleep(LOCK_RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** The lock is a symbolic link to the holder's process id: it is created atomically and is never empty. */
async function tryLock(path: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const holder = await readlink(path).catch(() => undefined);
  if (holder !== undefined && !isAlive(Number(holder))) await rm(path, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
