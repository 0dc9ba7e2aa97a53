import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { isOrderErrorCode, ORDER_ERRORS } from '../../../src/contract/errors.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { aTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer, anApi, CANCEL_BY, TRANSACTION_ID } from './fake-order-screening.ts';

const screening = { method: 'POST', url: '/v1/orders/order-1/screening' } as const;

it('POST screening answers 202 while the decision is pending', async () => {
  const { app, orderScreening } = await anApi();
  orderScreening.screen.mockResolvedValue(
    aCheckoutAnswer({ decision: 'pending', action: 'hold', phase: 'screening' }),
  );
  const response = await app.inject({ ...screening, body: { transaction: aTransaction() } });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toMatchObject({ decision: 'pending', action: 'hold' });
});

it('GET orders answers the record of one, or all of it, by an id as long as it may be, in any script', async () => {
  const { app, orderScreening } = await anApi();
  const orderId = '注/'.repeat(32);
  const url = `/v1/orders/${encodeURIComponent(orderId)}?integration=outlet`;
  expect((await app.inject(url)).json()).toMatchObject({ orderId: 'order-1', events: { waiting: 0 } });
  await app.inject(`${url}&view=full`);
  expect(orderScreening.get.mock.calls).toEqual(
    ['record', 'full'].map((view) => [{ orderId, integration: 'outlet' }, { view }]),
  );
});

it.each([
  [screening.url, { transaction: aTransaction() }],
  ['/v1/card-refs', { orderId: 'order-1', ...TEST_CARD }],
])(
  'the integration stands in the address or in the body, and is refused when they differ: %s',
  async (url, body) => {
    const { app, orderScreening } = await anApi();
    const { screen, putCard } = orderScreening;
    const named = [
      { url: `${url}?integration=outlet`, body },
      { url, body: { ...body, integration: 'outlet' } },
      { url: `${url}?integration=outlet`, body: { ...body, integration: 'outlet' } },
    ];
    for (const one of named) await app.inject({ method: 'POST', ...one });
    const differing = { url: `${url}?integration=outlet`, body: { ...body, integration: 'shop' } };
    const response = await app.inject({ method: 'POST', ...differing });
    expect(response.json()).toMatchObject({ status: 422, errors: [{ path: 'integration' }] });
    const requests = [...screen.mock.calls, ...putCard.mock.calls].map(([request]) => request);
    expect(requests).toMatchObject(named.map(() => ({ integration: 'outlet' })));
  },
);

it.each([
  [200, 'owned by an order of that integration', { order: { integration: 'shop', orderId: '1001' } }],
  [403, 'without an order', {}],
  [403, 'owned by another integration’s order', { order: { integration: 'default', orderId: '1001' } }],
])('GET transactions answers %i to a key of one integration for one %s', async (status, _case, owned) => {
  const key = 'the-key-of-the-shop-alone';
  const { app, orderScreening } = await anApi({
    apiKeys: [hashedKey('shop', key, { scopes: ['read'], integrations: ['shop'] })],
  });
  const found = { id: TRANSACTION_ID, decision: 'fail' as const, message: 'Sorry', ...owned };
  orderScreening.getTransaction.mockResolvedValue(found);
  const headers = { authorization: `Bearer ${key}` };
  const response = await app.inject({ url: '/v1/transactions/a%2Fb?integration=shop', headers });
  expect(response.statusCode).toBe(status);
  if (status === 200) expect(response.json()).toEqual(found);
  else expect(response.body).not.toMatch(/Sorry|fail|1001/);
  const named = { idOrInvoice: 'a/b', integration: 'shop' };
  expect(orderScreening.getTransaction).toHaveBeenCalledExactlyOnceWith(named);
});

describe('errors of an order', () => {
  /** A hint isn't answered with a problem. */
  const each = Object.keys(ORDER_ERRORS)
    .filter(isOrderErrorCode)
    .filter((code) => !/^hint-/.test(code))
    .map((code) => [code, ORDER_ERRORS[code].status] as const);

  it.each(each)('%s is answered %i, with all that goes with it', async (code, status) => {
    const { app, orderScreening } = await anApi();
    const details = { cancelBy: CANCEL_BY, serviceCode: '403', serviceMessage: 'Not allowed' };
    orderScreening.cancel.mockRejectedValue(new OrderScreeningError(code, 'In words.', details));
    const headers = { 'idempotency-key': 'canary-key' };
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', headers });
    expect(response.statusCode).toBe(status);
    expect(response.body).not.toContain('canary-key');
    const problem = { type: `/problems/${code}`, status, detail: 'In words.', ...details };
    expect(response.json()).toMatchObject(problem);
    expect(response.headers['retry-after']).toBe(status === 503 ? '2' : undefined);
  });

  // gRPC's codes are numbers.
  it.each([undefined, 3, {}])(
    'that nobody foresaw are 500 without a word of them (code %j)',
    async (code) => {
      const { app, orderScreening, logged } = await anApi();
      const cause = new Error('do-not-print-me');
      const error = new TypeError('do-not-print-me', { cause });
      orderScreening.get.mockRejectedValue(Object.assign(error, { code }));
      const response = await app.inject('/v1/orders/order-1');
      expect(response.json()).toMatchObject({ type: '/problems/internal-error', status: 500 });
      expect(response.body + logged()).not.toContain('do-not-print-me');
      expect(logged()).toContain('order-routes');
    },
  );
});

it('logs the route, the order and the code of an answer, and no address, header or body', async () => {
  const { app, orderScreening, logged } = await anApi();
  orderScreening.screen.mockRejectedValue(new OrderScreeningError('attempt-mismatch', 'In words.'));
  await app.inject({
    ...screening,
    query: { integration: 'secret-in-query' },
    headers: { 'x-secret': 'secret-in-header' },
    body: { transaction: { transactionId: TRANSACTION_ID } },
  });
  expect(JSON.parse(logged().trim())).toMatchObject({
    method: 'POST',
    route: '/v1/orders/:orderId/screening',
    status: 409,
    orderId: 'order-1',
    code: 'attempt-mismatch',
    durationMs: expect.any(Number),
  });
  expect(logged()).not.toMatch(new RegExp(`secret-in|${TRANSACTION_ID}|/v1/orders/order-1`));
});

it('returns the warnings of a checkout, and counts them', async () => {
  const { app, orderScreening } = await anApi();
  const warnings = ['note', 'shipTo.phoneNumber'].map((path) => ({ path, message: 'is not sent' }));
  orderScreening.screen.mockResolvedValue(aCheckoutAnswer({ integration: 'shop', warnings }));
  expect((await app.inject(screening)).json()).toMatchObject({ warnings });
  const { body } = await app.inject('/metrics');
  expect(body).toContain('order_screening_transaction_warnings_total{integration="shop"} 2\n');
});

it('sends kept hints when it stops, and logs how many could not be sent', async () => {
  const { app, orderScreening, logged } = await anApi();
  orderScreening.close.mockResolvedValueOnce({ unsent: 3 });
  await app.close();
  expect(orderScreening.close).toHaveBeenCalledOnce();
  expect(logged()).toContain('"unsent":3');
});
