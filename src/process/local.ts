/** What a stack on one machine settles and keeps for itself: settings that nobody gave, and secrets in its data folder. */
import { randomBytes, randomUUID } from 'node:crypto';
import { access, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedKey } from '../codec/sealer.ts';
import { isSet, readCodecToken, readPayloadKeys } from '../config/index.ts';
import { errorCode } from '../config/values.ts';

const SANDBOX_KEY = 'sandbox-test-key';

/**
 * @returns the environment completed for this machine: unless a screening service is named, the sandbox stands in for it
 */
export function localEnvironment(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; sandbox: boolean } {
  if (isSet(env.SCREENING_BASE_URL) || isSet(env.SCREENING_CONFIG)) return { env, sandbox: false };
  const sandbox = `http://127.0.0.1:${env.SANDBOX_PORT || '8090'}`;
  return {
    sandbox: true,
    env: {
      ...env,
      SCREENING_API_KEY: env.SCREENING_API_KEY || SANDBOX_KEY,
      SCREENING_BASE_URL: `${sandbox}/test`,
      SCREENING_PORTAL_BASE_URL: `${sandbox}/portal/api/v1/transaction-update`,
      WEBHOOK_SECRETS: env.WEBHOOK_SECRETS || randomBytes(18).toString('base64url'),
    },
  };
}

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

/** Whether there is a file or folder at the path. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const RETRY_MS = 250;

/**
 * Runs `work` while no other process runs work under the same lock file; waits for the other one otherwise.
 *
 * A lock left behind by a process that died is taken over. Two processes that take over the same dead lock in
 * the same instant may both run, so `work` must put its result in place by a rename.
 *
 * @param onWait called once, when another process holds the lock
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  let told = false;
  while (!(await tryLock(path))) {
    if (!told) {
      told = true;
      onWait?.();
    }
    await sleep(RETRY_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  const mine = `${path}.${randomUUID()}`;
  await writeFile(mine, String(process.pid));
  try {
    // The lock has its holder's id from its first moment: an empty one would be anybody's, for ever.
    await link(mine, path);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(mine, { force: true });
  }
  const holder = await readFile(path, 'utf8').catch(() => undefined);
  if (holder !== undefined && !isAlive(Number(holder))) await rm(path, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
