/** Reads the integrations from the policy file or from variables. */
import { DEFAULT_INTEGRATION, INTEGRATION_NAME } from '../contract/ids.ts';
import type { Integration } from '../contract/policy.ts';
import { ErrorList, readJsonFile } from './errors.ts';
import { integrationKeys, isObject, policyFile, toIntegration } from './policy-schema.ts';
import { IN_QUOTES, isQuoted, isSet, isVisible, NOT_VISIBLE } from './values.ts';

/** The variables of the one integration `default` when there is no policy file. */
const VARIABLES: Record<string, string> = {
  mode: 'SCREENING_MODE',
  workflow: 'SCREENING_WORKFLOW',
  baseUrl: 'SCREENING_BASE_URL',
  portalBaseUrl: 'SCREENING_PORTAL_BASE_URL',
};

/**
 * Reads the integrations from the policy file that `SCREENING_CONFIG` names, or from the environment.
 * An integration in which a key has an error is left out.
 * @param needsKeys whether the process calls the screening service: an API key that is not set is an error
 */
export function readIntegrations(
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  errors: ErrorList,
): ReadonlyMap<string, Integration> {
  const file = env.SCREENING_CONFIG;
  if (isSet(file)) {
    const integrations = readPolicy(readJsonFile('SCREENING_CONFIG', file, errors), env, errors);
    for (const [name, { apiKey }] of integrations) {
      const problem = problemOf(apiKey(), needsKeys);
      if (problem) errors.add(`integrations.${name}.apiKeyEnv`, `names a variable that ${problem}`);
    }
    return integrations;
  }
  const written = Object.entries(VARIABLES).map(([key, variable]) => [key, env[variable] || undefined]);
  const found = new ErrorList();
  const policy = { integrations: { [DEFAULT_INTEGRATION]: Object.fromEntries(written) } };
  const integrations = readPolicy(policy, env, found);
  for (const { path, message } of found.all) {
    const key = path.slice(`integrations.${DEFAULT_INTEGRATION}.`.length);
    errors.addMissing(VARIABLES[key] ?? path, message);
  }
  const problem = problemOf(env.SCREENING_API_KEY, needsKeys);
  if (problem) errors.addMissing('SCREENING_API_KEY', problem);
  return integrations;
}

function readPolicy(written: unknown, env: NodeJS.ProcessEnv, errors: ErrorList): Map<string, Integration> {
  const integrations = new Map<string, Integration>();
  if (written === undefined) return integrations;
  errors.read(isObject(written) ? '' : 'SCREENING_CONFIG', policyFile, written);
  const raw = isObject(written) && isObject(written.integrations) ? written.integrations : {};
  for (const [name, keys] of Object.entries(raw)) {
    if (!INTEGRATION_NAME.test(name)) {
      errors.add(`integrations.${name}`, 'must have a name of 1 to 32 letters, digits, - or _');
    }
    const { data } = integrationKeys.safeParse(keys);
    if (data !== undefined) integrations.set(name, toIntegration(name, data, env));
  }
  return integrations;
}

function problemOf(apiKey: string | undefined, isNeeded: boolean): string | undefined {
  if (!isSet(apiKey)) return isNeeded ? 'is not set' : undefined;
  if (isQuoted(apiKey)) return IN_QUOTES;
  return isVisible(apiKey) ? undefined : NOT_VISIBLE;
}
