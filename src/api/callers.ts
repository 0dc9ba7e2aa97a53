/** Who calls the API: keys, addresses, limits, and how long a connection may take. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { unwatchFile, watchFile } from 'node:fs';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import rateLimit from '@fastify/rate-limit';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKey, ApiKeys, KeysOfFile, Scope } from '../config/index.ts';
import { DEFAULT_INTEGRATION } from '../contract/ids.ts';
import type { Log } from '../process/log.ts';
import type { ListRequest } from '../starter.ts';
import type { AnswerRecord } from './metrics.ts';
import { HttpError, type HttpErrorCode, toProblem } from './problems.ts';

/** What the scopes of the API share of its keys. */
export interface Admission {
  apiKeys: ApiKeys;
  /** Requests a second that each key may send. */
  maxRps: number;
}

/**
 * Lets in whoever has a key, each key as often a second as it may, to the routes of its scopes; without keys everybody, but
 * pages of other addresses.
 */
export async function admitCallers(scope: FastifyInstance, admission: Admission): Promise<void> {
  const { apiKeys } = admission;
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    await requireKey(request, apiKeys);
    // Cross-site requests: any page that a browser on this machine shows can send one here; it can't know a key.
    if (apiKeys.current.length === 0 && sentBy(request.headers) === 'foreign page')
      throw new HttpError('foreign-page');
  });
  await limitRequests(scope, admission);
}

/**
 * Limits what each key may send a second to the routes of a scope, and to which of them, and what all who have none may send
 * together; where keys are given and there are none, there is no limit.
 */
export async function limitRequests(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys?: ApiKeys; maxRps: number },
): Promise<void> {
  await scope.register(rateLimit, {
    max: maxRps,
    timeWindow: 1_000,
    keyGenerator: ({ apiKey }) => apiKey?.name ?? '',
    allowList: () => apiKeys?.current.length === 0,
    errorResponseBuilder: () => new HttpError('too-many-requests'),
  });
  // After the limit, which counts what is refused here, and before a body is read.
  if (apiKeys !== undefined) scope.addHook('preParsing', async (request) => requireScope(request));
}

/**
 * Notes whose key a request has.
 * @param given the key that was sent, a bearer's unless said
 * @throws HttpError `unauthorized` when it is none of the keys; without any keys everybody may call
 */
export async function requireKey(
  request: FastifyRequest,
  { current }: ApiKeys,
  given = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1],
): Promise<void> {
  if (current.length === 0) return;
  const key = keyOf(current, given);
  if (key === undefined) {
    await request.server.wrongKey(request);
    throw new HttpError('unauthorized');
  }
  request.apiKey = key;
}

/** How many wrong keys an address may send in a time before each further one is answered late; in milliseconds. */
const WRONG_KEYS = { max: 20, timeWindow: 60_000, lateMs: 1_000 };

/** Slows whoever sends wrong keys, by address. A right key is known before, so that nothing ever slows it. */
export async function slowWrongKeys(app: FastifyInstance): Promise<void> {
  // Who has one address of version 6 has the 2^64 beside it.
  await app.register(rateLimit, { global: false, ipv6Subnet: 64 });
  const { lateMs, ...limit } = WRONG_KEYS;
  const count = app.createRateLimit(limit);
  app.decorate('wrongKey', async (request) => {
    const counted = await count(request);
    if (!counted.isAllowed && counted.isExceeded) await sleep(lateMs);
  });
}

/** Reads the file of keys again when it changes, and on SIGHUP, for as long as the API is open. */
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
  // By its state, not by the system's notices: those miss a file that is put in its place, as secret stores do.
  watchFile(keys.file, { interval: FOLLOW_MS, persistent: false }, read);
  process.on('SIGHUP', read);
  app.addHook('onClose', async () => {
    unwatchFile(keys.file, read);
    process.off('SIGHUP', read);
  });
}

/** Less than the 5 s in which a key that was taken out is refused. */
const FOLLOW_MS = 1_000;

/** @throws HttpError `missing-scope` when the key lacks the scope that the route asks for */
export function requireScope({ apiKey, routeOptions }: FastifyRequest): void {
  const { scope } = routeOptions.config;
  if (scope === undefined) throw new TypeError('a route that keys may call names no scope');
  if (apiKey !== undefined && !apiKey.scopes.includes(scope)) throw new HttpError('missing-scope', { scope });
}

/** @throws HttpError `other-integration` when the key isn't for the integration that is meant, the default one unless named */
export function requireIntegration({ apiKey }: FastifyRequest, named: string = DEFAULT_INTEGRATION): void {
  const { integrations } = apiKey ?? {};
  if (integrations !== undefined && !integrations.includes(named)) throw new HttpError('other-integration');
}

/** @returns which integrations a list may show: the one that is asked for, else all that the key is for @throws as above */
export function listedIntegrations(
  request: FastifyRequest,
  named: string | undefined,
): Pick<ListRequest, 'integration' | 'integrations'> {
  if (named === undefined) return { integrations: request.apiKey?.integrations };
  requireIntegration(request, named);
  return { integration: named };
}

/**
 * Who a request comes from, as browsers say: a page of this API, a page of another address, or none: another program, or
 * an address that somebody typed. `Sec-Fetch-Site` is sent by every browser of today over HTTPS and on this machine,
 * `Origin` with every form, also without those.
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

/**
 * Compares in constant time, whatever the lengths, and with every secret, so that time doesn't tell which one it was.
 * @returns whether `given` is one of the secrets; never when there are none
 */
export function isOneOf(secrets: readonly string[], given: string | undefined): boolean {
  const hash = digest(given ?? '');
  const matches = secrets.map((secret) => timingSafeEqual(digest(secret), hash));
  return given !== undefined && matches.includes(true);
}

/** Compares as `isOneOf` does. @returns the key that was given, or undefined when it is none of them */
function keyOf(keys: readonly ApiKey[], given: string | undefined): ApiKey | undefined {
  const sent = digest(given ?? '');
  const matches = keys.filter(({ hash }) => timingSafeEqual(hash, sent));
  return given === undefined ? undefined : matches[0];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

// How long a caller may take, and what it is told when what it sends is no request.

/** In milliseconds. `connection`, without a byte either way, is longer than any answer takes. */
export interface ConnectionTimes {
  headers: number;
  request: number;
  connection: number;
  keepAlive: number;
  handler: number;
  /** How often headers and requests are looked at. */
  look: number;
}

export const CONNECTION_TIMES: ConnectionTimes = {
  headers: 10_000,
  request: 20_000,
  connection: 40_000,
  // Longer than load balancers keep a connection, so that they never send into one that is being closed.
  keepAlive: 65_000,
  handler: 30_000,
  look: 1_000,
};

/** The errors of a connection that have an answer of their own. */
const CODES: Readonly<Record<string, HttpErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
};

/** @returns what Fastify is made with */
export function connectionOptions(times: ConnectionTimes, record: AnswerRecord) {
  return {
    requestTimeout: times.request,
    connectionTimeout: times.connection,
    keepAliveTimeout: times.keepAlive,
    handlerTimeout: times.handler,
    http: {
      headersTimeout: times.headers,
      connectionsCheckingInterval: times.look,
      // Node's own answer to a request without a host has no body; see `refuseHostless`.
      requireHostHeader: false,
    },
    // While it ends, requests on open connections are answered as always; Fastify's own refusal is no problem document.
    return503OnClosing: false,
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) =>
      answerConnectionError(error, socket, record),
  } satisfies FastifyHttpOptions<Server>;
}

/** Takes over what Node would answer by itself, without a body. */
export function takeOverNodesAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      throw new HttpError('bad-request');
    }
  });
  // An expectation that nobody knows may be ignored (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
}

/** Closing waits for every open connection: one whose answer was under way ends with it. */
export function letConnectionsGo(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
}

const cut = new WeakSet<Socket>();

/** @returns whether the caller was told by `answerConnectionError` already */
export function wasCut(socket: Socket): boolean {
  return cut.has(socket);
}

function answerConnectionError(error: Error & { code?: string }, socket: Socket, record: AnswerRecord): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  cut.add(socket);
  const { code, problem } = toProblem(new HttpError(CODES[error.code ?? ''] ?? 'bad-request'));
  record.refused(problem.status, code);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  if (socket.writable) socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a wrong key, and waits where its address has sent too many. */
    wrongKey(request: FastifyRequest): Promise<void>;
  }
  interface FastifyRequest {
    /** The API key that was sent; none while the API has no keys. */
    apiKey?: ApiKey;
  }
  interface FastifyContextConfig {
    /** What a key must be allowed to call the route. */
    scope?: Scope;
  }
}
