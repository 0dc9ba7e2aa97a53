import { z } from 'zod';
import type { Fault } from '../orders/errors.ts';
import type { FindIntegration, Integration } from '../orders/integration.ts';
import type { NamedKey } from '../sealer.ts';
import { type CodecSettings, payloadKeys, readCodec } from './codec.ts';
import { FaultList } from './fault-list.ts';
import { readIntegrations } from './integrations.ts';
import { readTemporal, type TemporalSettings } from './temporal.ts';
import {
  apiKeys,
  type HashedKey,
  list,
  namedKeys,
  port,
  targetUrl,
  webhookSigningSecret,
  word,
} from './values.ts';
import { isSet, variables } from './variables.ts';

/** Which process reads its settings: a worker needs the service's keys, the API the rules for listening. */
export type Role = 'all' | 'worker' | 'api';

/** Settings of every process. It holds secrets: never log it. Source: design section 9. */
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
  metricsPort: number;
  logLevel: LogLevel;
  temporal: TemporalSettings;
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

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

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
    payloadKeys: variables(env, faults)('PAYLOAD_KEYS', payloadKeys()) ?? [],
    local,
  };
  faults.throwIfAny();
  return settings;
}

function readConfig(env: NodeJS.ProcessEnv, role: Role, faults: FaultList): Config {
  const variable = variables(env, faults);
  const integrations = readIntegrations(env, role !== 'api', faults);
  const local = readLocal(env, faults);
  const events = readEvents(env, faults);
  const apiKeyList = variable('API_KEYS', apiKeys(), '');
  const config: Config = {
    integrations,
    findIntegration: (name) => integrations.get(name),
    maxRps: variable('SCREENING_MAX_RPS', perSecond, '20') ?? 20,
    api: {
      host: variable('API_HOST', z.string(), '127.0.0.1') ?? '127.0.0.1',
      port: variable('API_PORT', port(), '8080') ?? 8080,
      keys: apiKeyList ?? [],
      maxRps: variable('API_MAX_RPS', requestsPerSecond, '100') ?? 100,
    },
    webhookSecrets: variable('WEBHOOK_SECRETS', list(), '') ?? [],
    cardStash: readCardStash(env, faults),
    payloadKeys: variable('PAYLOAD_KEYS', payloadKeys()) ?? [],
    codec: readCodec(variable, local.temporalUiPort),
    metricsPort: variable('METRICS_PORT', port(), '9464') ?? 9464,
    logLevel: variable('LOG_LEVEL', word(LOG_LEVELS), 'info') ?? 'info',
    temporal: readTemporal(env, local.temporalPort, faults),
    local,
    ...(events && { events }),
  };
  if (role !== 'worker' && apiKeyList?.length === 0 && !isLoopback(config.api.host)) {
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

/** Reads only the settings of the embedded server and the sandbox. @throws ConfigError that lists every fault */
export function loadLocalSettings(env: NodeJS.ProcessEnv): LocalSettings {
  const faults = new FaultList();
  const local = readLocal(env, faults);
  faults.throwIfAny();
  return local;
}

const perSecond = z
  .string()
  .regex(/^\d{1,6}(\.\d+)?$/, { error: 'must be a number of calls a second', abort: true })
  .transform(Number)
  .refine((rate) => rate > 0, 'must be more than 0');

const requestsPerSecond = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, { error: 'must be a whole number of requests a second', abort: true })
  .transform(Number);

const stashUrl = z
  .string()
  .refine(
    (url) => url === 'memory:' || isRedisUrl(url),
    'must be "memory:", or redis[s]://[user][:password]@host[:port][/database]',
  );

function readLocal(env: NodeJS.ProcessEnv, faults: FaultList): LocalSettings {
  const variable = variables(env, faults);
  const sandboxWebhookUrl = variable('SANDBOX_WEBHOOK_URL', targetUrl());
  return {
    temporalPort: variable('TEMPORAL_PORT', port(), '7233') ?? 7233,
    temporalUiPort: variable('TEMPORAL_UI_PORT', port(), '8233') ?? 8233,
    dataDir: variable('DATA_DIR', z.string(), '.data') ?? '.data',
    sandboxPort: variable('SANDBOX_PORT', port(), '8090') ?? 8090,
    ...(sandboxWebhookUrl && { sandboxWebhookUrl }),
  };
}

function readEvents(env: NodeJS.ProcessEnv, faults: FaultList): Config['events'] {
  const variable = variables(env, faults);
  const url = variable('EVENTS_URL', targetUrl());
  const secret = variable('EVENTS_SECRET', webhookSigningSecret());
  if (isSet(env.EVENTS_URL) && !isSet(env.EVENTS_SECRET)) {
    faults.add('EVENTS_SECRET', 'is required with EVENTS_URL: events are signed');
  }
  return url === undefined || secret === undefined ? undefined : { url, secret };
}

function readCardStash(env: NodeJS.ProcessEnv, faults: FaultList): Config['cardStash'] {
  const variable = variables(env, faults);
  const url = variable('CARD_STASH_URL', stashUrl, 'memory:') ?? 'memory:';
  const keys = variable('CARD_STASH_KEYS', namedKeys(), '');
  if (url !== 'memory:' && keys?.length === 0) {
    faults.add('CARD_STASH_KEYS', 'is required with a Redis in CARD_STASH_URL: its processes share the keys');
  }
  return { url, keys: keys ?? [] };
}

function isRedisUrl(written: string): boolean {
  if (!URL.canParse(written)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(written);
  const whole = hostname !== '' && /^\/?\d{0,5}$/.test(pathname) && search === '' && hash === '';
  return /^rediss?:$/.test(protocol) && whole && isDecodable(username) && isDecodable(password);
}

function isDecodable(encoded: string): boolean {
  return !/%(?![\da-f]{2})/i.test(encoded);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
