/** Access to the API: keys, scopes, rate limits and connection timeouts. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import { type ApiKey, type ApiKeys, type KeysOfFile, type Scope, SIGNED_IN } from '../../config/index.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { bareAddress } from '../../contract/values.ts';
import type { Log } from '../../platform/log.ts';
import type { ListRequest } from '../../starter.ts';
import { HttpError } from './problems.ts';

/**
 * Requires an API key with the route's scope, and limits requests per key. Without configured keys, every caller is accepted
 * except web pages of other origins.
 */
export async function admitCallers(
  scope: FastifyInstance,
  admission: { apiKeys: ApiKeys; maxRps: number },
): Promise<void> {
  const { apiKeys } = admission;
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    await requireKey(request, apiKeys);
    // Rejects cross-site requests: any page in a browser on this machine can send requests here, but it has no key.
    if (apiKeys.current.length === 0 && sentBy(request.headers) === 'foreign page')
      throw new HttpError('foreign-page');
  });
  await limitRequests(scope, admission);
}

/**
 * Limits the requests per second of each key and, in total, of callers without a key; also requires the route's scope. If
 * `apiKeys` is given but empty, there is no limit.
 */
export async function limitRequests(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys?: ApiKeys; maxRps: number },
): Promise<void> {
  scope.addHook('onRoute', ({ config }) => {
    // No key's name begins with a space, so the group has counts of its own.
    if (config?.ofMany) config.rateLimit = { max: Math.min(maxRps, LISTS_PER_SECOND), groupId: ' lists' };
  });
  await scope.register(rateLimit, {
    store: Counts,
    max: maxRps,
    timeWindow: 1_000,
    keyGenerator: ({ apiKey, pageUser }) =>
      apiKey?.name === SIGNED_IN ? `${SIGNED_IN} ${pageUser}` : (apiKey?.name ?? ''),
    allowList: () => apiKeys?.current.length === 0,
    errorResponseBuilder: () => new HttpError('too-many-requests'),
  });
  // Runs after the rate limit, which also counts requests that are rejected here, and before the body is read.
  if (apiKeys !== undefined) scope.addHook('preParsing', async (request) => requireScope(request));
}

/** Lists and counts per second and key, over all routes together: Temporal’s visibility answers few of them. */
const LISTS_PER_SECOND = 10;

/**
 * Sets the API key of a request. Without configured keys, every caller is accepted.
 * @param given the key from the request; the bearer token by default
 * @throws HttpError `unauthorized` for an unknown key
 */
export async function requireKey(
  request: FastifyRequest,
  { current }: ApiKeys,
  given = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1],
): Promise<void> {
  if (current.length === 0) return;
  const key = matchOf(current, ({ hash }) => hash, given);
  if (key === undefined) {
    await request.server.wrongKey(request);
    throw new HttpError('unauthorized');
  }
  request.apiKey = key;
}

/**
 * Removes ports from the addresses that proxies forward, before anything else reads them: `request.ip` is then an address, and a proxy
 * whose address has a port is a trusted one.
 */
export function readForwardedAddresses(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    const { [FORWARDED_FOR]: forwarded } = headers;
    if (forwarded !== undefined)
      headers[FORWARDED_FOR] = String(forwarded).split(',').map(bareAddress).join(', ');
  });
}

const FORWARDED_FOR = 'x-forwarded-for';

/** Wrong keys that an address may send per `timeWindow` before answers are delayed by `lateMs`; times in milliseconds. */
const WRONG_KEYS = { max: 20, timeWindow: 60_000, lateMs: 1_000 };

/** Delays answers to wrong keys, webhook secrets and tokens, by IP address. Correct ones are checked first and are never delayed. */
export async function slowWrongKeys(app: FastifyInstance): Promise<void> {
  // An IPv6 host usually has a whole /64 network.
  await app.register(rateLimit, { store: Counts, global: false, ipv6Subnet: 64 });
  const { lateMs, ...limit } = WRONG_KEYS;
  const count = app.createRateLimit(limit);
  app.decorate('wrongKey', async (request) => {
    const counted = await count(request);
    if (!counted.isAllowed && counted.isExceeded) await sleep(lateMs);
  });
}

/** Counts of requests in memory. The plugin's own store reads the wall clock, and would count for as long as that was set back. */
class Counts implements FastifyRateLimitStore {
  readonly #counts = new Map<string, { current: number; since: number }>();

  incr(...[key, callback, timeWindow]: Parameters<FastifyRateLimitStore['incr']>): void {
    const now = performance.now();
    const last = this.#counts.get(key);
    const { current, since } =
      last !== undefined && now - last.since < timeWindow ? last : { current: 0, since: now };
    this.#counts.delete(key);
    this.#counts.set(key, { current: current + 1, since });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_COUNTED && oldest !== undefined) this.#counts.delete(oldest);
    callback(null, { current: current + 1, ttl: timeWindow - (now - since) });
  }

  /** Routes of a group count together. */
  child(): this {
    return this;
  }
}

/** Of more keys or addresses, the least recently counted are dropped, as in the plugin's own store. */
const MAX_COUNTED = 5_000;

/** Reloads the file of keys when it changes and on SIGHUP, until the API closes. */
export function followKeys(app: FastifyInstance, keys: KeysOfFile, log: Log): void {
  const read = (): void => {
    const fieldErrors = keys.reload();
    if (fieldErrors.length === 0) log.info('the API keys were read again');
    for (const { path, message } of fieldErrors) {
      log.error(
        { problem: `${path} ${message}` },
        'the file of API keys is refused: those of before stay valid',
      );
    }
  };
  // Polls the file: file system events miss a replaced file, and secret stores replace files.
  watchFile(keys.file, { interval: FOLLOW_MS, persistent: false }, read);
  process.on('SIGHUP', read);
  app.addHook('onClose', async () => {
    unwatchFile(keys.file, read);
    process.off('SIGHUP', read);
  });
}

/** A removed key must be rejected within 5 s. */
const FOLLOW_MS = 1_000;

/** @throws HttpError `missing-scope` when the key lacks the scope, by default the route's */
export function requireScope(request: FastifyRequest, scope = request.routeOptions.config.scope): void {
  if (scope === undefined) throw new TypeError('a route that keys may call names no scope');
  if (hasScope(request, scope)) return;
  throw new HttpError('missing-scope', { scope, detail: `It lacks the scope “${scope}”.` });
}

/** @throws OrderScreeningError `other-integration` when the key isn't for this integration */
export function requireIntegration({ apiKey }: FastifyRequest, named: string = DEFAULT_INTEGRATION): void {
  const { integrations } = apiKey ?? {};
  if (integrations === undefined || integrations.includes(named)) return;
  throw new OrderScreeningError('other-integration', 'The API key is for other integrations');
}

/** @returns whether the key has the scope. Without configured keys, every caller has all */
export function hasScope({ apiKey }: FastifyRequest, scope: Scope): boolean {
  return apiKey === undefined || apiKey.scopes.includes(scope);
}

/** @returns the integrations of a list: the requested one, or all of the key's @throws OrderScreeningError `other-integration` */
export function listedIntegrations(
  request: FastifyRequest,
  named: string | undefined,
): Pick<ListRequest, 'integration' | 'integrations'> {
  if (named === undefined) return { integrations: request.apiKey?.integrations };
  requireIntegration(request, named);
  return { integration: named };
}

/**
 * Returns where a request comes from, by the browser's headers: a page of this API, a page of another origin, or no page (a
 * program, or an address that a person typed). Current browsers send `Sec-Fetch-Site` over HTTPS and to localhost, and every
 * browser sends `Origin` with forms.
 */
export function sentBy(headers: IncomingHttpHeaders): 'own page' | 'foreign page' | 'no page' {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'none' || (site === undefined && origin === undefined)) return 'no page';
  const own = site === undefined ? hostOf(origin) === host : site === 'same-origin';
  return own ? 'own page' : 'foreign page';
}

function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}

/** @returns whether `given` is one of the secrets; false if there are no secrets */
export function isOneOf(secrets: readonly string[], given: string | undefined): boolean {
  return matchOf(secrets, digest, given) !== undefined;
}

/** Compares with every secret in constant time, so that the timing doesn't reveal which secret matched. */
function matchOf<Secret>(
  secrets: readonly Secret[],
  hashOf: (secret: Secret) => Buffer,
  given: string | undefined,
): Secret | undefined {
  const sent = digest(given ?? '');
  const matches = secrets.filter((secret) => timingSafeEqual(hashOf(secret), sent));
  return given === undefined ? undefined : matches[0];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

// Connection timeouts. Fastify answers input that isn't a valid HTTP request: 400, 408 or 431.

/** In milliseconds. */
export const CONNECTION_OPTIONS = {
  requestTimeout: 20_000,
  /** The idle timeout; longer than any answer takes. */
  connectionTimeout: 40_000,
  // Longer than the keep-alive of load balancers, so that they never use a connection that is closing.
  keepAliveTimeout: 65_000,
  handlerTimeout: 30_000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
  // During shutdown, requests on open connections are still answered: Fastify's own 503 isn't a problem document.
  return503OnClosing: false,
} satisfies FastifyHttpOptions<Server>;

/** Closes connections with their next answer during shutdown, since the server waits for all open connections. */
export function letConnectionsGo(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a wrong key, and delays the answer if its address has sent too many. */
    wrongKey(request: FastifyRequest): Promise<void>;
  }
  interface FastifyRequest {
    /** What the request's API key, or the person who signed in, may do; absent if the API has neither. */
    apiKey?: Omit<ApiKey, 'hash'>;
  }
  interface FastifyContextConfig {
    scope?: Scope;
    ofMany?: boolean;
  }
}
