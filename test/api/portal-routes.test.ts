import { describe, expect, it } from 'vitest';
import { anApi, aPortalAnswer, TRANSACTION_ID } from './fake-order-screening.ts';

const order = { orderId: 'order-1' };
const none = { idempotencyKey: undefined };

describe('a portal action', () => {
  it.each([
    ['cancel', 'cancel', { reason: 'Customer called', transactionId: TRANSACTION_ID }],
    ['report-fraud', 'reportFraud', {}],
    ['customer-code', 'attachCustomerCode', { customerCode: '1234', email: 'a@example.com' }],
  ] as const)('%s is passed on with its key, and answered 200 when done', async (name, method, body) => {
    const { app, orderScreening } = await anApi();
    const url = `/v1/orders/order-1/${name}?integration=outlet`;
    const headers = { 'idempotency-key': 'key-1' };
    const response = await app.inject({ method: 'POST', url, headers, body });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: 'done', code: '200' });
    const named = { ...order, integration: 'outlet' };
    expect(orderScreening[method]).toHaveBeenCalledWith(named, body, { idempotencyKey: 'key-1' });
  });

  it('is answered 202 while it goes on', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.cancel.mockResolvedValue(aPortalAnswer({ status: 'requested' }));
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', body: {} });
    expect(response.statusCode).toBe(202);
    expect(response.json()).toMatchObject({ status: 'requested' });
  });

  it.each([{}, { 'content-type': 'application/json' }])('needs no body (headers %o)', async (headers) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', headers });
    expect(response.statusCode).toBe(200);
    expect(orderScreening.cancel).toHaveBeenCalledWith(order, {}, none);
  });

  it('refuses an Idempotency-Key that is too long', async () => {
    const { app } = await anApi();
    const headers = { 'idempotency-key': 'k'.repeat(129) };
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel', headers });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ errors: [{ path: 'Idempotency-Key' }] });
  });

  it.each([
    ['cancel', { reason: 7, transactionId: 'x', extra: 1 }, ['extra', 'reason', 'transactionId']],
    ['report-fraud', { reason: '' }, ['reason']],
    ['customer-code', { email: 'no' }, ['customerCode', 'email']],
    ['acknowledge', {}, ['reason']],
    ['recheck', { x: 1 }, ['x']],
    [
      'chargebacks',
      { force: 'yes', due_date: '2026-02-30', nope: 1 },
      ['due_date', 'force', 'nope', 'reason_code'],
    ],
  ])('%s lists every fault of its body', async (name, body, expected) => {
    const { app } = await anApi();
    const response = await app.inject({ method: 'POST', url: `/v1/orders/order-1/${name}`, body });
    expect(response.statusCode).toBe(422);
    const paths = response.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path);
    expect(paths.sort()).toEqual(expected);
  });
});

describe('a chargeback', () => {
  it.each([
    ['as the interface document spells it', 'reason_code', 'due_date', 'carrier_tracking_number'],
    ['in camel case', 'reasonCode', 'dueDate', 'carrierTrackingNumber'],
  ])('is read %s', async (_spelling, reason, due, tracking) => {
    const { app, orderScreening } = await anApi();
    const body = {
      [reason]: '4837',
      [due]: '2026-04-01',
      [tracking]: 'T1',
      notes: 'n',
      inquiry: 'true',
      force: true,
    };
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/chargebacks', body });
    expect(response.statusCode).toBe(200);
    expect(orderScreening.submitChargeback).toHaveBeenCalledWith(
      order,
      {
        reason_code: '4837',
        due_date: '2026-04-01',
        carrier_tracking_number: 'T1',
        notes: 'n',
        inquiry: 'true',
        force: true,
      },
      none,
    );
  });
});

it('a recheck is answered 202', async () => {
  const { app, orderScreening } = await anApi();
  const response = await app.inject({ method: 'POST', url: '/v1/orders/%23order-1/recheck' });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toEqual({ status: 'requested' });
  expect(orderScreening.recheck).toHaveBeenCalledWith(order);
});

it('an acknowledgement is answered with what it cleared', async () => {
  const { app, orderScreening } = await anApi();
  const body = { reason: 'Called the customer' };
  const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/acknowledge', body });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual({ cleared: 1 });
  expect(orderScreening.acknowledge).toHaveBeenCalledWith(order, body, none);
});

it('an override is answered with the action, and refused with every fault of its body', async () => {
  const { app, orderScreening } = await anApi();
  const send = (body: object) =>
    app.inject({
      method: 'POST',
      url: '/v1/orders/order-1/override',
      headers: { 'idempotency-key': 'k' },
      body,
    });
  const body = { action: 'proceed', reason: 'Called the customer' };
  expect((await send(body)).json()).toMatchObject({ decision: 'review', action: 'proceed' });
  expect(orderScreening.override).toHaveBeenCalledExactlyOnceWith(order, body, { idempotencyKey: 'k' });
  const refused = await send({ action: 'hold', reason: 'x'.repeat(501), by: 'me' });
  expect(refused.statusCode).toBe(422);
  expect(
    refused
      .json<{ errors: { path: string }[] }>()
      .errors.map(({ path }) => path)
      .sort(),
  ).toEqual(['action', 'by', 'reason']);
  expect(refused.body).not.toContain('xxx');
});
