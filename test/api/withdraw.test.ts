import { describe, expect, it } from 'vitest';
import type { ActionRecord } from '../../src/orders/state.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anOrder, sinceStart } from '../orders/support.ts';
import { anApi, anInspectedOrder, aPortalAnswer } from './fake-order-screening.ts';

const running: ActionRecord = {
  number: 2,
  kind: 'customer-code',
  subject: 'x',
  status: 'running',
  by: 'caller',
  requestedAt: sinceStart(0),
};

describe('DELETE of a portal action', () => {
  const url = '/v1/orders/%23order-1/actions/2';

  it.each([
    ['withdrawn', 200],
    ['done', 200],
    ['requested', 202],
  ] as const)('that is %s is answered %i', async (status, code) => {
    const { app, orderScreening } = await anApi();
    orderScreening.withdraw.mockResolvedValue(aPortalAnswer({ number: 2, status }));
    const response = await app.inject({ method: 'DELETE', url: `${url}?integration=outlet` });
    expect(response.statusCode).toBe(code);
    expect(response.json()).toMatchObject({ number: 2, status });
    expect(orderScreening.withdraw).toHaveBeenCalledExactlyOnceWith(
      { orderId: 'order-1', integration: 'outlet' },
      { number: 2 },
      { idempotencyKey: undefined },
    );
  });

  it('carries the Idempotency-Key of the caller', async () => {
    const { app, orderScreening } = await anApi();
    const headers = { 'idempotency-key': 'key-1', 'content-type': 'application/json' };
    expect((await app.inject({ method: 'DELETE', url, headers })).statusCode).toBe(200);
    expect(orderScreening.withdraw.mock.calls[0]?.[2]).toEqual({ idempotencyKey: 'key-1' });
  });

  it.each(['0', 'x', '1.5', '01', '-1', '1234567'])('of the number %s lists its fault', async (number) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'DELETE', url: `/v1/orders/order-1/actions/${number}` });
    expect(response.statusCode).toBe(422);
    expect(response.json()).toMatchObject({ errors: [{ path: 'number' }] });
    expect(orderScreening.withdraw).not.toHaveBeenCalled();
  });
});

describe('a portal action', () => {
  it('tells its number and what the service echoed, now and in the order', async () => {
    const { app, orderScreening } = await anApi();
    const chargeback = { reason_code: '10.4', inquiry: 'false' };
    orderScreening.submitChargeback.mockResolvedValue(
      aPortalAnswer({ kind: 'chargeback', number: 3, chargeback }),
    );
    const body = { reason_code: '10.4', due_date: '2030-01-31' };
    const response = await app.inject({ method: 'POST', url: '/v1/orders/order-1/chargebacks', body });
    expect(response.json()).toMatchObject({ number: 3, chargeback });
    const state = anOrder('pass');
    const done = { ...running, kind: 'chargeback', status: 'done', chargeback } as const;
    state.actions.push(done, { ...running, status: 'not-sent' }, { ...running, status: 'withdrawn' });
    orderScreening.get.mockResolvedValue(state);
    expect((await app.inject('/v1/orders/order-1')).json()).toMatchObject({ actions: state.actions });
  });
});

describe('the pages', () => {
  const path = '/orders/order-1/actions/2/withdraw';

  async function withRunning() {
    const api = await anApi();
    const state = anOrder('pass');
    state.actions.push({ ...running, number: 1, status: 'done' }, running, {
      ...running,
      number: 3,
      kind: 'chargeback',
      status: 'queued',
    });
    api.orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
    return api;
  }

  const send = (app: Awaited<ReturnType<typeof anApi>>['app'], address = path) =>
    app.inject({
      method: 'POST',
      url: `${address}?integration=shop`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    });

  it('have a button beside each action that waits or is under way', async () => {
    const { app } = await withRunning();
    const { body } = await app.inject('/orders/order-1');
    expect([...body.matchAll(/href="([^"]*\/withdraw[^"]*)"/g)].map(([, href]) => href)).toEqual([
      '/orders/order-1/actions/2/withdraw?integration=default',
      '/orders/order-1/actions/3/withdraw?integration=default',
    ]);
    expect(body).toContain('2: customer-code, running, asked');
  });

  it('ask a person first, and name the action', async () => {
    const { app, orderScreening } = await withRunning();
    const { body } = await app.inject(`${path}?integration=shop`);
    expect(body).toContain(`<form method="post" action="${path}?integration=default">`);
    expect(body).toContain('2: customer-code, running, asked');
    expect(body).not.toContain('<textarea');
    expect(orderScreening.withdraw).not.toHaveBeenCalled();
  });

  it.each([
    ['withdrawn', 'withdrawn', 'The portal action is withdrawn'],
    ['done', 'done-before', 'was done before it could be withdrawn'],
    ['requested', 'withdraw-requested', 'The withdrawal was asked for'],
  ] as const)('say afterwards that it is %s', async (status, notice, words) => {
    const { app, orderScreening } = await withRunning();
    orderScreening.withdraw.mockResolvedValue(aPortalAnswer({ number: 2, status }));
    const response = await send(app);
    expect(response.statusCode).toBe(303);
    expect(response.headers.location).toBe(`/orders/order-1?integration=shop&notice=${notice}`);
    expect(orderScreening.withdraw).toHaveBeenCalledExactlyOnceWith(
      { orderId: 'order-1', integration: 'shop' },
      { number: 2 },
      {},
    );
    expect((await app.inject(`/orders/order-1?notice=${notice}`)).body).toContain(words);
  });

  it('lead back to the order when it has ended', async () => {
    const { app, orderScreening } = await withRunning();
    orderScreening.withdraw.mockRejectedValue(new OrderScreeningError('action-ended', 'In words.'));
    const response = await send(app);
    expect(response.statusCode).toBe(409);
    expect(response.body).toContain('The portal action has ended');
    expect(response.body).toContain('href="/orders/order-1?integration=shop"');
  });

  it('take no other number than an action’s', async () => {
    const { app, orderScreening } = await withRunning();
    expect((await send(app, '/orders/order-1/actions/x/withdraw')).statusCode).toBe(422);
    expect(orderScreening.withdraw).not.toHaveBeenCalled();
  });

  it('show what the service echoed of a chargeback', async () => {
    const { app, orderScreening } = await anApi();
    const state = anOrder('pass');
    const chargeback = { reason_code: '10.4', reference_number: '<b>' };
    state.actions.push({
      ...running,
      kind: 'chargeback',
      status: 'done',
      code: '200',
      finishedAt: sinceStart(1),
      chargeback,
    });
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
    expect((await app.inject('/orders/order-1')).body).toContain(
      'chargeback: done (200, reason_code 10.4, reference_number &lt;b&gt;)',
    );
  });
});
