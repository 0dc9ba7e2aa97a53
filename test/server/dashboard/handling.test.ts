/** What people write on an order, what the queue makes of it, and checkouts that never became an order. */
import { expect, it } from 'vitest';
import { OrderScreeningError } from '../../../src/contract/errors.ts';
import type { ActionRecord } from '../../../src/contract/order/state.ts';
import { queueEntry } from '../../../src/server/dashboard/queue/queue-list.ts';
import { anOrder } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder } from '../api/fake-order-screening.ts';
import { aQueuedOrder, inHours, sendForm, textOf } from './support.ts';

it.each([
  ['snooze', 'hours=4&reason=calls+back', { until: expect.any(String), note: 'calls back' }],
  ['note', 'reason=called+the+customer', { text: 'called the customer' }],
  ['assign', 'assignee=+ada+', { assignee: 'ada' }],
  ['assign', 'assignee=', { assignee: null }],
] as const)('the form of %s with %s sends it to the order', async (action, form, request) => {
  const { app, orderScreening } = await anApi();
  const { statusCode, headers } = await sendForm(app, `/orders/order-1/${action}`, form);
  expect(statusCode).toBe(303);
  expect(orderScreening[action]).toHaveBeenCalledWith(expect.anything(), request, expect.anything());
  const page = textOf((await app.inject(String(headers.location))).body);
  expect(page).toMatch(/Snoozed\. The order|The note is in the timeline|Assigned/);
});

it('a snooze lasts for the chosen hours, needs a note, and offers no time after the cancel window', async () => {
  const { app, orderScreening } = await anApi();
  expect((await sendForm(app, '/orders/order-1/snooze', 'hours=4&reason=')).statusCode).toBe(422);
  expect((await sendForm(app, '/orders/order-1/snooze', 'hours=x&reason=a')).statusCode).toBe(422);
  await sendForm(app, '/orders/order-1/snooze', 'hours=4&reason=a');
  const [[, { until } = { until: '' }] = []] = orderScreening.snooze.mock.calls;
  expect(Math.abs(Date.parse(String(until)) - Date.parse(inHours(4)))).toBeLessThan(60_000);
  const inspected = anInspectedOrder({ state: anOrder('review') });
  const summary = { ...inspected.summary, cancelBy: inHours(5) };
  orderScreening.inspect.mockResolvedValue({ ...inspected, summary });
  const { body } = await app.inject('/orders/order-1');
  const [offered = ''] = body.match(/<select id="hours-snooze".*?<\/select>/s) ?? [];
  expect(textOf(offered).trim()).toBe('1 hour 4 hours');
});

it('a form that is sent twice is one request, one with other words or from a page loaded again is another', async () => {
  const { app, orderScreening } = await anApi();
  orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: anOrder('review') }));
  const opened = async () => {
    const { body } = await app.inject('/orders/order-1');
    return /<details name="act" id="note">.*?name="once" value="([^"]+)"/s.exec(body)?.[1] ?? '';
  };
  const once = await opened();
  await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called`);
  orderScreening.note.mockRejectedValueOnce(new OrderScreeningError('temporal-unavailable', 'Not now.'));
  const failed = await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called`);
  expect(failed.body).toContain(`name="once" value="${once}"`);
  await sendForm(app, '/orders/order-1/note', `once=${once}&reason=called+again`);
  await sendForm(app, '/orders/order-1/note', `once=${await opened()}&reason=called`);
  const [first, second, ...others] = orderScreening.note.mock.calls.map(([, , how]) => how?.idempotencyKey);
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(second).toBe(first);
  expect(new Set([first, ...others]).size).toBe(3);
});

it('a snoozed order is in its own list only', () => {
  const order = aQueuedOrder({}, (state) => {
    state.snoozedUntil = inHours(2);
  });
  expect(queueEntry(order, Date.now())?.tabs).toEqual(['snoozed']);
});

it('the queue has a tab for snoozed orders if there are any, the wall has none', async () => {
  const { app } = await anApi();
  expect((await app.inject('/')).body).not.toContain('Snoozed');
  const snoozed = aQueuedOrder({}, (state) => {
    state.snoozedUntil = inHours(2);
  });
  const api = await anApi();
  api.orderScreening.queue.mockResolvedValue({ orders: [snoozed], cut: false });
  expect((await api.app.inject('/')).body).toContain('Snoozed <b>1</b>');
  expect((await api.app.inject('/?wall=1')).body).not.toContain('Snoozed');
});

it('a portal action that failed is stuck at once, with its tries, the last error and the next try', () => {
  const action: ActionRecord = {
    ...{ number: 1, kind: 'cancel', subject: 'x', status: 'running', by: 'policy' },
    ...{ requestedAt: inHours(-0.01), tries: 9, lastError: 'HTTP 503.', nextTryAt: inHours(0.04) },
  };
  const order = aQueuedOrder({}, (state) => {
    state.actions = [action];
  });
  expect(queueEntry(order, Date.now())).toMatchObject({
    tabs: expect.arrayContaining(['stuck']),
    why: { flag: 'Stuck', words: 'Cancel failed 9 times (HTTP 503), next try in 2 min' },
  });
});

it('the timeline has notes, assignments and snoozes, and who signed in without “as claimed”', async () => {
  const { app, orderScreening } = await anApi();
  const state = anOrder('review');
  const [signedIn, claimed] = [
    { key: 'sign-in', actor: 'ada@example.com' },
    { key: 'ops', actor: 'eve' },
  ];
  state.journal = [
    { at: inHours(-3), what: 'note', by: signedIn, because: 'called' },
    { at: inHours(-2), what: 'assign', by: claimed, assignee: 'ada@example.com' },
    { at: inHours(-1), what: 'snooze', by: signedIn, until: inHours(2), because: 'calls back' },
  ];
  orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
  const text = textOf((await app.inject('/orders/order-1')).body);
  expect(text).toMatch(/Snoozed until .* ada@example\.com calls back/);
  expect(text).toContain('Assigned to ada@example.com eve (as claimed), key ops');
  expect(text).toMatch(/Note ada@example\.com called/);
});

it('checkouts that were refused are listed, without what callers wrote', async () => {
  const { app, orderScreening } = await anApi();
  expect((await app.inject('/')).body).not.toContain('Refused checkouts');
  const errors = [{ path: 'transaction.billTo.address', message: 'has 135 characters' }];
  orderScreening.screen.mockRejectedValue(new OrderScreeningError('invalid-request', 'No.', { errors }));
  const url = '/v1/orders/order-9/screening?integration=shop';
  await app.inject({ method: 'POST', url, body: { transaction: {} } });
  expect(textOf((await app.inject('/')).body)).toContain(
    'Refused checkouts : no order was started for the last 1.',
  );
  expect(textOf((await app.inject('/refused')).body)).toMatch(/order-9 shop transaction\.billTo\.address/);
});
