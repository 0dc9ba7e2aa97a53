/** Each action of the pages: what is done, what the order's page says of it, and what is shown after a failure. */
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { ORDER_ERRORS } from '../../../src/contract/errors.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anOrder } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder, anOrderSummary, aPortalAnswer } from '../api/fake-order-screening.ts';
import { inHours, sendForm, textOf } from './support.ts';

const ORDER = { orderId: 'order-1', integration: 'shop' };
const REASON = 'reason=+card%0D%0Ashown+';
const reason = 'card\nshown';
const away = new OrderScreeningError('temporal-unavailable', 'No worker answers.');

function withRunningCancel() {
  const state = anOrder('review');
  state.actions.push({
    ...{ number: 1, kind: 'cancel', subject: 'x', status: 'running', by: 'caller' },
    requestedAt: new Date().toISOString(),
  });
  return state;
}

function withAttention() {
  const state = anOrder('review');
  state.attention = [{ code: 'review-limit', words: 'It passed.', since: state.startedAt, cause: {} }];
  return state;
}

describe('an action', () => {
  it.each([
    ['cancel', REASON, 'cancel', [{ reason }, {}], 'canceled'],
    ['cancel', 'reason=', 'cancel', [{}, {}], 'canceled'],
    ['recheck', '', 'recheck', [], 'recheck'],
    ['acknowledge', REASON, 'acknowledge', [{ reason }, {}], 'resolved'],
    ['proceed', REASON, 'override', [{ action: 'proceed', reason }, {}], 'proceeds'],
    ['decide-cancel', REASON, 'override', [{ action: 'cancel', reason }, {}], 'decided-to-cancel'],
    ['actions/2/withdraw', '', 'withdraw', [{ number: 2 }, {}], 'withdrawn'],
    ['events/2/redeliver', '', 'redeliver', [{ sequence: 2 }, {}], 'redelivered'],
    ['snooze', 'hours=4&reason=a', 'snooze', [{ until: expect.any(String), note: 'a' }, {}], 'snoozed'],
    ['note', REASON, 'note', [{ text: reason }, {}], 'noted'],
    ['assign', 'assignee=+ada+', 'assign', [{ assignee: 'ada' }, {}], 'assigned'],
    ['assign', 'assignee=', 'assign', [{ assignee: null }, {}], 'unassigned'],
  ] as const)('%s is done, and the order’s page says so: %s', async (action, form, called, args, notice) => {
    const { app, orderScreening } = await anApi();
    const url = `/orders/order-1/${action}?integration=shop`;
    const opened = await app.inject(url);
    expect(opened).toMatchObject({
      statusCode: 303,
      headers: { location: '/orders/order-1?integration=shop' },
    });
    expect(orderScreening[called]).not.toHaveBeenCalled();
    const { statusCode, headers } = await sendForm(app, url, form);
    expect(statusCode).toBe(303);
    expect(headers.location).toBe(`/orders/order-1?integration=shop&notice=${notice}`);
    expect(orderScreening[called]).toHaveBeenCalledExactlyOnceWith(ORDER, ...args);
  });

  it('a snooze says how to find the order: only some are under “Snoozed”', async () => {
    const { app } = await anApi();
    const { body } = await app.inject('/orders/order-1?notice=snoozed');
    expect(body).toContain('find any other by its id');
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
    ['snooze', 'hours=4&reason=', 'reason is required'],
    ['snooze', 'hours=x&reason=a', 'hours must be'],
  ])('%s is not done with %s, and the page says why', async (action, form, words) => {
    const { app, orderScreening } = await anApi();
    const { statusCode, body } = await sendForm(app, `/orders/order-1/${action}`, form);
    expect(statusCode).toBe(422);
    expect(body).toContain(words);
    const { cancel, override, acknowledge, withdraw, snooze } = orderScreening;
    for (const called of [cancel, override, acknowledge, withdraw, snooze])
      expect(called).not.toHaveBeenCalled();
  });

  const refused = new OrderScreeningError('refused-by-screening-service', 'In words.', {
    serviceMessage: '<b>No</b>',
  });
  const invalid = new OrderScreeningError('invalid-request', 'Invalid request', {
    errors: [{ path: 'until', message: 'must not be later than noon' }],
  });
  it.each([
    ['proceed', 'reason=ID+and+%3Cname%3E+match', 'override', away, '>ID and &lt;name&gt; match</textarea>'],
    ['cancel', 'reason=', 'cancel', refused, '&lt;b&gt;No&lt;/b&gt;'],
    ['snooze', 'hours=12&reason=calls+back', 'snooze', invalid, '<option value="12" selected>'],
    ['snooze', 'hours=12&reason=calls+back', 'snooze', invalid, '>calls back</textarea>'],
    ['snooze', 'hours=12&reason=calls+back', 'snooze', invalid, 'must not be later than noon'],
    ['assign', 'assignee=ada', 'assign', away, 'name="assignee" value="ada"'],
    ['recheck', '', 'recheck', away, 'No worker answers.'],
  ] as const)(
    '%s that fails keeps what was typed, and leads back to the order and its list',
    async (action, form, called, error, shown) => {
      const { app, orderScreening } = await anApi();
      orderScreening[called].mockRejectedValue(error);
      orderScreening.inspect.mockRejectedValue(away);
      for (const place of ['', '&from=list%3Dsoon&pos=2']) {
        const url = `/orders/order-1/${action}?integration=shop${place}`;
        const { statusCode, body } = await sendForm(app, url, form);
        expect(statusCode).toBe(ORDER_ERRORS[error.code].status);
        expect(body).toContain(shown);
        expect(body).toContain(`href="/orders/order-1?integration=shop${place.replaceAll('&', '&amp;')}"`);
      }
    },
  );

  it('a rejection that no worker takes is not said to be done, though an earlier cancel runs', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.override.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      throw away;
    });
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: withRunningCancel() }));
    const { statusCode, body } = await sendForm(app, '/orders/order-1/decide-cancel', REASON);
    expect(statusCode).toBe(503);
    expect(body).toContain('No worker answers.');
  });

  it('names what the person saw, and after a change shows what the order does now', async () => {
    const { app, orderScreening } = await anApi();
    const seen = 'ifAction=hold&until=2026-01-05T10%3A00%3A00.000Z';
    await sendForm(app, '/orders/order-1/acknowledge', `${REASON}&${seen}`);
    const asked = { reason, until: '2026-01-05T10:00:00.000Z' };
    expect(orderScreening.acknowledge).toHaveBeenCalledExactlyOnceWith(expect.anything(), asked, {});
    orderScreening.inspect.mockResolvedValue(
      anInspectedOrder({ state: { ...anOrder('review'), action: 'proceed' } }),
    );
    const changed = new OrderScreeningError('order-changed', 'The order’s action is «proceed» now.');
    for (const [action, called] of [
      ['proceed', orderScreening.override],
      ['decide-cancel', orderScreening.override],
      ['cancel', orderScreening.cancel],
    ] as const) {
      called.mockRejectedValueOnce(changed);
      const { statusCode, body } = await sendForm(app, `/orders/order-1/${action}`, `${REASON}&${seen}`);
      expect(called.mock.lastCall?.[2]).toEqual({ ifAction: 'hold' });
      expect([statusCode, textOf(body)]).toEqual([409, expect.stringContaining('is «proceed» now')]);
      expect(body).toContain('name="ifAction" value="proceed"');
    }
  });

  it('a cancel that hangs is said to run as soon as the order has recorded it', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.cancel.mockReturnValue(new Promise(() => {}));
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: withRunningCancel() }));
    const began = Date.now();
    const { headers } = await sendForm(app, '/orders/order-1/cancel');
    expect(headers.location).toContain('notice=cancel-requested');
    expect(Date.now() - began).toBeLessThan(5_000);
    const order = textOf((await app.inject(String(headers.location))).body);
    expect(order).toMatch(
      /Cancel requested\. It is being sent .* Cancel is being sent Requested .* Withdraw action…/,
    );
  });
});

it('a snooze lasts for the chosen hours, and offers no time after the cancel window', async () => {
  const { app, orderScreening } = await anApi();
  await sendForm(app, '/orders/order-1/snooze', 'hours=4&reason=a');
  const [[, { until } = { until: '' }] = []] = orderScreening.snooze.mock.calls;
  expect(Math.abs(Date.parse(String(until)) - Date.parse(inHours(4)))).toBeLessThan(60_000);
  const summary = anOrderSummary({ cancelBy: inHours(5) });
  orderScreening.inspect.mockResolvedValue(anInspectedOrder({ summary }));
  const { body } = await app.inject('/orders/order-1');
  const [offered = ''] = body.match(/<select id="hours-snooze".*?<\/select>/s) ?? [];
  expect(textOf(offered).trim()).toBe('1 hour 4 hours');
});

it('a form that is sent twice is one request, one with other words or from a page loaded again is another', async () => {
  const { app, orderScreening } = await anApi();
  const opened = async () => {
    const { body } = await app.inject('/orders/order-1');
    return /<details name="act" id="note">.*?name="once" value="([^"]+)"/s.exec(body)?.[1] ?? '';
  };
  const once = await opened();
  await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called`);
  orderScreening.note.mockRejectedValueOnce(away);
  const failed = await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called`);
  expect(failed.body).toContain(`name="once" value="${once}"`);
  await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called+again`);
  await sendForm(app, '/orders/order-1/note', `once=${await opened()}&reason=called`);
  const [first, second, ...others] = orderScreening.note.mock.calls.map(([, , how]) => how?.idempotencyKey);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(second).toBe(first);
  expect(new Set([first, ...others]).size).toBe(3);
});

it('a form whose action was refused sends a new request, since the order repeats its answer to the old one', async () => {
  const { app, orderScreening } = await anApi();
  const once = '9f1c8a52-6f0e-4b44-9a3e-2a5d3c1b7e10';
  for (const code of ['refused-by-screening-service', 'action-not-sent'] as const) {
    orderScreening.cancel.mockRejectedValueOnce(new OrderScreeningError(code, 'In words.'));
    const { body } = await sendForm(app, '/orders/order-1/cancel', `once=${once}&reason=asked`);
    expect(body, code).toMatch(/name="once" value="[\w-]{36}"/);
    expect(body, code).not.toContain(once);
  }
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
    const why = 'Invalid request: reason must not be empty';
    orderScreening.override.mockRejectedValueOnce(new OrderScreeningError('invalid-request', why));
    const done = textOf((await sendForm(app, '/several', `${chosen}&reason=card+shown`)).body);
    expect(done).toMatch(
      /1 of 2 done .* order-1 shop not done Invalid request: reason must not be empty order-2 shop done/,
    );
  });

  it('nothing is resolved of a closed order', async () => {
    const { app, orderScreening } = await anApi();
    const summary = anOrderSummary({ closedAt: inHours(-1), needsAttention: true });
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ summary, state: withAttention() }));
    const asked = textOf((await app.inject(`/several?${chosen.replace('proceed', 'acknowledge')}`)).body);
    expect(asked).toMatch(/order-1 shop .* Nothing: the order is closed/);
    const { body } = await app.inject('/orders/order-1');
    expect(body).toContain('Attention: It passed.');
    expect(body).not.toContain('/acknowledge');
  });

  it('names what the person saw of each', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.inspect.mockImplementation(async ({ orderId }) =>
      anInspectedOrder({
        state: { ...anOrder('review'), action: orderId === 'order-1' ? 'hold' : 'cancel' },
      }),
    );
    const { body } = await app.inject(`/several?${chosen}`);
    const form = new URLSearchParams({ do: 'proceed', reason: 'x' });
    for (const [, order = ''] of body.matchAll(/name="order" value="([^"]+)"/g)) form.append('order', order);
    await sendForm(app, '/several', form.toString());
    const asked = orderScreening.override.mock.calls.map(([order, , how]) => [order, how?.ifAction]);
    expect(asked).toEqual([
      [{ orderId: 'order-1', integration: 'shop' }, 'hold'],
      [{ orderId: 'order-2', integration: 'shop' }, 'cancel'],
    ]);
  });

  it('a bulk action reports an order where nothing happened as such', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.acknowledge.mockResolvedValueOnce({ cleared: 0 });
    const form = `${chosen.replace('proceed', 'acknowledge')}&reason=done&from=list%3Dattention`;
    const { body } = await sendForm(app, '/several', form);
    expect(textOf(body)).toMatch(
      /1 of 2 done .*For 1 order there was nothing to do.* nothing to do Nothing needed attention/,
    );
    expect(body).toContain('<a href="/?list=attention">Back to the list</a>');
  });

  it('whose form is refused keeps what was typed', async () => {
    const { app } = await anApi();
    const form = `${chosen.replace('proceed', 'snooze')}&hours=0&reason=calls+back`;
    const { statusCode, body } = await sendForm(app, '/several', form);
    expect(statusCode).toBe(422);
    expect(body).toContain('>calls back</textarea>');
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
