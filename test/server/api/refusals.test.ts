/** What each operation may be refused with. `anApi` compares each answer with the OpenAPI document. */
import type { InjectOptions } from 'fastify';
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { ORDER_ERRORS, type OrderErrorCode, OrderScreeningError } from '../../../src/contract/errors.ts';
import { anApi } from './fake-order-screening.ts';
import { OPERATIONS } from './operations.ts';

const MOST: OrderErrorCode[] = ['unknown-order', 'invalid-request', 'temporal-unavailable'];
const WITH_STATE: OrderErrorCode[] = [...MOST, 'order-closed'];
const SENT: OrderErrorCode[] = [
  ...WITH_STATE,
  'refused-by-screening-service',
  'outcome-unknown',
  'idempotency-key-reused',
];

const REFUSALS: Record<string, OrderErrorCode[]> = {
  cancel: [...SENT, 'action-not-sent'],
  reportFraud: [...SENT, 'action-not-sent'],
  attachCustomerCode: [...SENT, 'action-not-sent'],
  submitChargeback: [...SENT, 'action-not-sent'],
  withdraw: SENT,
  acknowledge: [...WITH_STATE, 'idempotency-key-reused'],
  redeliver: [...MOST, 'event-not-delivered'],
  list: ['invalid-request', 'temporal-unavailable'],
  putCard: ['unknown-integration', 'invalid-request', 'card-stash-unavailable'],
  getTransaction: ['unknown-transaction', 'transaction-without-decision', 'screening-service-unavailable'],
};

const ALL = [...OPERATIONS, { method: 'GET', path: '/v1/orders', body: undefined, calls: 'list' }] as const;

const KEY = 'the-key-of-the-shop';
/** It may only decrypt payloads. */
const CODEC_KEY = 'the-key-of-the-codec';
const apiKeys = [
  hashedKey('shop', KEY, { scopes: ['screen', 'read', 'act', 'ops'] }),
  hashedKey('ui', CODEC_KEY, { scopes: ['codec'] }),
];

describe.each(ALL)('the refusals of $method $path', ({ method, path, body, calls }) => {
  it('by the client library are documented', async () => {
    const { app, orderScreening } = await anApi();
    for (const code of REFUSALS[calls] ?? WITH_STATE) {
      orderScreening[calls].mockRejectedValueOnce(new OrderScreeningError(code, 'In words.'));
      const response = await app.inject({ method, url: path, ...(body && { payload: body }) });
      expect(response.statusCode, code).toBe(ORDER_ERRORS[code].status);
    }
  });

  it('before the client library is asked are documented', async () => {
    const { app, orderScreening } = await anApi({ apiKeys });
    const json = { 'content-type': 'application/json' };
    const send = async ({ headers, ...how }: InjectOptions = {}, key = KEY, to = app) => {
      const sent = { authorization: `Bearer ${key}`, ...headers };
      const usual = { method, url: path, ...(body && { payload: body }) };
      return (await to.inject({ ...usual, headers: sent, ...how })).statusCode;
    };
    expect([await send({}, 'wrong'), await send({}, CODEC_KEY)]).toEqual([401, 403]);
    if (method === 'GET') {
      expect(await send({ url: path.replace(/[^/]*$/, '%zz') })).toBe(400);
    } else {
      expect(await send({ headers: json, payload: '{' })).toBe(400);
      expect(await send({ headers: json, payload: `{"reason":"${'x'.repeat(256 * 1024)}"}` })).toBe(413);
      expect(await send({ headers: { 'content-type': 'text/plain' }, payload: 'a=b' })).toBe(415);
    }
    for (const asked of Object.values(orderScreening)) expect(asked).not.toHaveBeenCalled();
    const strict = await anApi({ apiKeys, maxRps: 1 });
    const statuses = [await send({}, KEY, strict.app), await send({}, KEY, strict.app)];
    // Both in one second, or not.
    if (!statuses.includes(429)) statuses.push(await send({}, KEY, strict.app));
    expect(statuses).toContain(429);
  });
});
