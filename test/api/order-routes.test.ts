import { describe, expect, it } from 'vitest';
import { readOrderId, readScreenRequest } from '../../src/client/read-requests.ts';
import { isOrderErrorCode, ORDER_ERRORS } from '../../src/contract/errors.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anIntegration } from '../fixtures/integrations.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { aCheckoutAnswer, anApi, CANCEL_BY, TRANSACTION_ID } from './fake-order-screening.ts';

const screening = { method: 'POST', url: '/v1/orders/order-1/screening' } as const;

describe('POST screening', () => {
  it('answers 202 while the decision is pending', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.screen.mockResolvedValue(
      aCheckoutAnswer({ decision: 'pending', action: 'hold', phase: 'screening' }),
    );
    const response = await app.inject({ ...screening, body: { transaction: aTransaction() } });
    expect(response.statusCode).toBe(202);
    expect(response.json()).toMatchObject({ decision: 'pending', action: 'hold' });
  });

  it.each(['screening', 'adopt'])(
    'takes one leading # off the order id, and no second one: %s',
    async (name) => {
      const { app, orderScreening } = await anApi();
      const read = async ({ orderId }: { orderId?: unknown }) => {
        const { fingerprint: _ours, ...answer } = aCheckoutAnswer();
        return { ...answer, orderId: readOrderId(String(orderId)) };
      };
      orderScreening.screen.mockImplementation(read);
      orderScreening.adopt.mockImplementation(read);
      const send = (id: string) => app.inject({ method: 'POST', url: `/v1/orders/${id}/${name}`, body: {} });
      expect((await send('%231001')).json()).toMatchObject({ orderId: '1001' });
      expect((await send('%23%231001')).json()).toMatchObject({ errors: [{ path: 'orderId' }] });
    },
  );

  it('lists every fault of request and transaction at once, and echoes nothing', async () => {
    const { app, orderScreening, logged } = await anApi();
    orderScreening.screen.mockImplementation(async (raw) => {
      readScreenRequest(raw, () => anIntegration());
      return aCheckoutAnswer();
    });
    const secret = 'do-not-echo-me';
    const transaction = { ...aTransaction({ amount: secret, customerIP: secret }), nope: secret };
    const response = await app.inject({
      ...screening,
      url: '/v1/orders/%23/screening',
      body: { attempt: 0, worflow: secret, transaction },
    });
    expect(response.statusCode).toBe(422);
    expect(response.headers['content-type']).toContain('application/problem+json');
    const problem = response.json<{ type: string; status: number; errors: { path: string }[] }>();
    expect(problem).toMatchObject({ type: '/problems/invalid-request', status: 422 });
    expect(problem.errors.map(({ path }) => path).sort()).toEqual([
      'attempt',
      'orderId',
      'transaction.amount',
      'transaction.customerIP',
      'transaction.nope',
      'worflow',
    ]);
    expect(response.body + logged()).not.toContain(secret);
  });
});

describe('the number of an attempt', () => {
  it.each(['/v1/orders/order-1/gateway-result', '/v1/orders/order-1/screening'])(
    'is bounded and is not logged beyond that, since it may be a card number: %s',
    async (url) => {
      const { app, orderScreening, logged } = await anApi();
      const body = { result: 'pass', transaction: {}, attempt: 4_000_056_655_665_556 };
      const response = await app.inject({ method: 'POST', url, body });
      if (url.endsWith('gateway-result')) {
        expect(response.json()).toMatchObject({ status: 422 });
        expect(response.json().errors).toMatchObject([{ path: 'attempt' }]);
        expect(orderScreening.recordGatewayResult).not.toHaveBeenCalled();
      }
      expect(response.body + logged()).not.toContain('4000056655665556');
    },
  );
});

describe('GET orders', () => {
  it('answers the record of one, or all of it', async () => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'GET', url: '/v1/orders/a%2Fb?integration=outlet' });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ orderId: 'order-1', events: { waiting: 0 } });
    const name = { orderId: 'a/b', integration: 'outlet' };
    expect(orderScreening.get).toHaveBeenCalledWith(name, { view: 'record' });
    await app.inject({ method: 'GET', url: '/v1/orders/a%2Fb?integration=outlet&view=full' });
    expect(orderScreening.get).toHaveBeenLastCalledWith(name, { view: 'full' });
    const wrong = await app.inject({ method: 'GET', url: '/v1/orders/a%2Fb?view=some' });
    expect(wrong.json()).toMatchObject({ status: 422, errors: [{ path: 'view' }] });
  });

  it('answers for an order id as long as it may be, in any script', async () => {
    const { app } = await anApi();
    const url = (length: number) => `/v1/orders/${encodeURIComponent('注'.repeat(length))}`;
    expect((await app.inject({ method: 'GET', url: url(64) })).statusCode).toBe(200);
    expect((await app.inject({ method: 'GET', url: url(65) })).statusCode).toBe(422);
  });
});

describe('POST card-refs', () => {
  it('answers 201 with the name of the card, and logs nothing of it', async () => {
    const { app, orderScreening, logged } = await anApi();
    const body = { orderId: 'order-1', ...TEST_CARD };
    const response = await app.inject({ method: 'POST', url: '/v1/card-refs', body });
    expect(response.statusCode).toBe(201);
    expect(response.json()).toEqual({ cardRef: 'card_1', expiresAt: expect.any(String) });
    expect(orderScreening.putCard).toHaveBeenCalledWith(body);
    expect(logged()).not.toContain(TEST_CARD.cardNumber);
  });
});

describe('the integration of an order', () => {
  const outlet = { integration: 'outlet' };
  const routes = [
    { url: '/v1/orders/order-1/screening', body: { transaction: aTransaction() } },
    { url: '/v1/card-refs', body: { orderId: 'order-1', ...TEST_CARD } },
  ];

  it.each(routes)('stands in the address or in the body: $url', async ({ url, body }) => {
    const { app, orderScreening } = await anApi();
    const named = [
      { url: `${url}?integration=outlet`, body },
      { url, body: { ...body, ...outlet } },
      { url: `${url}?integration=outlet`, body: { ...body, ...outlet } },
    ];
    for (const one of named)
      expect((await app.inject({ method: 'POST', ...one })).statusCode).toBeLessThan(300);
    const { screen, putCard } = orderScreening;
    const requests = [...screen.mock.calls, ...putCard.mock.calls].map(([request]) => request);
    expect(requests).toMatchObject([outlet, outlet, outlet]);
  });

  it.each(routes)('is refused when they differ: $url', async ({ url, body }) => {
    const { app, orderScreening } = await anApi();
    const two = { url: `${url}?integration=outlet`, body: { ...body, integration: 'shop' } };
    const response = await app.inject({ method: 'POST', ...two });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ errors: [{ path: 'integration' }] });
    expect(orderScreening.screen).not.toHaveBeenCalled();
    expect(orderScreening.putCard).not.toHaveBeenCalled();
  });
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
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel' });
    expect(response.statusCode).toBe(status);
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
      orderScreening.get.mockRejectedValue(
        Object.assign(new TypeError('do-not-print-me', { cause }), { code }),
      );
      const response = await app.inject({ method: 'GET', url: '/v1/orders/order-1' });
      expect(response.statusCode).toBe(500);
      expect(response.json()).toMatchObject({ type: '/problems/internal-error' });
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
  const line = JSON.parse(logged().trim()) as Record<string, unknown>;
  expect(line).toMatchObject({
    method: 'POST',
    route: '/v1/orders/:orderId/screening',
    status: 409,
    orderId: 'order-1',
    code: 'attempt-mismatch',
    durationMs: expect.any(Number),
  });
  expect(logged()).not.toMatch(new RegExp(`secret-in|${TRANSACTION_ID}|/v1/orders/order-1`));
});
