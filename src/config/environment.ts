/** The schema of the environment. `npm run docs` writes the table of `docs/configuration.md` from it. */
import { z } from 'zod';
import { readRedisAddress } from '../card-stash/card-stash.ts';
import { oneOf } from '../contract/fields.ts';
import { apiKeyList, signInRoles } from './api-keys.ts';
import type { ErrorList } from './errors.ts';
import { integrationKeys } from './policy-schema.ts';
import {
  allowedPlaintext,
  baseUrl,
  IN_QUOTES,
  isQuoted,
  namedKeys,
  networks,
  origins,
  port,
  signingSecrets,
  targetUrl,
  text,
  timeZone,
  webhookSecrets,
} from './values.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Process = 'worker' | 'api' | 'start' | 'setup' | 'temporal' | 'sandbox';

const callsPerSecond = text
  .regex(/^\d{1,6}(\.\d+)?$/, 'must be a number of calls per second')
  .transform(Number)
  .refine((rate) => rate > 0, 'must be more than 0');
const requestsPerSecond = text
  .regex(/^[1-9]\d{0,5}$/, 'must be a whole number of requests per second')
  .transform(Number);
const stashUrl = text.refine(
  (url) => url === 'memory:' || readRedisAddress(url) !== undefined,
  'must be "memory:", or redis[s]://[user][:password]@host[:port][/database], user and password percent-encoded',
);
// An empty list would silently leave payloads unencrypted.
const someKeys = namedKeys.refine((keys) => keys.length > 0, 'must be a list with at least one key');
const codecToken = text.regex(/^[\w-]{22,128}$/, 'must be 22 to 128 random letters, digits, "-" or "_"');
const deploymentName = text.regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be 1 to 100 letters, digits, _ or -');
const buildId = text.regex(
  /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/,
  'must be 1 to 100 letters, digits, _, - or (not first) .',
);
const { mode, workflow } = integrationKeys.shape;

const readers = z.registry<{ readBy: readonly Process[] }>();

function readBy<Shape extends z.ZodRawShape>(processes: readonly Process[], shape: Shape): Shape {
  for (const schema of Object.values(shape)) readers.add(schema, { readBy: processes });
  return shape;
}

/** Marks a variable whose value is never shown. */
function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ secret: true });
}

/** Every variable. `@temporalio/envconfig` reads those of Temporal, the sandbox reads its own. */
export const environment = z.object({
  ...readBy(['worker', 'api', 'start'], {
    SCREENING_CONFIG: text
      .optional()
      .describe(
        'Path of the policy file (`docs/policy.md`); not set: one integration, `default`, from the five below',
      ),
    SCREENING_API_KEY: secret(text.optional()).describe(
      'Key of the screening service; a policy file may name other variables (`apiKeyEnv`). The API needs it only to read transactions, and for a payment gateway’s result of an order that has ended',
    ),
    SCREENING_BASE_URL: baseUrl.optional().describe('The screening address of the screening service'),
    SCREENING_PORTAL_BASE_URL: baseUrl.optional().describe('The portal address of the screening service'),
    SCREENING_MODE: mode.describe('The key’s mode: `test` or `live`'),
    SCREENING_WORKFLOW: workflow.describe(
      'Integration workflow: `pre-gateway`, `pre-acceptance` or `post-acceptance`',
    ),
    CARD_STASH_URL: secret(stashUrl.prefault('memory:')).describe(
      'The card stash: `memory:` (one process only) or `redis[s]://…`, with its password',
    ),
    CARD_STASH_KEYS: secret(namedKeys.optional()).describe(
      'Keys of the stash, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; required with Redis, and the same in every process',
    ),
    PAYLOAD_KEYS: secret(someKeys.optional()).describe(
      'Keys of all data in Temporal’s history, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; the same in every process (`docs/encryption.md`)',
    ),
    PAYLOADS_REQUIRED: oneOf(['true', 'false'])
      .prefault('false')
      .describe('`true`: unencrypted data from Temporal is refused (`docs/encryption.md`)'),
    ALLOW_PLAINTEXT: allowedPlaintext
      .optional()
      .describe(
        'Connections that may be unencrypted in mode `live`, and why: `redis:…,temporal:…,events:…` (`docs/security.md`)',
      ),
    LOG_LEVEL: oneOf(LOG_LEVELS)
      .prefault('info')
      .describe(`The lowest level that is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`),
  }),
  ...readBy(['worker', 'start'], {
    SCREENING_MAX_RPS: callsPerSecond
      .prefault('20')
      .describe(
        'Polls of reviews and last reads before a window closes, per second over all workers together; as many reads after webhooks and rechecks',
      ),
    EVENTS_URL: targetUrl
      .optional()
      .describe('The address that receives events; an integration may name another address (`eventsUrl`)'),
    EVENTS_SECRETS: secret(signingSecrets.optional()).describe(
      'Sign the events, a comma list, each event with all of them: `whsec_` and 24 to 64 random bytes in base64; required with `EVENTS_URL`; an integration may name another variable (`eventsSecretEnv`)',
    ),
    METRICS_HOST: z
      .ipv4('must be an IPv4 address')
      .prefault('127.0.0.1')
      .describe('Address that a worker serves its metrics on'),
    METRICS_PORT: port.prefault('9464').describe('Port of a worker’s metrics'),
  }),
  ...readBy(['api', 'start'], {
    API_HOST: text
      .prefault('127.0.0.1')
      .describe(
        'Address that the API listens on; anything but loopback requires `API_KEYS` or `API_KEYS_FILE`',
      ),
    API_PORT: port
      .prefault('8080')
      .describe('Port of the API, of its `/metrics` and of the webhook receiver'),
    API_KEYS: secret(apiKeyList.optional()).describe(
      'Bearer keys of the API, a comma list `name:key`, all valid, each with the scopes `screen`, `read` and `act`; without one it listens on loopback only',
    ),
    API_KEYS_FILE: text
      .optional()
      .describe(
        'Path of a file with the API’s keys, in place of `API_KEYS`: their hashes, scopes and integrations (`docs/security.md`); read again when it changes',
      ),
    API_MAX_RPS: requestsPerSecond.prefault('100').describe('Requests per second that each API key may send'),
    TRUST_PROXY: networks
      .optional()
      .describe(
        'Proxies in front of the API, a comma list of addresses or networks such as `10.0.0.0/8`: the API trusts their `X-Forwarded-For` and no other; requires `API_KEYS` or `API_KEYS_FILE`',
      ),
    WEBHOOK_SECRETS: secret(webhookSecrets.optional()).describe(
      'Secrets of the screening service’s webhooks, a comma list, all valid; without one all webhooks are refused',
    ),
    QUEUE_TIME_ZONE: timeZone
      .prefault('UTC')
      .describe('Time zone of the queue page, such as `Europe/Berlin`'),
    TEMPORAL_UI_URL: baseUrl
      .optional()
      .describe(
        'Address of the Temporal UI, which the queue page links to; not set: the embedded UI’s, or no links with `TEMPORAL_ADDRESS`',
      ),
    OIDC_ISSUER: baseUrl
      .optional()
      .describe(
        'The OpenID Connect provider with which people sign in to the pages (`docs/security.md`); not set: they use API keys',
      ),
    OIDC_CLIENT_ID: text.optional().describe('The client id of the pages at the provider'),
    OIDC_CLIENT_SECRET: secret(text.optional()).describe(
      'The client secret of the pages; not set: a public client',
    ),
    OIDC_SCOPE: text
      .prefault('openid email')
      .describe('What the pages ask of the provider; some need one more for the roles, such as `groups`'),
    OIDC_ROLES_CLAIM: text.prefault('roles').describe('The claim of the ID token with a person’s roles'),
    OIDC_ROLES: signInRoles
      .optional()
      .describe(
        'What each role may do, as JSON: `{"analyst": {"scopes": ["read", "act"], "integrations": ["eu"]}}`',
      ),
    PAGES_URL: baseUrl
      .optional()
      .describe(
        'The address at which browsers reach the pages, without a path, `http://` only on this machine; register `<PAGES_URL>/sign-in/callback` at the provider',
      ),
    SESSION_KEYS: secret(someKeys.optional()).describe(
      'Encrypt the cookies of people who signed in, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; the same in every API process',
    ),
    CODEC_ORIGINS: origins
      .optional()
      .describe(
        'Web origins whose pages may have payloads decrypted, a comma list; not set: the embedded UI’s',
      ),
    CODEC_TOKEN: secret(codecToken.optional()).describe(
      'Makes an address of the codec that needs no API key, for the Temporal UI',
    ),
  }),
  ...readBy(['worker', 'setup'], {
    WORKER_DEPLOYMENT_NAME: deploymentName
      .optional()
      .describe('Name of the worker deployment; not set: the workers are unversioned'),
    WORKER_BUILD_ID: buildId
      .optional()
      .describe('Build of the worker deployment, different for each release; required with the name'),
  }),
  ...readBy(['worker', 'api', 'start', 'setup'], {
    TEMPORAL_ADDRESS: text
      .optional()
      .describe('The Temporal server, `host:port`; not set: the embedded one on this machine'),
    TEMPORAL_API_KEY: secret(text.optional()).describe('Key of Temporal Cloud'),
    TEMPORAL_TLS: text.optional().describe('`true` for TLS; certificates by the `TEMPORAL_TLS_…` variables'),
  }),
  ...readBy(['worker', 'api', 'start', 'setup', 'temporal'], {
    TEMPORAL_NAMESPACE: text
      .prefault('default')
      .describe('The namespace; the embedded server creates it when it starts'),
    TEMPORAL_CONFIG_FILE: text
      .optional()
      .describe('Settings file with profiles, as every Temporal tool reads it'),
    TEMPORAL_PROFILE: text.prefault('default').describe('The profile of that file'),
    TEMPORAL_PORT: port
      .prefault('7233')
      .describe('Port of the embedded server; every process connects to it unless an address is set'),
  }),
  ...readBy(['api', 'start', 'temporal'], {
    TEMPORAL_UI_PORT: port
      .prefault('8233')
      .describe(
        'Port of the embedded server’s UI, which the queue page links to, and which may use the codec',
      ),
  }),
  ...readBy(['start', 'temporal', 'sandbox'], {
    DATA_DIR: text.prefault('.data').describe('Folder of the embedded server’s and the sandbox’s state'),
  }),
  ...readBy(['start', 'sandbox'], {
    SANDBOX_PORT: port.prefault('8090').describe('Port of the sandbox'),
    SANDBOX_WEBHOOK_URL: secret(targetUrl.optional()).describe(
      'The address that the sandbox sends its webhooks to; `npm start` sets its own API',
    ),
  }),
  ...readBy(['sandbox'], {
    SANDBOX_HOST: text.prefault('127.0.0.1').describe('Address that the sandbox listens on'),
    SANDBOX_WEBHOOK_SECRET: secret(text.optional()).describe(
      'Sent by the sandbox in the header `X-Webhook-Secret`',
    ),
  }),
});
type Environment = z.output<typeof environment>;

/** Returns the value of a variable; after adding its errors, its default. An empty variable counts as not set. */
export type ReadVariable = <Name extends keyof Environment>(name: Name) => Environment[Name];

/** @param processes whose variables are read; any other variable has its default, unchecked; absent: every variable is read */
export function variableReader(
  env: NodeJS.ProcessEnv,
  errors: ErrorList,
  processes?: readonly Process[],
): ReadVariable {
  return <Name extends keyof Environment>(name: Name) => {
    const schema: z.ZodType<unknown> = environment.shape[name];
    const isRead = processes?.some((one) => readers.get(schema)?.readBy.includes(one)) ?? true;
    const value = isRead ? errors.read(name, schema, env[name] || undefined) : undefined;
    return (value ?? schema.parse(undefined)) as Environment[Name];
  };
}

/** Returns the variables without those in quotes, after adding an error for each. Some tools pass on the quotes of an env file. */
export function withoutQuoted(env: NodeJS.ProcessEnv, errors: ErrorList): NodeJS.ProcessEnv {
  const temporal = Object.keys(env).filter((name) => name.startsWith('TEMPORAL_'));
  const names = new Set([...Object.keys(environment.shape), ...temporal]);
  const quoted = [...names].filter((name) => isQuoted(env[name]));
  for (const name of quoted) errors.add(name, IN_QUOTES);
  // The environment itself otherwise: API keys are read from it at each call.
  if (quoted.length === 0) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !quoted.includes(name)));
}

/** Returns the variables as the documentation describes them, each with its default as it would be written. */
export function documentedVariables() {
  return Object.entries<z.ZodType>(environment.shape).map(([name, schema]) => {
    const { description: about = '', secret } = schema.meta() ?? {};
    const { default: fallback } = z.toJSONSchema(schema, { io: 'input' });
    return {
      name,
      about,
      readBy: readers.get(schema)?.readBy ?? [],
      fallback: fallback === undefined ? undefined : String(fallback),
      secret: secret === true,
    };
  });
}
