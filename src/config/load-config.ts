/** Reads all settings of a process, and lists all their faults. */
import type { WorkerDeploymentVersion } from '@temporalio/common';
import type { NamedKey } from '../codec/sealer.ts';
import type { Fault } from '../orders/errors.ts';
import type { FindIntegration, Integration } from '../orders/policy.ts';
import { readIntegrations } from './integrations.ts';
import { isSet, variableReader, variables } from './known-variables.ts';
import { type CodecSettings, readCodec, readTemporal, type TemporalSettings } from './temporal.ts';
import { FaultList, type HashedKey, type LogLevel } from './values.ts';

/** Which process reads its settings: a worker needs the service's keys, the API the rules for listening. */
export type Role = 'all' | 'worker' | 'api';

/** Settings of every process. It holds secrets: never log it. */
export interface Config {
  integrations: ReadonlyMap<string, Integration>;
  findIntegration: FindIntegration;
  /** Background calls to the service a second. */
  maxRps: number;
  /** Without keys the API listens on loopback only. `maxRps`: requests a second that each key may send to this process. */
  api: { host: string; port: number; keys: HashedKey[]; maxRps: number };
  /** All valid; with none every webhook is refused. */
  webhookSecrets: string[];
  /** Absent: nobody wants events. */
  events?: { url: string; secret: string };
  /** `memory:`, or a Redis, with its password. The first key encrypts, all decrypt; none (`memory:` only): a random one. */
  cardStash: { url: string; keys: NamedKey[] };
  /** Of the payload codec. The first encrypts, all decrypt; none: payloads stay in plain. */
  payloadKeys: NamedKey[];
  codec: CodecSettings;
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

/** Settings of the embedded server and the sandbox. */
export interface LocalSettings {
  temporalPort: number;
  temporalUiPort: number;
  dataDir: string;
  sandboxPort: number;
  /** Where the sandbox sends its webhooks. */
  sandboxWebhookUrl?: string;
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
): Pick<Config, 'temporal' | 'findIntegration' | 'cardStash' | 'payloadKeys' | 'local'> {
  const faults = new FaultList();
  const integrations = readIntegrations(env, false, faults);
  const local = readLocal(env, faults);
  const settings = {
    temporal: readTemporal(env, local.temporalPort, faults),
    findIntegration: (name: string) => integrations.get(name),
    cardStash: readCardStash(env, faults),
    payloadKeys: variableReader(env, faults)(variables.payloadKeys) ?? [],
    local,
  };
  faults.throwIfAny();
  return settings;
}

function readConfig(env: NodeJS.ProcessEnv, role: Role, faults: FaultList): Config {
  const read = variableReader(env, faults);
  const integrations = readIntegrations(env, role !== 'api', faults);
  const local = readLocal(env, faults);
  const events = readEvents(env, faults);
  const workerVersion = readWorkerVersion(env, faults);
  const apiKeyList = read(variables.apiKeys);
  const temporal = readTemporal(env, local.temporalPort, faults);
  const embeddedUi = temporal.embedded ? `http://127.0.0.1:${local.temporalUiPort}` : undefined;
  const temporalUiUrl = read(variables.temporalUiUrl) ?? embeddedUi;
  const config: Config = {
    integrations,
    findIntegration: (name) => integrations.get(name),
    maxRps: read(variables.maxRps),
    api: {
      host: read(variables.apiHost),
      port: read(variables.apiPort),
      keys: apiKeyList ?? [],
      maxRps: read(variables.apiMaxRps),
    },
    webhookSecrets: read(variables.webhookSecrets) ?? [],
    cardStash: readCardStash(env, faults),
    payloadKeys: read(variables.payloadKeys) ?? [],
    codec: readCodec(read, local.temporalUiPort),
    metrics: {
      host: read(variables.metricsHost),
      port: read(variables.metricsPort),
    },
    logLevel: read(variables.logLevel),
    temporal,
    local,
    ...(temporalUiUrl !== undefined && { temporalUiUrl }),
    ...(events && { events }),
    ...(workerVersion && { workerVersion }),
  };
  const noApiKeys = apiKeyList?.length === 0 || !isSet(env.API_KEYS);
  if (role !== 'worker' && noApiKeys && !isLoopback(config.api.host)) {
    faults.add('API_KEYS', 'is required to listen on anything but loopback (API_HOST)');
  }
  return config;
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

function readLocal(env: NodeJS.ProcessEnv, faults: FaultList): LocalSettings {
  const read = variableReader(env, faults);
  const sandboxWebhookUrl = read(variables.sandboxWebhookUrl);
  return {
    temporalPort: read(variables.temporalPort),
    temporalUiPort: read(variables.temporalUiPort),
    dataDir: read(variables.dataDir),
    sandboxPort: read(variables.sandboxPort),
    ...(sandboxWebhookUrl && { sandboxWebhookUrl }),
  };
}

function readEvents(env: NodeJS.ProcessEnv, faults: FaultList): Config['events'] {
  const read = variableReader(env, faults);
  const url = read(variables.eventsUrl);
  const secret = read(variables.eventsSecret);
  if (isSet(env.EVENTS_URL) && !isSet(env.EVENTS_SECRET)) {
    faults.add('EVENTS_SECRET', 'is required with EVENTS_URL: events are signed');
  }
  return url === undefined || secret === undefined ? undefined : { url, secret };
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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
