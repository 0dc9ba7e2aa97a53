/** Each action of the pages: what a person confirms, what is then done, and what the order's page says of it. */
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anOrder } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder, aPortalAnswer } from '../fake-order-screening.ts';
import { sendForm, textOf } from './support.ts';

const ORDER = { orderId: 'order-1', integration: 'shop' };
const REASON = 'reason=+card%0D%0Ashown+';
const reason = 'card\nshown';

describe('an action', () => {
  it.each([
    ['cancel', REASON, 'cancel', [{ reason }, {}], 'canceled'],
    ['cancel', 'reason=', 'cancel', [{}, {}], 'canceled'],
    ['recheck', '', 'recheck', [], 'recheck'],
    ['acknowledge', REASON, 'acknowledge', [{ reason }, {}], 'acknowledged'],
    ['proceed', REASON, 'override', [{ action: 'proceed', reason }, {}], 'proceeds'],
    ['decide-cancel', REASON, 'override', [{ action: 'cancel', reason }, {}], 'decided-to-cancel'],
    ['actions/2/withdraw', '', 'withdraw', [{ number: 2 }, {}], 'withdrawn'],
    ['events/2/redeliver', '', 'redeliver', [{ sequence: 2 }, {}], 'redelivered'],
  ] as const)('%s is done once it is confirmed: %s', async (action, form, called, args, notice) => {
    const { app, orderScreening } = await anApi();
    const url = `/orders/order-1/${action}?integration=shop`;
    const asked = await app.inject(url);
    expect(asked.body).toContain(`<form method="post" action="/orders/order-1/${action}?`);
    expect(orderScreening[called]).not.toHaveBeenCalled();
    const { statusCode, headers } = await sendForm(app, url, form);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(`/orders/order-1?integration=shop&notice=${notice}`);
    expect(orderScreening[called]).toHaveBeenCalledExactlyOnceWith(ORDER, ...args);
  });

  it.each([
    ['cancel', 'requested', 'cancel-requested'],
    ['actions/2/withdraw', 'requested', 'withdraw-requested'],
    ['actions/2/withdraw', 'done', 'done-before'],
    ['events/2/redeliver', 'requested', 'redeliver-requested'],
  ] as const)('%s that is %s is said to be so', async (action, status, notice) => {
    const { app, orderScreening } = await anApi();
    orderScreening.cancel.mockResolvedValue(aPortalAnswer({ status }));
    orderScreening.withdraw.mockResolvedValue(aPortalAnswer({ status, number: 2 }));
    const event = { ...ORDER, sequence: 2, type: 'order.decided', status: 'requested' } as const;
    orderScreening.redeliver.mockResolvedValue(event);
    const { headers } = await sendForm(app, `/orders/order-1/${action}`);
    expect(headers.location).toBe(`/orders/order-1?integration=default&notice=${notice}`);
  });

  it.each<[action: string, form: string, words: string]>([
    ['cancel', `reason=${'x'.repeat(501)}`, 'reason must have at most 500 characters'],
    ['proceed', 'reason=+', 'reason is required'],
    ['decide-cancel', 'reason=+', 'reason is required'],
    ['acknowledge', 'reason=+', 'reason is required'],
    ['actions/x/withdraw', '', 'number must be'],
  ])('%s is not done with %s, and the page says why', async (action, form, words) => {
    const { app, orderScreening } = await anApi();
    const { statusCode, body } = await sendForm(app, `/orders/order-1/${action}`, form);
    expect(statusCode).toBe(422);
    expect(body).toContain(words);
    expect(body).not.toContain('xxx');
    const { cancel, override, acknowledge, withdraw } = orderScreening;
    for (const called of [cancel, override, acknowledge, withdraw]) expect(called).not.toHaveBeenCalled();
  });

  it('that fails leads back to the order', async () => {
    const { app, orderScreening } = await anApi();
    const details = { serviceMessage: '<b>No</b>' };
    const failure = new OrderScreeningError('refused-by-screening-service', 'In words.', details);
    orderScreening.cancel.mockRejectedValue(failure);
    const { statusCode, body } = await sendForm(app, '/orders/order-1/cancel?integration=shop');
    expect(statusCode).toBe(502);
    expect(body).toContain('The screening service refused the action');
    expect(body).toContain('&lt;b&gt;No&lt;/b&gt;');
    expect(body).toContain('href="/orders/order-1?integration=shop"');
  });
});

describe('an action on several orders', () => {
  const chosen = 'order=shop%2Forder-1&order=shop%2Forder-2&do=proceed';

  it('says first what happens to each, and afterwards what happened', async () => {
    const { app, orderScreening } = await anApi();
    const state = anOrder('review');
    orderScreening.inspect.mockImplementation(async ({ orderId }) =>
      anInspectedOrder({ state: orderId === 'order-1' ? state : { ...state, phase: 'closed' } }),
    );
    const asked = textOf((await app.inject(`/several?${chosen}`)).body);
    expect(asked).toMatch(/order-1 shop .* Approve order-2 shop .* Nothing: the order is closed/);
    expect(orderScreening.override).not.toHaveBeenCalled();
    orderScreening.override.mockRejectedValueOnce(new OrderScreeningError('order-closed', 'Closed.'));
    const done = textOf((await sendForm(app, '/several', `${chosen}&reason=card+shown`)).body);
    expect(done).toMatch(/1 of 2 done .* order-1 shop not done The order is closed order-2 shop done/);
  });

  it.each([
    ['no order', 422, ['read', 'ops'], ['shop'], 'do=recheck'],
    ['an order of another integration', 403, ['read', 'ops'], ['other'], chosen],
    ['a key without the scope', 403, ['read', 'act'], undefined, chosen],
  ] as const)('is refused: %s', async (_what, status, scopes, integrations, form) => {
    const key = hashedKey('ops', 'a-key-of-operations', { scopes: [...scopes] });
    const apiKeys = [{ ...key, ...(integrations && { integrations: [...integrations] }) }];
    const { app, orderScreening } = await anApi({ apiKeys });
    const headers = { 'sec-fetch-site': 'same-origin', authorization: 'Bearer a-key-of-operations' };
    expect((await sendForm(app, '/several', form, headers)).statusCode).toBe(status);
    expect(orderScreening.override).not.toHaveBeenCalled();
  });
});
