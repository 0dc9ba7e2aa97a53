/**
 * Every variable of every process but the sandbox, with what it means: settings are read by this list, and
 * `docs/configuration.md` is made of it.
 */
import { z } from 'zod';
import { readRedisAddress } from '../cards/card-stash.ts';
import { API_KEYS_FILE, apiKeys } from './api-keys.ts';
import {
  allowedPlaintext,
  baseUrl,
  list,
  namedKeys,
  networks,
  origins,
  pathToken,
  port,
  targetUrl,
  timeZone,
  type Variable,
  webhookSigningSecrets,
  word,
} from './values.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Who reads a variable. */
export type Process = 'worker' | 'api' | 'start' | 'setup' | 'temporal' | 'sandbox';

/** A variable as a person sees it. */
export interface DocumentedVariable {
  name: string;
  /** What it stands for, with units. */
  about: string;
  readBy: readonly Process[];
  /** As it would be written. */
  fallback?: string;
  /** Its value is never shown. */
  secret?: true;
}

type Details = Omit<DocumentedVariable, 'name'>;

function variable<T, Given extends Details>(
  name: string,
  schema: z.ZodType<T>,
  details: Given,
): Variable<T> & Given {
  return { name, schema, ...details };
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

/** One at least: a list of nothing would leave payloads in plain unseen. */
const payloadKeys = namedKeys().refine((keys) => keys.length > 0, 'must hold at least one key "id:base64"');

const stashUrl = z
  .string()
  .refine(
    (url) => url === 'memory:' || readRedisAddress(url) !== undefined,
    'must be "memory:", or redis[s]://[user][:password]@host[:port][/database], user and password percent-encoded',
  );

/** A part of a version's name; the server joins them by a dot. */
const versionPart = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/, 'must be 1 to 100 letters, digits, _, - or (not first) .');
const deploymentName = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, _ or -');

const everybody: readonly Process[] = ['worker', 'api', 'start'];
const temporalsClients: readonly Process[] = [...everybody, 'setup'];
/** What the embedded server's namespace may come from. */
const namesNamespace = ['TEMPORAL_NAMESPACE', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE'];

/** What is read by its schema. */
export const variables = {
  maxRps: variable('SCREENING_MAX_RPS', perSecond, {
    about: 'Polls of reviews a second, over all workers together',
    readBy: ['worker', 'start'],
    fallback: '20',
  }),
  apiHost: variable('API_HOST', z.string(), {
    about: 'Address that the API listens on; anything but loopback asks for `API_KEYS` or `API_KEYS_FILE`',
    readBy: ['api', 'start'],
    fallback: '127.0.0.1',
  }),
  apiPort: variable('API_PORT', port(), {
    about: 'Port of the API, of its `/metrics` and of the webhook receiver',
    readBy: ['api', 'start'],
    fallback: '8080',
  }),
  apiKeys: variable('API_KEYS', apiKeys(), {
    about:
      'Bearer keys of the API, a comma list `name:key`, all valid, each with the scopes `screen`, `read` and `act`; without one it listens on loopback only',
    readBy: ['api', 'start'],
    secret: true,
  }),
  apiKeysFile: variable(API_KEYS_FILE, z.string(), {
    about:
      'Path of a file with the API’s keys, in place of `API_KEYS`: their hashes, scopes and integrations (`docs/security.md`); read again when it changes',
    readBy: ['api', 'start'],
  }),
  apiMaxRps: variable('API_MAX_RPS', requestsPerSecond, {
    about: 'Requests a second that each API key may send',
    readBy: ['api', 'start'],
    fallback: '100',
  }),
  trustProxy: variable('TRUST_PROXY', networks(), {
    about:
      'Addresses of the proxies before the API, or networks such as `10.0.0.0/8`, a comma list: from these `X-Forwarded-For` is believed; not set: from nobody',
    readBy: ['api', 'start'],
  }),
  webhookSecrets: variable('WEBHOOK_SECRETS', list(), {
    about:
      'Secrets of the screening service’s webhooks, a comma list, all valid; without one all are refused',
    readBy: ['api', 'start'],
    secret: true,
  }),
  eventsUrl: variable('EVENTS_URL', targetUrl(), {
    about:
      'Where events are sent; not set: nobody wants them; an integration may name another address (`eventsUrl`)',
    readBy: ['worker', 'start'],
  }),
  eventsSecrets: variable('EVENTS_SECRETS', webhookSigningSecrets(), {
    about:
      'Sign the events, a comma list, each event with all of them: `whsec_` and 24 to 64 random bytes in base64; required with `EVENTS_URL`; an integration may name another variable (`eventsSecretEnv`)',
    readBy: ['worker', 'start'],
    secret: true,
  }),
  cardStashUrl: variable('CARD_STASH_URL', stashUrl, {
    about: 'The card stash: `memory:` (one process only) or `redis[s]://…`, with its password',
    readBy: everybody,
    fallback: 'memory:',
    secret: true,
  }),
  cardStashKeys: variable('CARD_STASH_KEYS', namedKeys(), {
    about:
      'Keys of the stash, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; required with Redis, and the same in every process',
    readBy: everybody,
    secret: true,
  }),
  payloadKeys: variable('PAYLOAD_KEYS', payloadKeys, {
    about:
      'Keys of everything in Temporal’s history, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; the same in every process (`docs/encryption.md`)',
    readBy: everybody,
    secret: true,
  }),
  payloadsRequired: variable('PAYLOADS_REQUIRED', word(['true', 'false']), {
    about: '`true`: what Temporal has in plain is refused (`docs/encryption.md`)',
    readBy: everybody,
    fallback: 'false',
  }),
  allowPlaintext: variable('ALLOW_PLAINTEXT', allowedPlaintext(), {
    about: 'What mode `live` may leave in plain, and why: `redis:…,temporal:…,events:…` (`docs/security.md`)',
    readBy: everybody,
  }),
  temporalUiUrl: variable('TEMPORAL_UI_URL', baseUrl(), {
    about:
      'Address of the Temporal UI, which the queue page links to; not set: the embedded UI’s, or no links with `TEMPORAL_ADDRESS`',
    readBy: ['api', 'start'],
  }),
  queueTimeZone: variable('QUEUE_TIME_ZONE', timeZone, {
    about: 'Time zone of the queue page, such as `Europe/Berlin`',
    readBy: ['api', 'start'],
    fallback: 'UTC',
  }),
  codecOrigins: variable('CODEC_ORIGINS', origins(), {
    about: 'Web origins whose pages may have payloads decrypted, a comma list; not set: the embedded UI’s',
    readBy: ['api', 'start'],
  }),
  codecToken: variable('CODEC_TOKEN', pathToken(), {
    about: 'Makes an address of the codec that needs no API key, for the Temporal UI',
    readBy: ['api', 'start'],
    secret: true,
  }),
  workerDeploymentName: variable('WORKER_DEPLOYMENT_NAME', deploymentName, {
    about: 'Name of the worker deployment; not set: the workers are unversioned',
    readBy: ['worker', 'setup'],
  }),
  workerBuildId: variable('WORKER_BUILD_ID', versionPart, {
    about: 'Build of the worker deployment, another one for each release; required with the name',
    readBy: ['worker', 'setup'],
  }),
  metricsHost: variable('METRICS_HOST', z.ipv4('must be an IPv4 address'), {
    about: 'Address that a worker serves its metrics on',
    readBy: ['worker', 'start'],
    fallback: '127.0.0.1',
  }),
  metricsPort: variable('METRICS_PORT', port(), {
    about: 'Port of a worker’s metrics',
    readBy: ['worker', 'start'],
    fallback: '9464',
  }),
  logLevel: variable('LOG_LEVEL', word(LOG_LEVELS), {
    about: `Lines below it are left out: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
    readBy: everybody,
    fallback: 'info',
  }),
  temporalPort: variable('TEMPORAL_PORT', port(), {
    about: 'Port of the embedded server, where it is looked for, too, unless an address is named',
    readBy: [...temporalsClients, 'temporal'],
    fallback: '7233',
  }),
  temporalUiPort: variable('TEMPORAL_UI_PORT', port(), {
    about: 'Port of the embedded server’s UI, which the queue page links to, and which may use the codec',
    readBy: ['api', 'start', 'temporal'],
    fallback: '8233',
  }),
  dataDir: variable('DATA_DIR', z.string(), {
    about: 'Folder of the embedded server’s and the sandbox’s state',
    readBy: ['start', 'temporal', 'sandbox'],
    fallback: '.data',
  }),
  sandboxPort: variable('SANDBOX_PORT', port(), {
    about: 'Port of the sandbox',
    readBy: ['start', 'sandbox'],
    fallback: '8090',
  }),
  sandboxWebhookUrl: variable('SANDBOX_WEBHOOK_URL', targetUrl(), {
    about: 'Where the sandbox sends its webhooks; `npm start` names its own API',
    readBy: ['start', 'sandbox'],
    secret: true,
  }),
};

/** What other readers take: the policy's, Temporal's own, and the sandbox's. */
const furtherVariables: readonly DocumentedVariable[] = [
  {
    name: 'SCREENING_CONFIG',
    about:
      'Path of the policy file (`docs/policy.md`); not set: one integration, `default`, from the five below',
    readBy: everybody,
  },
  {
    name: 'SCREENING_API_KEY',
    about:
      'Key of the screening service; a policy file may name other variables (`apiKeyEnv`). The API needs it only to read transactions',
    readBy: everybody,
    secret: true,
  },
  { name: 'SCREENING_BASE_URL', about: 'The service’s screening address', readBy: everybody },
  { name: 'SCREENING_PORTAL_BASE_URL', about: 'The service’s portal address', readBy: everybody },
  { name: 'SCREENING_MODE', about: 'The key’s mode: `test` or `live`', readBy: everybody, fallback: 'test' },
  {
    name: 'SCREENING_WORKFLOW',
    about: 'Integration workflow: `pre-gateway`, `pre-acceptance` or `post-acceptance`',
    readBy: everybody,
    fallback: 'pre-acceptance',
  },
  ...[
    ['TEMPORAL_ADDRESS', 'The Temporal server, `host:port`; not set: the embedded one on this machine'],
    ['TEMPORAL_NAMESPACE', 'Its namespace, which the embedded one is started with', 'default'],
    ['TEMPORAL_API_KEY', 'Key of Temporal Cloud'],
    ['TEMPORAL_TLS', '`true` for TLS; certificates by the `TEMPORAL_TLS_…` variables'],
    ['TEMPORAL_CONFIG_FILE', 'Settings file with profiles, as every Temporal tool reads it'],
    ['TEMPORAL_PROFILE', 'The profile to take from it', 'default'],
  ].map(
    ([name = '', about = '', fallback]): DocumentedVariable => ({
      name,
      about,
      readBy: namesNamespace.includes(name) ? [...temporalsClients, 'temporal'] : temporalsClients,
      ...(fallback !== undefined && { fallback }),
      ...(name === 'TEMPORAL_API_KEY' && { secret: true as const }),
    }),
  ),
  {
    name: 'SANDBOX_HOST',
    about: 'Address that the sandbox listens on',
    readBy: ['sandbox'],
    fallback: '127.0.0.1',
  },
  {
    name: 'SANDBOX_WEBHOOK_SECRET',
    about: 'Sent by the sandbox in the header `X-Webhook-Secret`',
    readBy: ['sandbox'],
    secret: true,
  },
];

/** @returns every variable, as a person sees it */
export function documentedVariables(): DocumentedVariable[] {
  return [...furtherVariables, ...Object.values(variables)];
}
