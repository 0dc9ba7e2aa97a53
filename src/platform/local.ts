/** Defaults of a local stack: settings that are not configured, and secrets in the data folder. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** In the format of PAYLOAD_KEYS: `PAYLOAD_KEYS=$(cat .data/payload-keys)` lets another process read the same orders. */
const PAYLOAD_KEYS_FILE = 'payload-keys';

/**
 * Reads the secrets of a data folder. The first start creates them, in files that only their owner can read.
 *
 * @throws ConfigError naming the file that has no valid secret
 */
export async function localSecrets(dataDir: string) {
  const newKey = () => `local-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
  const newToken = () => randomBytes(24).toString('base64url');
  await mkdir(dataDir, { recursive: true });
  return {
    payloadKeys: await readOrMake(join(dataDir, PAYLOAD_KEYS_FILE), newKey, readPayloadKeys),
    codecToken: await readOrMake(join(dataDir, 'codec-token'), newToken, readCodecToken),
  };
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

/** Several processes may start together: each writes a secret of its own, and the first one linked to the name counts. */
async function readOrMake<T>(file: string, make: () => string, read: ReadSecret<T>): Promise<T> {
  if (!existsSync(file)) {
    const own = `${file}.${randomUUID()}`;
    await writeFile(own, `${make()}\n`, { mode: 0o600, flush: true });
    await link(own, file).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    await rm(own);
  }
  return readSecret(file, read);
}

async function readSecret<T>(file: string, read: ReadSecret<T>): Promise<T> {
  return read((await readFile(file, 'utf8')).trim(), file);
}
