import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The least that a worker needs, and no settings file of the person who runs the tests. */
export const least = {
  TEMPORAL_CONFIG_FILE: join(tmpdir(), 'order-screening-none.toml'),
  SCREENING_API_KEY: 'key-of-the-environment',
  SCREENING_BASE_URL: 'http://127.0.0.1:8090/test',
  SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:8090/portal/api/v1/transaction-update',
};
