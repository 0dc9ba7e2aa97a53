import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { ConfigError } from '../../src/config/index.ts';

/** The least that a worker needs, and no settings file of the person who runs the tests. */
export const least = {
  TEMPORAL_CONFIG_FILE: join(tmpdir(), 'order-screening-none.toml'),
  SCREENING_API_KEY: 'key-of-the-environment',
  SCREENING_BASE_URL: 'http://127.0.0.1:8090/test',
  SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:8090/portal/api/v1/transaction-update',
};

/** The errors of reading settings, by path; none if it succeeds. */
export function faultsIn(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return Object.fromEntries(error.fieldErrors.map(({ path, message }) => [path, message]));
  }
  return {};
}

/** Returns a function that writes a file, as JSON unless it is text, and returns its path. */
export function scratchFile(name: string): (content: unknown) => string {
  const folder = mkdtempSync(join(tmpdir(), 'order-screening-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return (content) => {
    const file = join(folder, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
}

const signingSecret = (bytes: number) => `whsec_${Buffer.alloc(bytes, bytes).toString('base64')}`;
export const A_SECRET = signingSecret(24);
export const ANOTHER = signingSecret(64);
/** One byte less than a secret has. */
export const SHORT_SECRET = signingSecret(23);
