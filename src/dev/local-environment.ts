import { randomBytes } from 'node:crypto';
import { isSet } from '../config.ts';

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
