/** HTTP as the screening service speaks it: reads requests in both dialects, and writes responses. */
import { FetchError, type RequestInit } from 'node-fetch';
import { z } from 'zod';
import { PORTAL_ACTION_TABLE } from '../../../src/contract/portal/portal-actions.ts';
import { GATEWAY_RESULTS } from '../../../src/contract/words.ts';
import type { HttpResponse } from '../../../src/screening-service/index.ts';
import type { Asked, Said } from './service.ts';

const HOST = 'http://screening.example/';
export const ADDRESSES = {
  baseUrl: `${HOST}test`,
  portalBaseUrl: `${HOST}portal/api/v1/transaction-update`,
};
export const API_KEY = 'key-of-a-simulated-life';

const key = z.literal(API_KEY);
const gatewaySchema = z.looseObject({
  'nf-token': key,
  'nf-id': z.string(),
  'gateway-response': z.looseObject({ result: z.enum(GATEWAY_RESULTS) }),
});
const createSchema = z.looseObject({
  userFields: z.looseObject({ attempt: z.coerce.number() }),
  order: z.looseObject({ invoiceNumber: z.string() }),
});
/** The key is called otherwise in each of the two dialects. */
const sampleSchema = createSchema.extend({ 'nf-token': key });
const definitionSchema = createSchema.extend({ nfToken: key });
const lookupSchema = z.tuple([key, z.string()]);
const keyedSchema = z.looseObject({ nf_token: key });
const chargebackSchema = PORTAL_ACTION_TABLE.chargeback.schema.omit({ force: true, transactionId: true });
const customerCodeSchema = PORTAL_ACTION_TABLE['customer-code'].schema.required({ email: true });

/**
 * @returns what a request asks for
 * @throws ZodError or TypeError for a request that the interface doesn't describe
 */
export function readRequest(url: string, { body }: RequestInit): Asked {
  const [base, operation = '', ...rest] = url.slice(HOST.length).split('/').map(decodeURIComponent);
  const sent: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  if (base === 'portal') return portalAction(rest.at(-1), sent);
  switch (operation) {
    case 'status_by_url':
      return { operation: 'status', transactionId: lookupSchema.parse(rest)[1] };
    case 'status_by_invoice':
      return { operation: 'status-by-invoice', invoice: lookupSchema.parse(rest)[1] };
    case 'gateway_response': {
      const { 'nf-id': transactionId, 'gateway-response': response } = gatewaySchema.parse(sent);
      return { operation: 'gateway-response', transactionId, sent: response.result };
    }
    default: {
      const schema = operation === 'transaction' ? sampleSchema : definitionSchema;
      const { order, userFields } = schema.parse(sent);
      const { attempt } = userFields;
      return { operation: 'create-transaction', invoice: order.invoiceNumber, attempt };
    }
  }
}

function portalAction(operation: string | undefined, sent: unknown): Asked {
  const { nf_token: _key, ...given } = keyedSchema.parse(sent);
  if (operation === 'customer-code') {
    const { customer_code: customerCode, ...others } = given;
    const fields = customerCodeSchema.parse({ customerCode, ...others });
    return { operation, sent: { kind: operation, ...fields } };
  }
  const { transaction_id, ...fields } = given;
  const transactionId = z.string().parse(transaction_id);
  switch (operation) {
    case 'cancel-transaction':
      return { operation, sent: { kind: 'cancel' }, transactionId };
    case 'report-fraud':
      return { operation, sent: { kind: operation }, transactionId };
    case 'submit-chargeback':
      return { operation, sent: { kind: 'chargeback', ...chargebackSchema.parse(fields) }, transactionId };
    default:
      throw new TypeError(`no portal action ${operation}`);
  }
}

/** @returns the screening service's own response */
export function responseOf(said: Said, { operation }: Asked): HttpResponse {
  const isGateway = operation === 'gateway-response';
  switch (said.is) {
    case 'transaction':
      return json(200, { id: said.id, decision: said.decision });
    case 'done':
      return json(200, isGateway ? { Status: 'OK' } : { code: 200, message: 'OK' });
    case 'not-found':
      return isGateway
        ? json(400, { Errors: ['nf-id is malformed'] })
        : json(404, { Errors: ['Transaction Not Found'] });
    case 'refused':
      return json(200, { code: said.code, message: said.words });
  }
}

export function json(status: number, body: object): HttpResponse {
  return response(status, JSON.stringify(body));
}

/** @returns what a proxy says instead of the screening service */
export function page(status: number): HttpResponse {
  return response(status, '<html><body>nothing here</body></html>');
}

/** @param body an error: the connection breaks in the middle of it */
export function response(
  status: number,
  body: string | Error,
  retryAfter: string | null = null,
): HttpResponse {
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: (name) => (name === 'retry-after' ? retryAfter : null) },
    text: async () => {
      if (body instanceof Error) throw body;
      return body;
    },
    arrayBuffer: async () => new ArrayBuffer(0),
  };
}

/** @returns what node-fetch throws for a connection that broke or was never made */
export function broken(code: 'ECONNRESET' | 'ECONNREFUSED' | 'ERR_STREAM_PREMATURE_CLOSE'): FetchError {
  const error = new FetchError('the connection failed', 'system');
  return Object.assign(error, { code, errno: code });
}
