import { describe, expect, it } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi, aPortalAnswer, CANCEL_BY, TRANSACTION_ID } from './fake-order-screening.ts';

const order = { orderId: 'order-1' };
const none = { idempotencyKey: undefined };

describe('a portal action', () => {
  it.each([
    ['cancel', 'cancel', { reason: 'Customer called', transactionId: TRANSACTION_ID }],
    ['report-fraud', 'reportFraud', {}],
    ['customer-code', 'attachCustomerCode', { customerCode: '1234', email: 'a@example.com' }],
  ] as const)('%s is passed on, and answered 200 when done', async (name, method, body) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'POST', url: `/v1/orders/order-1/${name}`, body });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: 'done', code: '200' });
    expect(orderScreening[method]).toHaveBeenCalledWith(order, body, none);
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

  it('carries the Idempotency-Key of the caller', async () => {
    const { app, orderScreening } = await anApi();
    const headers = { 'idempotency-key': 'key-1' };
    await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel?integration=outlet', headers });
    const how = { idempotencyKey: 'key-1' };
    expect(orderScreening.cancel).toHaveBeenCalledWith({ ...order, integration: 'outlet' }, {}, how);
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

  it('cancel after the window is answered 409 with the end of the window', async () => {
    const { app, orderScreening } = await anApi();
    const details = { cancelBy: CANCEL_BY };
    orderScreening.cancel.mockRejectedValue(
      new OrderScreeningError('cancel-window-closed', 'Too late.', details),
    );
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel' });
    expect(response.statusCode).toBe(409);
    expect(response.json()).toMatchObject({ type: '/problems/cancel-window-closed', cancelBy: CANCEL_BY });
  });

  it("that the service refused is answered 502 with the service's code and words", async () => {
    const { app, orderScreening } = await anApi();
    const details = { serviceCode: '403', serviceMessage: 'Not allowed' };
    orderScreening.reportFraud.mockRejectedValue(
      new OrderScreeningError('refused-by-screening-service', 'Refused.', details),
    );
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/report-fraud' });
    expect(response.statusCode).toBe(502);
    expect(response.json()).toMatchObject({ type: '/problems/refused-by-screening-service', ...details });
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
