/** The environment of an API that has what it needs to start, and reaches nobody. */
export const API_WITHOUT_TEMPORAL = {
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  TEMPORAL_CONFIG_FILE: '/nonexistent/temporal.toml',
  SCREENING_CONFIG: undefined,
  SCREENING_BASE_URL: 'http://127.0.0.1:1/test',
  SCREENING_PORTAL_BASE_URL: 'http://127.0.0.1:1/portal/api/v1/transaction-update',
  API_HOST: undefined,
  API_KEYS: undefined,
};
