import { describe, expect, it } from 'vitest';
import type { ActionRecord } from '../../../src/contract/state.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anOrder, sinceStart } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder, aPortalAnswer } from '../fake-order-screening.ts';

const running: ActionRecord = {
  number: 2,
  kind: 'customer-code',
  subject: 'x',
  status: 'running',
  by: 'caller',
  requestedAt: sinceStart(0),
};

describe('the pages of a withdrawal', () => {
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
    expect(body).toContain('2: customer-code, running, requested');
  });

  it('ask a person first, and name the action', async () => {
    const { app, orderScreening } = await withRunning();
    const { body } = await app.inject(`${path}?integration=shop`);
    expect(body).toContain(`<form method="post" action="${path}?integration=default">`);
    expect(body).toContain('2: customer-code, running, requested');
    expect(body).not.toContain('<textarea');
    expect(orderScreening.withdraw).not.toHaveBeenCalled();
  });

  it.each([
    ['withdrawn', 'withdrawn', 'The portal action was withdrawn'],
    ['done', 'done-before', 'was done before it could be withdrawn'],
    ['requested', 'withdraw-requested', 'Withdrawal requested'],
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
