/** HTTP as the screening service speaks it: reads requests in both dialects, and writes responses. */
import { FetchError, type RequestInit } from 'node-fetch';
import { PORTAL_ACTION_TABLE } from '../../../src/contract/portal/portal-actions.ts';
import type { Decision, GatewayResult } from '../../../src/contract/words.ts';
import type { HttpResponse } from '../../../src/screening-service/index.ts';
import type { Asked, Said } from './service.ts';

const HOST = 'http://screening.example/';
export const ADDRESSES = {
  baseUrl: `${HOST}test`,
  portalBaseUrl: `${HOST}portal/api/v1/transaction-update`,
};
export const API_KEY = 'key-of-a-simulated-life';

const chargebackSchema = PORTAL_ACTION_TABLE.chargeback.schema.omit({ force: true, transactionId: true });
const customerCodeSchema = PORTAL_ACTION_TABLE['customer-code'].schema.required({ email: true });

const RESULTS: readonly GatewayResult[] = ['pass', 'fail', 'error'];

/**
 * @param wishes what the screening service decides, by attempt
 * @returns what a request asks for
 * @throws TypeError for a request that the interface doesn't describe
 */
export function readRequest(url: string, { body }: RequestInit, wishes: readonly Decision[][]): Asked {
  const [base, operation = '', ...rest] = url.slice(HOST.length).split('/').map(decodeURIComponent);
  const sent: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  if (base === 'portal') return portalAction(rest.at(-1), sent);
  switch (operation) {
    case 'status_by_url':
      return { operation: 'status', transactionId: named(rest) };
    case 'status_by_invoice':
      return { operation: 'status-by-invoice', invoice: named(rest) };
    case 'gateway_response': {
      requireKey(at(sent, 'nf-token'));
      const result = RESULTS.find((one) => one === at(sent, 'gateway-response', 'result')) ?? 'error';
      return { operation: 'gateway-response', transactionId: text(at(sent, 'nf-id')), result };
    }
    default: {
      requireKey(at(sent, operation === 'transaction' ? 'nf-token' : 'nfToken'));
      const attempt = Number(at(sent, 'userFields', 'attempt'));
      const invoice = text(at(sent, 'order', 'invoiceNumber'));
      return { operation: 'create-transaction', invoice, attempt, wishes: wishes[attempt - 1] ?? [] };
    }
  }
}

function portalAction(operation: string | undefined, sent: unknown): Asked {
  if (typeof sent !== 'object' || sent === null || !('nf_token' in sent)) throw new TypeError('no key');
  const { nf_token, ...fields } = sent;
  requireKey(nf_token);
  if (operation === 'customer-code') {
    const { customer_code, ...others } = { customer_code: undefined, ...fields };
    const { customerCode, email } = customerCodeSchema.parse({ customerCode: customer_code, ...others });
    return { operation: 'portal', fields: { kind: operation, customerCode, email }, email };
  }
  if (!('transaction_id' in fields)) throw new TypeError('no transaction');
  const { transaction_id, ...given } = fields;
  const transactionId = text(transaction_id);
  switch (operation) {
    case 'cancel-transaction':
      return { operation: 'portal', fields: { kind: 'cancel' }, transactionId };
    case 'report-fraud':
      return { operation: 'portal', fields: { kind: 'report-fraud' }, transactionId };
    case 'submit-chargeback': {
      const chargeback = chargebackSchema.parse(given);
      return { operation: 'portal', fields: { kind: 'chargeback', ...chargeback }, transactionId };
    }
    default:
      throw new TypeError(`no portal action ${operation}`);
  }
}

function named([key, name]: string[]): string {
  requireKey(key);
  return text(name);
}

function requireKey(key: unknown): void {
  if (key !== API_KEY) throw new TypeError('a request without the key');
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a request without a text that it needs');
  return value;
}

function at(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const key of path) {
    found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined;
  }
  return found;
}

/** @returns the screening service's own response */
export function responseOf(said: Said, { operation }: Asked): Response {
  switch (said.is) {
    case 'transaction':
      return json(200, { id: said.id, decision: said.decision });
    case 'done':
      return json(200, operation === 'portal' ? { code: 200, message: 'OK' } : { Status: 'OK' });
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
