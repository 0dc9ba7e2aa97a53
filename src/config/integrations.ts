/** Reads the integrations from the policy file or from variables, and the secrets of their events and webhooks. */
import type { z } from 'zod';
import { DEFAULT_INTEGRATION, INTEGRATION_NAME } from '../contract/ids.ts';
import type { Integration } from '../contract/policy.ts';
import { isRecord } from '../contract/values.ts';
import type { ReadVariable } from './environment.ts';
import { ErrorList, readJsonFile } from './errors.ts';
import { integrationKeys, policyFile, toIntegration } from './policy-schema.ts';
import { IN_QUOTES, isQuoted, isSet, secretText, signingSecrets, webhookSecrets } from './values.ts';

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
      const problem = problemOf(apiKey(), secretText, needsKeys);
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
  const problem = problemOf(env.SCREENING_API_KEY, secretText, needsKeys);
  if (problem) errors.addMissing('SCREENING_API_KEY', problem);
  return integrations;
}

function readPolicy(written: unknown, env: NodeJS.ProcessEnv, errors: ErrorList): Map<string, Integration> {
  const integrations = new Map<string, Integration>();
  if (written === undefined) return integrations;
  errors.read(isRecord(written) ? '' : 'SCREENING_CONFIG', policyFile, written);
  const raw = isRecord(written) && isRecord(written.integrations) ? written.integrations : {};
  for (const [name, keys] of Object.entries(raw)) {
    if (!INTEGRATION_NAME.test(name)) {
      errors.add(`integrations.${name}`, 'must have a name of 1 to 32 letters, digits, - or _');
    }
    const { data } = integrationKeys.safeParse(keys);
    if (data !== undefined) integrations.set(name, toIntegration(name, data, env));
  }
  return integrations;
}

/** Returns why the value of a secret variable can't be used; undefined if it can, or is not set and not needed. */
function problemOf(held: string | undefined, secret: z.ZodType, isNeeded = true): string | undefined {
  if (!isSet(held)) return isNeeded ? 'is not set' : undefined;
  return isQuoted(held) ? IN_QUOTES : secret.safeParse(held).error?.issues[0]?.message;
}

/** Receives events. Each event is signed with all secrets, so that one can be replaced without a gap. */
export interface EventsReceiver {
  url: string;
  secrets: string[];
}

/** Returns the receivers of events: the common one, and those of integrations that have their own. */
export function readEvents(
  read: ReadVariable,
  integrations: readonly Integration[],
  errors: ErrorList,
): { own: ReadonlyMap<string, EventsReceiver>; common?: EventsReceiver | undefined } {
  const [url, secrets] = [read('EVENTS_URL'), read('EVENTS_SECRETS')];
  const common = receiver(url, secrets);
  if (url !== undefined && secrets === undefined) {
    errors.addMissing('EVENTS_SECRETS', 'is required with EVENTS_URL: events are signed');
  }
  const own = new Map<string, EventsReceiver>();
  for (const { name, eventsUrl, eventsSecret } of integrations) {
    if (eventsUrl === undefined && eventsSecret === undefined) continue;
    const path = `integrations.${name}.eventsSecretEnv`;
    if (eventsSecret === undefined && secrets === undefined) {
      errors.add(path, 'is required with eventsUrl unless EVENTS_SECRETS is set: events are signed');
    }
    const ownSecrets = eventsSecret ? readNamed(path, eventsSecret(), signingSecrets, errors) : secrets;
    const its = receiver(eventsUrl ?? url, ownSecrets);
    if (its !== undefined) own.set(name, its);
  }
  return { own, common };
}

function receiver(url: string | undefined, secrets: string[] | undefined): EventsReceiver | undefined {
  return url === undefined || secrets === undefined ? undefined : { url, secrets };
}

export function readOwnWebhookSecrets(
  integrations: readonly Integration[],
  errors: ErrorList,
): ReadonlyMap<string, readonly string[]> {
  const own = new Map<string, readonly string[]>();
  for (const { name, webhookSecret } of integrations) {
    if (webhookSecret === undefined) continue;
    const path = `integrations.${name}.webhookSecretEnv`;
    own.set(name, readNamed(path, webhookSecret(), webhookSecrets, errors) ?? []);
  }
  return own;
}

/** Reads the secrets in a variable that the policy file names at `path`. @returns undefined after adding an error */
function readNamed(
  path: string,
  held: string | undefined,
  secrets: z.ZodType<string[]>,
  errors: ErrorList,
): string[] | undefined {
  const problem = problemOf(held, secrets);
  if (problem === undefined) return secrets.parse(held);
  errors.add(path, `names a variable that ${problem}`);
  return undefined;
}
