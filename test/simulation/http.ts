/** HTTP as the screening service speaks it: reads requests in both dialects, and writes responses. */
import { FetchError, type RequestInit } from 'node-fetch';
import type { GatewayResult } from '../../src/contract/words.ts';
import type { HttpResponse } from '../../src/screening/index.ts';
import { type Operation, PORTAL_OPERATIONS } from '../books/books.ts';
import type { Asked, Said } from './service.ts';

const HOST = 'http://screening.example/';
export const ADDRESSES = {
  baseUrl: `${HOST}test`,
  portalBaseUrl: `${HOST}portal/api/v1/transaction-update`,
};
export const API_KEY = 'key-of-a-simulated-life';

const PORTAL: Operation[] = Object.values(PORTAL_OPERATIONS);

interface Body {
  'nf-id'?: string;
  'gateway-response'?: { result: GatewayResult };
  order?: { invoiceNumber: string };
  userFields?: { attempt: string };
  transaction_id?: string;
}

/** @throws TypeError for a request that the interface doesn't describe, or without the key */
export function readRequest(url: string, { body }: RequestInit): Asked {
  const [base, name = '', ...rest] = url.slice(HOST.length).split('/').map(decodeURIComponent);
  if (!`${url} ${body}`.includes(API_KEY)) throw new TypeError('a request without the key');
  const sent: Body = typeof body === 'string' ? JSON.parse(body) : {};
  if (base === 'portal') {
    const operation = PORTAL.find((one) => one === rest.at(-1));
    if (operation === undefined) throw new TypeError(`no portal action ${url}`);
    const { transaction_id: transactionId, ...fields } = sent;
    return { operation, ...(transactionId !== undefined && { transactionId }), sent: fields };
  }
  switch (name) {
    case 'status_by_url':
      return { operation: 'status', transactionId: required(rest[1]) };
    case 'status_by_invoice':
      return { operation: 'status-by-invoice', invoice: required(rest[1]) };
    case 'gateway_response':
      return {
        operation: 'gateway-response',
        transactionId: required(sent['nf-id']),
        sent: required(sent['gateway-response']?.result),
      };
    default:
      return {
        operation: 'create-transaction',
        invoice: required(sent.order?.invoiceNumber),
        attempt: Number(required(sent.userFields?.attempt)),
      };
  }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('a request without a field that it needs');
  return value;
}

export function responseOf(said: Said, operation: Operation): Response {
  switch (said.is) {
    case 'transaction':
      return json(200, { id: said.id, decision: said.decision });
    case 'done':
      return json(200, PORTAL.includes(operation) ? { code: 200, message: 'OK' } : { Status: 'OK' });
    case 'not-found':
      if (operation === 'gateway-response') return json(400, { Errors: ['nf-id is malformed'] });
      return json(404, { Errors: ['Transaction Not Found'] });
    case 'refused':
      return json(200, { code: said.code, message: said.words });
  }
}

export function json(status: number, body: object): Response {
  return new Response(status, JSON.stringify(body));
}

/** @returns what a proxy says instead of the screening service */
export function page(status: number): Response {
  return new Response(status, '<html><body>nothing here</body></html>');
}

export class Response implements HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get: (name: string) => string | null };
  readonly #body: string | Error;

  /** @param body an error: the connection breaks in the middle of it */
  constructor(status: number, body: string | Error, retryAfter: string | null = null) {
    this.status = status;
    this.ok = status >= 200 && status < 300;
    this.#body = body;
    this.headers = { get: (name) => (name === 'retry-after' ? retryAfter : null) };
  }

  async text(): Promise<string> {
    if (this.#body instanceof Error) throw this.#body;
    return this.#body;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new ArrayBuffer(0);
  }
}

/** @returns what node-fetch throws for a connection that broke or was never made */
export function broken(code: 'ECONNRESET' | 'ECONNREFUSED' | 'ERR_STREAM_PREMATURE_CLOSE'): FetchError {
  const error = new FetchError('the connection failed', 'system');
  return Object.assign(error, { code, errno: code });
}
