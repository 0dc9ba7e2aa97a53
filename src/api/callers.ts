/** Who calls the API: keys, addresses, limits, and how long a connection may take. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import rateLimit from '@fastify/rate-limit';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import type { HashedKey } from '../config/index.ts';
import type { AnswerRecord } from './metrics.ts';
import { HttpError, type HttpErrorCode, toProblem } from './problems.ts';

/** Lets in whoever has a key, each key as often a second as it may; without keys everybody, but pages of other addresses. */
export async function admitCallers(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys: readonly HashedKey[]; maxRps: number },
): Promise<void> {
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    requireKey(request, apiKeys);
    // Any page that a browser on this machine shows can send a request here; it can't know a key.
    if (apiKeys.length === 0 && sentBy(request.headers) === 'foreign page')
      throw new HttpError('foreign-page');
  });
  await limitRequests(scope, { apiKeys, maxRps });
}

/** Limits what each key may send a second to the routes of a scope; without keys there is no limit. */
export async function limitRequests(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys: readonly HashedKey[]; maxRps: number },
): Promise<void> {
  await scope.register(rateLimit, {
    max: maxRps,
    timeWindow: 1_000,
    keyGenerator: ({ keyName }) => keyName ?? '',
    allowList: () => apiKeys.length === 0,
    errorResponseBuilder: () => new HttpError('too-many-requests'),
  });
}

/**
 * Notes whose key a request has.
 * @param given the key that was sent, a bearer's unless said
 * @throws HttpError `unauthorized` when it is none of the keys; without any keys everybody may call
 */
export function requireKey(
  request: FastifyRequest,
  apiKeys: readonly HashedKey[],
  given = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1],
): void {
  if (apiKeys.length === 0) return;
  const name = nameOfKey(apiKeys, given);
  if (name === undefined) throw new HttpError('unauthorized');
  request.keyName = name;
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

/** Compares as `isOneOf` does. @returns the name of the key that was given, or undefined when it is none of them */
function nameOfKey(keys: readonly HashedKey[], given: string | undefined): string | undefined {
  const sent = digest(given ?? '');
  const matches = keys.filter(({ hash }) => timingSafeEqual(hash, sent));
  return given === undefined ? undefined : matches[0]?.name;
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
