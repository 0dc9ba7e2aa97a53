/** Reads all settings of a process, and lists all their faults. */
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { NamedKey } from '../codec/sealer.ts';
import type { Fault } from '../contract/errors.ts';
import type { FindIntegration, Integration } from '../contract/policy.ts';
import { type ApiKey, readApiKeysFile } from './api-keys.ts';
import { checkSurroundings, readIntegrations } from './integrations.ts';
import { type LogLevel, variables } from './known-variables.ts';
import {
  type CodecSettings,
  type LocalSettings,
  readCodec,
  readLocal,
  readPayloads,
  readTemporal,
  type TemporalSettings,
} from './temporal.ts';
import { type AllowedPlaintext, FaultList, isLoopback, isSet, variableReader } from './values.ts';

/** Which process reads its settings: a worker needs the service's keys, the API the rules for listening. */
export type Role = 'all' | 'worker' | 'api';

/** Settings of every process. It holds secrets: never log it. */
export interface Config {
  integrations: ReadonlyMap<string, Integration>;
  findIntegration: FindIntegration;
  /** Of the moments on the queue page. */
  queueTimeZone: string;
  /** Background calls to the service a second. */
  maxRps: number;
  /**
   * Without keys the API listens on loopback only. `keysFile`: where the keys came from, and are read again. `maxRps`:
   * requests a second that each key may send to this process. `trustProxy`: whose `X-Forwarded-For` is believed.
   */
  api: {
    host: string;
    port: number;
    keys: ApiKey[];
    keysFile?: string;
    maxRps: number;
    trustProxy: string[];
  };
  /** All valid; with none every webhook is refused. */
  webhookSecrets: string[];
  /** Each integration's own receiver, and that of all others. Where there is none, nobody wants events. */
  events: { own: ReadonlyMap<string, EventsReceiver>; common?: EventsReceiver };
  /** `memory:`, or a Redis, with its password. The first key encrypts, all decrypt; none (`memory:` only): a random one. */
  cardStash: { url: string; keys: NamedKey[] };
  /** Of the payload codec. The first encrypts, all decrypt; none: payloads stay in plain. */
  payloadKeys: NamedKey[];
  /** What Temporal has in plain is refused. */
  payloadsRequired: boolean;
  codec: CodecSettings;
  /** What may go in plain beyond this machine although an integration is live. */
  allowPlaintext: AllowedPlaintext[];
  /** Where a worker serves its metrics. */
  metrics: { host: string; port: number };
  /** Absent: the workers are unversioned. */
  workerVersion?: WorkerDeploymentVersion;
  logLevel: LogLevel;
  temporal: TemporalSettings;
  /** What the queue page links to. Absent: nothing is known of a UI. */
  temporalUiUrl?: string;
  local: LocalSettings;
}

/** Where events are sent. Each event is signed with all of the secrets, so that one can be changed without a gap. */
export interface EventsReceiver {
  url: string;
  secrets: string[];
}

/**
 * Reads all settings of a process, once, when it starts.
 * @throws ConfigError that lists every fault, by variable or by path in the policy file
 */
export function loadConfig(env: NodeJS.ProcessEnv, role: Role = 'all'): Config {
  const faults = new FaultList();
  const config = readConfig(env, role, faults);
  faults.throwIfAny();
  return config;
}

/** @returns all settings with their faults, for who looks for faults: what can't be read has its default, or is absent */
export function inspectConfig(env: NodeJS.ProcessEnv): { config: Config; faults: readonly Fault[] } {
  const faults = new FaultList();
  return { config: readConfig(env, 'all', faults), faults: faults.all };
}

/** Reads what the client library stands on, and nothing of a server. @throws ConfigError that lists every fault */
export function loadClientSettings(
  env: NodeJS.ProcessEnv,
): Pick<Config, 'temporal' | 'findIntegration' | 'cardStash' | 'payloadKeys' | 'payloadsRequired' | 'local'> {
  const faults = new FaultList();
  const integrations = readIntegrations(env, false, faults);
  const local = readLocal(env, faults);
  const read = variableReader(env, faults);
  const temporal = readTemporal(env, local.temporalPort, faults);
  const settings = {
    temporal,
    findIntegration: (name: string) => integrations.get(name),
    cardStash: readCardStash(env, faults),
    ...readPayloads(read, temporal, faults),
    local,
  };
  const allowPlaintext = read(variables.allowPlaintext) ?? [];
  checkSurroundings(integrations, { ...settings, allowPlaintext }, faults);
  faults.throwIfAny();
  return settings;
}

function readConfig(env: NodeJS.ProcessEnv, role: Role, faults: FaultList): Config {
  const read = variableReader(env, faults);
  const integrations = readIntegrations(env, role !== 'api', faults);
  const local = readLocal(env, faults);
  const events = readEvents(env, role === 'api' ? [] : [...integrations.values()], faults);
  const workerVersion = readWorkerVersion(env, faults);
  const { none: noApiKeys, ...apiKeys } = readApiKeys(env, role, new Set(integrations.keys()), faults);
  const temporal = readTemporal(env, local.temporalPort, faults);
  const embeddedUi = temporal.embedded ? `http://127.0.0.1:${local.temporalUiPort}` : undefined;
  const temporalUiUrl = read(variables.temporalUiUrl) ?? embeddedUi;
  const config: Config = {
    integrations,
    queueTimeZone: read(variables.queueTimeZone),
    findIntegration: (name) => integrations.get(name),
    maxRps: read(variables.maxRps),
    api: {
      host: read(variables.apiHost),
      port: read(variables.apiPort),
      ...apiKeys,
      maxRps: read(variables.apiMaxRps),
      trustProxy: read(variables.trustProxy) ?? [],
    },
    webhookSecrets: read(variables.webhookSecrets) ?? [],
    cardStash: readCardStash(env, faults),
    events,
    ...readPayloads(read, temporal, faults),
    codec: readCodec(read, local.temporalUiPort),
    allowPlaintext: read(variables.allowPlaintext) ?? [],
    metrics: {
      host: read(variables.metricsHost),
      port: read(variables.metricsPort),
    },
    logLevel: read(variables.logLevel),
    temporal,
    local,
    ...(temporalUiUrl !== undefined && { temporalUiUrl }),
    ...(workerVersion && { workerVersion }),
  };
  if (role !== 'worker' && noApiKeys && !isLoopback(config.api.host)) {
    faults.add('API_KEYS', 'is required to listen on anything but loopback (API_HOST)');
  }
  const eventsUrls = Object.fromEntries(
    [...integrations.values()]
      .filter(({ mode }) => mode === 'live')
      .map(({ name, eventsUrl }) => [`integrations.${name}.eventsUrl`, eventsUrl]),
  );
  const common = { EVENTS_URL: events.common?.url };
  checkSurroundings(integrations, { ...config, eventsUrls: { ...common, ...eventsUrls } }, faults);
  return config;
}

/** The keys from the list or from the file; `none`: nobody named any. */
function readApiKeys(
  env: NodeJS.ProcessEnv,
  role: Role,
  integrations: ReadonlySet<string>,
  faults: FaultList,
): { keys: ApiKey[]; keysFile?: string; none: boolean } {
  const read = variableReader(env, faults);
  const listed = read(variables.apiKeys);
  const keysFile = read(variables.apiKeysFile);
  if (keysFile === undefined) {
    return { keys: listed ?? [], none: listed?.length === 0 || !isSet(env.API_KEYS) };
  }
  if (isSet(env.API_KEYS)) {
    faults.add('API_KEYS', 'must be empty with API_KEYS_FILE: keys stand in one place');
  }
  const keys = role === 'worker' ? [] : (readApiKeysFile(keysFile, integrations, faults) ?? []);
  return { keys, keysFile, none: false };
}

/** Reads only where the Temporal server is. @throws ConfigError that lists every fault */
export function loadTemporalSettings(env: NodeJS.ProcessEnv): TemporalSettings {
  const faults = new FaultList();
  const temporal = readTemporal(env, readLocal(env, faults).temporalPort, faults);
  faults.throwIfAny();
  return temporal;
}

/** Reads only the version of the workers; undefined: they are unversioned. @throws ConfigError that lists every fault */
export function loadWorkerVersion(env: NodeJS.ProcessEnv): WorkerDeploymentVersion | undefined {
  const faults = new FaultList();
  const version = readWorkerVersion(env, faults);
  faults.throwIfAny();
  return version;
}

/** Reads only the settings of the embedded server and the sandbox. @throws ConfigError that lists every fault */
export function loadLocalSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const faults = new FaultList();
  const local = readLocal(env, faults);
  faults.throwIfAny();
  return local;
}

function readEvents(
  env: NodeJS.ProcessEnv,
  integrations: readonly Integration[],
  faults: FaultList,
): Config['events'] {
  const read = variableReader(env, faults);
  const url = read(variables.eventsUrl);
  const secrets = read(variables.eventsSecrets);
  if (isSet(env.EVENTS_URL) && !isSet(env.EVENTS_SECRETS)) {
    faults.add('EVENTS_SECRETS', 'is required with EVENTS_URL: events are signed');
  }
  const own = new Map<string, EventsReceiver>();
  for (const integration of integrations) {
    const receiver = readOwnReceiver(integration, { url, secrets }, faults);
    if (receiver !== undefined) own.set(integration.name, receiver);
  }
  return { own, ...(url !== undefined && secrets !== undefined && { common: { url, secrets } }) };
}

/** @returns undefined when the integration's events go where all others go, or after its faults were added */
function readOwnReceiver(
  { name, eventsUrl, eventsSecret }: Integration,
  common: { url: string | undefined; secrets: string[] | undefined },
  faults: FaultList,
): EventsReceiver | undefined {
  if (eventsUrl === undefined && eventsSecret === undefined) return undefined;
  const url = eventsUrl ?? common.url;
  const path = `integrations.${name}.eventsSecretEnv`;
  if (eventsSecret === undefined) {
    if (common.secrets === undefined) {
      faults.add(path, 'is required with eventsUrl unless EVENTS_SECRETS is set: events are signed');
    }
    return url === undefined || common.secrets === undefined ? undefined : { url, secrets: common.secrets };
  }
  const held = eventsSecret();
  const read = variables.eventsSecrets.schema.safeParse(held);
  if (read.success) return url === undefined ? undefined : { url, secrets: read.data };
  const words = isSet(held) ? read.error.issues.map(({ message }) => message).join('; ') : 'is not set';
  faults.add(path, `the variable that it names ${words}`);
  return undefined;
}

function readCardStash(env: NodeJS.ProcessEnv, faults: FaultList): Config['cardStash'] {
  const read = variableReader(env, faults);
  const url = read(variables.cardStashUrl);
  const keys = read(variables.cardStashKeys);
  if (url !== 'memory:' && (keys?.length === 0 || !isSet(env.CARD_STASH_KEYS))) {
    faults.add('CARD_STASH_KEYS', 'is required with a Redis in CARD_STASH_URL: its processes share the keys');
  }
  return { url, keys: keys ?? [] };
}

/** The version of the workers: both variables or none. */
function readWorkerVersion(env: NodeJS.ProcessEnv, faults: FaultList): WorkerDeploymentVersion | undefined {
  const read = variableReader(env, faults);
  const { workerDeploymentName, workerBuildId } = variables;
  const deploymentName = read(workerDeploymentName);
  const buildId = read(workerBuildId);
  if (isSet(env[workerDeploymentName.name]) !== isSet(env[workerBuildId.name])) {
    const [missing, given] = isSet(env[workerBuildId.name])
      ? [workerDeploymentName.name, workerBuildId.name]
      : [workerBuildId.name, workerDeploymentName.name];
    faults.add(missing, `is required with ${given}: both together name a version of the workers`);
  }
  return deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId };
}

/** @returns where an API that listens there is reached from this machine, `http://host:port` */
export function localApiAddress({ host, port }: { host: string; port: number }): string {
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  return `http://${everywhere[host] ?? (host.includes(':') ? `[${host}]` : host)}:${port}`;
}
