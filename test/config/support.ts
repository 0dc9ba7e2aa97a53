import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/index.ts';

/** The least that a worker needs, and no settings file of the person who runs the tests. */
export const least = {
  TEMPORAL_CONFIG_FILE: join(tmpdir(), 'order-screening-none.toml'),
  SCREENING_API_KEY: 'key-of-the-environment',
  SCREENING_BASE_URL: 'http://127.0.0.1:8090/test',
  SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:8090/portal/api/v1/transaction-update',
};

/** The faults that reading the settings ends with, by their paths; none when it ends well. */
export function faultsIn(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return Object.fromEntries(error.faults.map(({ path, message }) => [path, message]));
  }
  return {};
}
