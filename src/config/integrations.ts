/** The integrations, from the policy file or from variables. */
import type { NamedKey } from '../codec/sealer.ts';
import { DEFAULT_INTEGRATION, INTEGRATION_NAME } from '../contract/ids.ts';
import type { Integration } from '../contract/policy.ts';
import { isPlainBeyondHere, readIntegration } from './integration-settings.ts';
import type { TemporalSettings } from './temporal.ts';
import { type AllowedPlaintext, type FaultList, isLoopback, readJsonFile } from './values.ts';

/** Shorter secrets of webhooks can be guessed. */
export const LEAST_WEBHOOK_SECRET = 16;

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
  const key = env.SCREENING_API_KEY ?? '';
  if (key === '' && needsKeys) faults.add('SCREENING_API_KEY', 'is required');
  if (!isFitKey(key)) faults.add('SCREENING_API_KEY', FIT_KEY);
  return new Map(integration === undefined ? [] : [[DEFAULT_INTEGRATION, integration]]);
}

function fromFile(
  file: string,
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  faults: FaultList,
): Map<string, Integration> {
  const read = new Map<string, Integration>();
  const policy = readJsonFile('SCREENING_CONFIG', file, faults);
  if (policy === undefined) return read;
  if (!isObject(policy)) {
    faults.add('SCREENING_CONFIG', 'names a file that is no JSON object');
    return read;
  }
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
    const key = integration.apiKey() ?? '';
    if (key === '' && needsKeys) faults.add(`${path}.apiKeyEnv`, 'the variable that it names is not set');
    if (!isFitKey(key)) faults.add(`${path}.apiKeyEnv`, `the variable that it names ${FIT_KEY}`);
    read.set(name, integration);
  }
  return read;
}

const FIT_KEY = 'must be visible ASCII characters without white space, also at its beginning and end';

/** The key goes into addresses and headers: one that can't be sent as it is would look like a service that is away. */
function isFitKey(key: string): boolean {
  return /^[\x21-\x7e]*$/.test(key);
}

/** What a process has beside its integrations, as far as it has it. */
interface Surroundings {
  allowPlaintext: readonly AllowedPlaintext[];
  temporal: TemporalSettings;
  cardStash: { url: string; keys: readonly NamedKey[] };
  payloadKeys: readonly NamedKey[];
  webhookSecrets?: readonly string[];
  /** By the variable, or the path in the policy file, that names it. */
  eventsUrls?: Readonly<Record<string, string | undefined>>;
}

/** Rule «live without plaintext»: adds what an integration of mode live doesn't allow around it. */
export function checkSurroundings(
  integrations: ReadonlyMap<string, Integration>,
  { temporal, cardStash, payloadKeys, webhookSecrets = [], eventsUrls = {}, ...given }: Surroundings,
  faults: FaultList,
): void {
  if (![...integrations.values()].some(({ mode }) => mode === 'live')) return;
  const plain = (name: AllowedPlaintext['name'], path: string, what: string): void => {
    if (given.allowPlaintext.some((allowed) => allowed.name === name)) return;
    faults.add(
      path,
      `${what} in mode live; what encrypts it otherwise is named by ALLOW_PLAINTEXT=${name}:reason`,
    );
  };
  const { address, tls = false } = temporal.connection;
  if ((tls === false || tls === null) && !isLoopback(address.replace(/:\d+$/, ''))) {
    plain('temporal', 'TEMPORAL_TLS', 'must be true, or certificates be given,');
  }
  if (isPlainBeyondHere(cardStash.url)) plain('redis', 'CARD_STASH_URL', 'must be rediss://');
  for (const [path, url] of Object.entries(eventsUrls)) {
    if (url !== undefined && isPlainBeyondHere(url)) plain('events', path, 'must be https://');
  }
  if (payloadKeys.length === 0) {
    faults.add('PAYLOAD_KEYS', 'is required in mode live: without it Temporal keeps orders in plain');
  }
  for (const [path, keys] of Object.entries({ PAYLOAD_KEYS: payloadKeys, CARD_STASH_KEYS: cardStash.keys })) {
    if (keys.some(({ key }) => new Set(key).size === 1)) {
      faults.add(path, 'must not repeat one byte in mode live: make each key by openssl rand -base64 32');
    }
  }
  if (webhookSecrets.some((secret) => secret.length < LEAST_WEBHOOK_SECRET)) {
    faults.add('WEBHOOK_SECRETS', `must have ${LEAST_WEBHOOK_SECRET} characters each at least in mode live`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
