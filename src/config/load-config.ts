/** Reads all settings of a process and lists all their errors. */
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { NamedKey } from '../codec/sealer.ts';
import type { FieldError } from '../contract/errors.ts';
import type { Integration } from '../contract/policy.ts';
import { isLoopback } from '../contract/values.ts';
import { type ApiKey, readApiKeysFile } from './api-keys.ts';
import {
  environment,
  type Process,
  type ReadVariable,
  variableReader,
  withoutQuoted,
} from './environment.ts';
import { ErrorList, orThrow } from './errors.ts';
import { readEvents, readIntegrations, readOwnWebhookSecrets } from './integrations.ts';
import { checkLiveSettings } from './live.ts';
import { readSignIn } from './sign-in.ts';
import { readTemporal, type TemporalSettings } from './temporal.ts';
import { isSet } from './values.ts';

/** The processes whose variables each role reads; `all` reads every variable. */
const READS = {
  all: undefined,
  worker: ['worker'],
  api: ['api'],
  serve: ['worker', 'api'],
  start: ['start'],
} as const satisfies Record<string, readonly Process[] | undefined>;

/** A worker needs the screening service's keys, the API the rules for listening, the others both. */
export type Role = keyof typeof READS;

/** Settings of the client library. They hold secrets: never log them. */
export type ClientSettings = ReturnType<typeof readClientSettings>;

/** Settings of a server. They hold secrets: never log them. */
export type Config = ReturnType<typeof readConfig>;

/** Reads all settings of a process. @throws ConfigError with every error, by variable or path in the policy file */
export function loadConfig(env: NodeJS.ProcessEnv, role: Role = 'all'): Config {
  return fromEnv(env, (given, errors) => readConfig(given, role, errors));
}

/** Returns all settings and their errors. A value with an error has its default, or is absent. */
export function inspectConfig(env: NodeJS.ProcessEnv): {
  config: Config;
  fieldErrors: readonly FieldError[];
} {
  const errors = new ErrorList();
  return { config: readConfig(withoutQuoted(env, errors), 'all', errors), fieldErrors: errors.all };
}

export function loadClientSettings(env: NodeJS.ProcessEnv): ClientSettings {
  return fromEnv(env, (given, errors) => {
    const settings = readClientSettings(given, false, errors);
    checkLiveSettings(settings, errors);
    return settings;
  });
}

export function loadTemporalSettings(env: NodeJS.ProcessEnv): TemporalSettings {
  return fromEnv(env, (given, errors) =>
    readTemporal(given, variableReader(given, errors)('TEMPORAL_PORT'), errors),
  );
}

/** Reads the version of the workers; undefined if they are unversioned. @throws ConfigError */
export function loadWorkerVersion(env: NodeJS.ProcessEnv): WorkerDeploymentVersion | undefined {
  return fromEnv(env, (given, errors) => readWorkerVersion(variableReader(given, errors), errors));
}

export function loadLocalSettings(env: NodeJS.ProcessEnv): Config['local'] {
  return fromEnv(env, (given, errors) => {
    const read = variableReader(given, errors, ['temporal']);
    return { ...readEmbedded(read), ...readLocalServers(read) };
  });
}

function fromEnv<T>(env: NodeJS.ProcessEnv, read: (given: NodeJS.ProcessEnv, errors: ErrorList) => T): T {
  return orThrow((errors) => read(withoutQuoted(env, errors), errors));
}

/** Reads keys written as in `PAYLOAD_KEYS`. @throws ConfigError that names `from` */
export function readPayloadKeys(written: string, from: string): NamedKey[] {
  return orThrow((errors) => errors.read(from, environment.shape.PAYLOAD_KEYS, written) ?? []);
}

/** Reads a token written as in `CODEC_TOKEN`. @throws ConfigError that names `from` */
export function readCodecToken(written: string, from: string): string {
  return orThrow((errors) => errors.read(from, environment.shape.CODEC_TOKEN, written) ?? '');
}

function readClientSettings(
  env: NodeJS.ProcessEnv,
  needsKeys: boolean,
  errors: ErrorList,
  read: ReadVariable = variableReader(env, errors),
) {
  const integrations = readIntegrations(env, needsKeys, errors);
  checkProxies(env, errors);
  const local = readEmbedded(read);
  const settings = {
    integrations,
    findIntegration: (name: string): Integration | undefined => integrations.get(name),
    cardStash: { url: read('CARD_STASH_URL'), keys: read('CARD_STASH_KEYS') ?? [] },
    payloadKeys: read('PAYLOAD_KEYS') ?? [],
    payloadsRequired: read('PAYLOADS_REQUIRED') === 'true',
    allowPlaintext: read('ALLOW_PLAINTEXT') ?? [],
    temporal: readTemporal(env, local.temporalPort, errors),
    local,
  };
  const { cardStash, payloadKeys, payloadsRequired, temporal } = settings;
  if (cardStash.url !== 'memory:' && cardStash.keys.length === 0) {
    errors.addMissing(
      'CARD_STASH_KEYS',
      'is required with a Redis in CARD_STASH_URL; all processes need the same',
    );
  }
  // The embedded server's keys are created for it.
  if (payloadsRequired && payloadKeys.length === 0 && !temporal.embedded) {
    errors.add('PAYLOADS_REQUIRED', 'requires PAYLOAD_KEYS: without a key nothing is encrypted');
  }
  return settings;
}

/** With a malformed proxy no request could be sent, and each would look as if it had been. */
function checkProxies(env: NodeJS.ProcessEnv, errors: ErrorList): void {
  for (const [name, proxy] of Object.entries(env)) {
    if (!/^(?:https?|all)_proxy$/i.test(name) || !isSet(proxy)) continue;
    const address = proxy.includes('://') ? proxy : `http://${proxy}`;
    if (!/^https?:/i.test(address) || !URL.canParse(address))
      errors.add(name, 'must be an HTTP proxy, as http://host:port, with user and password percent-encoded');
  }
}

function readConfig(env: NodeJS.ProcessEnv, role: Role, errors: ErrorList) {
  const [works, serves] = [role !== 'api', role !== 'worker'];
  const read = variableReader(env, errors, READS[role]);
  const client = readClientSettings(env, works, errors, read);
  const { temporal, integrations } = client;
  const each = [...integrations.values()];
  const local = { ...client.local, ...readLocalServers(read) };
  const uiAddresses = ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${local.temporalUiPort}`);
  const codecToken = read('CODEC_TOKEN');
  const config = {
    ...client,
    local,
    api: {
      host: read('API_HOST'),
      port: read('API_PORT'),
      ...readApiKeys(read, serves, integrations, errors),
      maxRps: read('API_MAX_RPS'),
      trustProxy: read('TRUST_PROXY') ?? [],
    },
    webhookSecrets: read('WEBHOOK_SECRETS') ?? [],
    ownWebhookSecrets: readOwnWebhookSecrets(serves ? each : [], errors),
    events: readEvents(read, works ? each : [], errors),
    codec: {
      origins: read('CODEC_ORIGINS') ?? uiAddresses,
      ...(codecToken !== undefined && { token: codecToken }),
    },
    queueTimeZone: read('QUEUE_TIME_ZONE'),
    signIn: readSignIn(read, integrations, errors),
    temporalUiUrl: read('TEMPORAL_UI_URL') ?? (temporal.embedded ? uiAddresses[0] : undefined),
    maxRps: read('SCREENING_MAX_RPS'),
    workerVersion: readWorkerVersion(read, errors),
    metrics: { host: read('METRICS_HOST'), port: read('METRICS_PORT') },
    logLevel: read('LOG_LEVEL'),
  };
  const { host, keys, keysFile, trustProxy } = config.api;
  if (serves && keys.length === 0 && keysFile === undefined) {
    const needed = {
      'to listen on anything but loopback (API_HOST)': !isLoopback(host),
      'with TRUST_PROXY': trustProxy.length > 0,
      'with OIDC_ISSUER': config.signIn !== undefined,
    };
    for (const [why, isNeeded] of Object.entries(needed)) {
      if (isNeeded)
        errors.addMissing('API_KEYS', `is required ${why}: without a key the API admits everybody`);
    }
  }
  const preGateway = each.some(({ workflow }) => workflow === 'pre-gateway');
  const isAlone = works && serves;
  if (preGateway && !isAlone && config.cardStash.url === 'memory:') {
    errors.add(
      'CARD_STASH_URL',
      'must be a Redis, since an integration is pre-gateway: from memory no card reaches a different process. npm run serve is one process',
    );
  }
  checkLiveSettings(config, errors);
  return config;
}

/** What a client of the embedded server needs. */
function readEmbedded(read: ReadVariable) {
  return { temporalPort: read('TEMPORAL_PORT'), dataDir: read('DATA_DIR') };
}

function readLocalServers(read: ReadVariable) {
  return {
    temporalUiPort: read('TEMPORAL_UI_PORT'),
    sandboxPort: read('SANDBOX_PORT'),
    sandboxWebhookUrl: read('SANDBOX_WEBHOOK_URL'),
  };
}

function readApiKeys(
  read: ReadVariable,
  serves: boolean,
  integrations: ReadonlyMap<string, Integration>,
  errors: ErrorList,
): { keys: ApiKey[]; keysFile?: string } {
  const keys = read('API_KEYS');
  const keysFile = read('API_KEYS_FILE');
  if (keysFile === undefined) return { keys: keys ?? [] };
  if (keys !== undefined)
    errors.add('API_KEYS', 'must not be set together with API_KEYS_FILE; move its keys to the file');
  return { keys: serves ? (readApiKeysFile(keysFile, integrations, errors) ?? []) : [], keysFile };
}

function readWorkerVersion(read: ReadVariable, errors: ErrorList): WorkerDeploymentVersion | undefined {
  const deploymentName = read('WORKER_DEPLOYMENT_NAME');
  const buildId = read('WORKER_BUILD_ID');
  if (deploymentName !== undefined && buildId !== undefined) return { deploymentName, buildId };
  const together = 'together they name a version of the workers';
  if (deploymentName !== undefined) {
    errors.addMissing('WORKER_BUILD_ID', `is required with WORKER_DEPLOYMENT_NAME: ${together}`);
  } else if (buildId !== undefined) {
    errors.addMissing('WORKER_DEPLOYMENT_NAME', `is required with WORKER_BUILD_ID: ${together}`);
  }
  return undefined;
}

/** Returns the address of an API on this machine, `http://host:port`. */
export function localApiAddress({ host, port }: { host: string; port: number }): string {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  return `http://${everywhere[host] ?? (host.includes(':') ? `[${host}]` : host)}:${port}`;
}
