/**
 * Every variable of every process but the sandbox, with what it means: settings are read by this list, and
 * `docs/configuration.md` is made of it.
 */
import { z } from 'zod';
import { readRedisAddress } from '../cards/redis-address.ts';
import {
  apiKeys,
  baseUrl,
  type FaultList,
  LOG_LEVELS,
  list,
  namedKeys,
  origins,
  pathToken,
  port,
  targetUrl,
  webhookSigningSecret,
  word,
} from './values.ts';

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

/** A variable that is read by its schema. */
export interface Variable<T> extends DocumentedVariable {
  schema: z.ZodType<T>;
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
    about: 'Address that the API listens on; anything but loopback asks for `API_KEYS`',
    readBy: ['api', 'start'],
    fallback: '127.0.0.1',
  }),
  apiPort: variable('API_PORT', port(), {
    about: 'Port of the API, of its `/metrics` and of the webhook receiver',
    readBy: ['api', 'start'],
    fallback: '8080',
  }),
  apiKeys: variable('API_KEYS', apiKeys(), {
    about: 'Bearer keys of the API, a comma list, all valid; without one it listens on loopback only',
    readBy: ['api', 'start'],
    secret: true,
  }),
  apiMaxRps: variable('API_MAX_RPS', requestsPerSecond, {
    about: 'Requests a second that each API key may send',
    readBy: ['api', 'start'],
    fallback: '100',
  }),
  webhookSecrets: variable('WEBHOOK_SECRETS', list(), {
    about:
      'Secrets of the screening service’s webhooks, a comma list, all valid; without one all are refused',
    readBy: ['api', 'start'],
    secret: true,
  }),
  eventsUrl: variable('EVENTS_URL', targetUrl(), {
    about: 'Where events are sent; not set: nobody wants them',
    readBy: ['worker', 'start'],
  }),
  eventsSecret: variable('EVENTS_SECRET', webhookSigningSecret(), {
    about: 'Signs the events: `whsec_` and 24 to 64 random bytes in base64; required with `EVENTS_URL`',
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
  temporalUiUrl: variable('TEMPORAL_UI_URL', baseUrl(), {
    about:
      'Address of the Temporal UI, which the queue page links to; not set: the embedded UI’s, or no links with `TEMPORAL_ADDRESS`',
    readBy: ['api', 'start'],
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
    about: 'Key of the screening service; a policy file may name other variables (`apiKeyEnv`)',
    readBy: ['worker', 'start'],
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

/** Reads one variable. A faulty one adds its faults. */
export interface ReadVariable {
  /** @returns what is written; when nothing is, or nothing right, the fallback */
  <T>(variable: Variable<T> & { fallback: string }): T;
  /** @returns undefined when it isn't set, or after its faults were added */
  <T>(variable: Variable<T>): T | undefined;
}

/** @returns a reader of one variable; an empty one counts as not set */
export function variableReader(env: NodeJS.ProcessEnv, faults: FaultList): ReadVariable {
  function read<T>(variable: Variable<T> & { fallback: string }): T;
  function read<T>(variable: Variable<T>): T | undefined;
  function read<T>({ name, schema, fallback }: Variable<T>): T | undefined {
    const given = isSet(env[name]) ? faults.read(name, schema, env[name]) : undefined;
    return given ?? (fallback === undefined ? undefined : schema.parse(fallback));
  }
  return read;
}

/** Whether a variable holds anything. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
