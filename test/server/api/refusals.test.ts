/** The errors of the client library that an operation may get. `anApi` compares each answer with the OpenAPI document. */
import { expect, it } from 'vitest';
import { ORDER_ERRORS, type OrderErrorCode, OrderScreeningError } from '../../../src/contract/errors.ts';
import { anApi } from './fake-order-screening.ts';
import { POSTS } from './operations.ts';

const MOST: OrderErrorCode[] = ['unknown-order', 'invalid-request', 'temporal-unavailable'];
const WITH_STATE: OrderErrorCode[] = [...MOST, 'order-closed'];
const SENT: OrderErrorCode[] = [...WITH_STATE, 'refused-by-screening-service', 'outcome-unknown'];

const REFUSALS: Record<string, OrderErrorCode[]> = {
  cancel: [...SENT, 'action-not-sent'],
  reportFraud: [...SENT, 'action-not-sent'],
  attachCustomerCode: [...SENT, 'action-not-sent'],
  submitChargeback: [...SENT, 'action-not-sent'],
  withdraw: SENT,
  redeliver: [...MOST, 'event-not-delivered'],
  putCard: ['unknown-integration', 'invalid-request', 'card-stash-unavailable'],
  getTransaction: ['unknown-transaction', 'transaction-without-decision', 'screening-service-unavailable'],
};

it.each([
  ...POSTS.map((post) => ({ method: 'POST', ...post }) as const),
  { method: 'DELETE', path: '/v1/orders/order-1/actions/2', body: undefined, calls: 'withdraw' },
  { method: 'GET', path: '/v1/orders/order-1', body: undefined, calls: 'get' },
  { method: 'GET', path: '/v1/transactions/order-1', body: undefined, calls: 'getTransaction' },
] as const)('are documented for $method $path', async ({ method, path, body, calls }) => {
  const { app, orderScreening } = await anApi();
  for (const code of REFUSALS[calls] ?? WITH_STATE) {
    orderScreening[calls].mockRejectedValueOnce(new OrderScreeningError(code, 'In words.'));
    const response = await app.inject({ method, url: path, ...(body && { payload: body }) });
    expect(response.statusCode, code).toBe(ORDER_ERRORS[code].status);
  }
});

it.each([
  ['cancel', 'cancel', {}],
  ['acknowledge', 'acknowledge', { reason: 'seen' }],
] as const)(
  'a key of a different body or caller is 422, and the answer names neither: %s',
  async (path, calls, payload) => {
    const { app, orderScreening } = await anApi();
    const reused = new OrderScreeningError('idempotency-key-reused', 'In words.');
    orderScreening[calls].mockRejectedValueOnce(reused);
    const headers = { 'idempotency-key': 'canary-key' };
    const response = await app.inject({
      method: 'POST',
      url: `/v1/orders/order-1/${path}`,
      headers,
      payload,
    });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ status: 422, type: '/problems/idempotency-key-reused' });
    expect(response.body).not.toContain('canary-key');
  },
);
