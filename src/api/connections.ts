/** How long a caller's connection may take, and what it is told when what it sends is no request. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import type { AnswerRecord } from './metrics.ts';
import { HttpError, type HttpErrorCode, toProblem } from './problems.ts';

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
