/** Reads the integrations from the policy file or from variables. */
import { DEFAULT_INTEGRATION, INTEGRATION_NAME } from '../contract/ids.ts';
import type { Integration } from '../contract/policy.ts';
import { FaultList, readJsonFile } from './errors.ts';
import { integrationKeys, integrationSchema, isObject, policyFile, toIntegration } from './policy-schema.ts';
import { isSet } from './values.ts';

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
  faults: FaultList,
): ReadonlyMap<string, Integration> {
  const file = env.SCREENING_CONFIG;
  return isSet(file) ? fromFile(file, env, needsKeys, faults) : fromEnvironment(env, needsKeys, faults);
}

function fromEnvironment(env: NodeJS.ProcessEnv, needsKeys: boolean, faults: FaultList) {
  const written = Object.fromEntries(
    Object.entries(VARIABLES).map(([key, variable]) => [key, env[variable] || undefined]),
  );
  const found = new FaultList();
  found.read('', integrationSchema, written);
  for (const { path, message } of found.all) faults.add(VARIABLES[path] ?? path, message);
  const problem = problemOf(env.SCREENING_API_KEY, needsKeys);
  if (problem !== undefined) faults.add('SCREENING_API_KEY', problem);
  return integrationsOf({ [DEFAULT_INTEGRATION]: written }, env);
}

function fromFile(file: string, env: NodeJS.ProcessEnv, needsKeys: boolean, faults: FaultList) {
  const written = readJsonFile('SCREENING_CONFIG', file, faults);
  if (written === undefined) return new Map<string, Integration>();
  faults.read(isObject(written) ? '' : 'SCREENING_CONFIG', policyFile, written);
  const raw = isObject(written) && isObject(written.integrations) ? written.integrations : {};
  for (const name of Object.keys(raw)) {
    if (INTEGRATION_NAME.test(name)) continue;
    faults.add(`integrations.${name}`, 'must have a name of 1 to 32 letters, digits, - or _');
  }
  const integrations = integrationsOf(raw, env);
  for (const [name, { apiKey }] of integrations) {
    const problem = problemOf(apiKey(), needsKeys);
    if (problem !== undefined) {
      faults.add(`integrations.${name}.apiKeyEnv`, `names a variable that ${problem}`);
    }
  }
  return integrations;
}

function integrationsOf(raw: Record<string, unknown>, env: NodeJS.ProcessEnv): Map<string, Integration> {
  const parsed = Object.entries(raw).map(([name, keys]) => ({ name, ...integrationKeys.safeParse(keys) }));
  return new Map(
    parsed.flatMap(({ name, data }) => (data === undefined ? [] : [[name, toIntegration(name, data, env)]])),
  );
}

/** An API key is part of addresses and headers, which carry only visible ASCII characters. */
function problemOf(apiKey: string | undefined, isNeeded: boolean): string | undefined {
  if (!isSet(apiKey)) return isNeeded ? 'is not set' : undefined;
  return /^[\x21-\x7e]+$/.test(apiKey)
    ? undefined
    : 'must hold only visible ASCII characters, without white space at its start or end';
}
