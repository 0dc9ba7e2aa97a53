/** The integrations, from the policy file or from variables. */
import { readFileSync } from 'node:fs';
import { DEFAULT_INTEGRATION, INTEGRATION_NAME } from '../orders/ids.ts';
import type { Integration } from '../orders/policy.ts';
import { readIntegration } from './integration-settings.ts';
import { errorCode, type FaultList } from './values.ts';

/** What the one `default` integration is made of when there is no policy file. */
const VARIABLES: Record<string, string> = {
  mode: 'SCREENING_MODE',
  workflow: 'SCREENING_WORKFLOW',
  baseUrl: 'SCREENING_BASE_URL',
  portalBaseUrl: 'SCREENING_PORTAL_BASE_URL',
};

/**
 * Reads the integrations from the policy file that `SCREENING_CONFIG` names, or from the environment.
 * @param needsKeys the process calls the service: a key that isn't set is a fault
 */
export function readIntegrations(
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  faults: FaultList,
): Map<string, Integration> {
  const file = env.SCREENING_CONFIG;
  return file === undefined || file === ''
    ? fromEnvironment(env, needsKeys, faults)
    : fromFile(file, env, needsKeys, faults);
}

function fromEnvironment(
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  faults: FaultList,
): Map<string, Integration> {
  const raw = Object.fromEntries(
    Object.entries(VARIABLES)
      .map(([key, variable]) => [key, env[variable]])
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const integration = readIntegration(DEFAULT_INTEGRATION, raw, (key) => VARIABLES[key] ?? key, env, faults);
  if (needsKeys && (env.SCREENING_API_KEY ?? '') === '') faults.add('SCREENING_API_KEY', 'is required');
  return new Map(integration === undefined ? [] : [[DEFAULT_INTEGRATION, integration]]);
}

function fromFile(
  file: string,
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  faults: FaultList,
): Map<string, Integration> {
  const read = new Map<string, Integration>();
  const policy = readJson(file, faults);
  if (policy === undefined) return read;
  for (const key of Object.keys(policy)) if (key !== 'integrations') faults.add(key, 'is not a known key');
  const { integrations } = policy;
  if (!isObject(integrations) || Object.keys(integrations).length === 0) {
    faults.add('integrations', 'must be an object with at least one integration');
    return read;
  }
  for (const [name, raw] of Object.entries(integrations)) {
    const path = `integrations.${name}`;
    if (!INTEGRATION_NAME.test(name)) faults.add(path, 'must have a name of 1 to 32 letters, digits, - or _');
    if (!isObject(raw)) {
      faults.add(path, 'must be an object');
      continue;
    }
    const integration = readIntegration(name, raw, (key) => `${path}.${key}`, env, faults);
    if (integration === undefined) continue;
    if (needsKeys && !integration.apiKey()) {
      faults.add(`${path}.apiKeyEnv`, 'the variable that it names is not set');
    }
    read.set(name, integration);
  }
  return read;
}

function readJson(file: string, faults: FaultList): Record<string, unknown> | undefined {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    faults.add('SCREENING_CONFIG', `names a file that can't be read (${codeOf(error)})`);
    return undefined;
  }
  try {
    const parsed: unknown = JSON.parse(content);
    if (isObject(parsed)) return parsed;
    faults.add('SCREENING_CONFIG', 'names a file that is no JSON object');
  } catch {
    // The parser's own words would quote the file.
    faults.add('SCREENING_CONFIG', 'names a file that is not JSON');
  }
  return undefined;
}

function codeOf(error: unknown): string {
  return String(errorCode(error) ?? 'unknown reason');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
