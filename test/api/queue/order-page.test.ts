import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anIntegration, finding } from '../../fixtures/integrations.ts';
import { anOrder, DAY, HOUR, sinceStart } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder, anOrderSummary } from '../fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();

describe('the page of an order', () => {
  it('has a timeline, the oldest first, and what comes next', async () => {
    const { app, orderScreening } = await anApi();
    const state = anOrder('review');
    state.actions.push({
      number: 1,
      kind: 'report-fraud',
      subject: 'x',
      status: 'done',
      by: 'caller',
      because: HOSTILE,
      requestedAt: sinceStart(DAY),
      finishedAt: sinceStart(DAY + 2_000),
      code: '200',
    });
    orderScreening.inspect.mockResolvedValue(
      anInspectedOrder({ state, poll: { lastAt: sinceStart(2 * DAY), answered: false, nextAt: inHours(1) } }),
    );
    const { body } = await app.inject('/orders/order-1');
    const lists = [...body.matchAll(/<ol class="timeline">(.*?)<\/ol>/gs)].map(([, list]) =>
      [...(list ?? '').matchAll(/<li>(.*?)<\/li>/g)].map(([, item]) =>
        (item ?? '').replaceAll(/<[^>]*>/g, ''),
      ),
    );
    const [next, timeline] = lists;
    expect(next?.map((one) => one.replace(/.*UTC: /, ''))).toEqual(['The decision is polled']);
    expect(timeline).toEqual([
      '2026-03-02 10:00:00 UTC: Order received',
      '2026-03-02 10:00:00 UTC: Decision review (checkout)',
      '2026-03-02 10:00:00 UTC: Phase review, action hold',
      `2026-03-03 10:00:00 UTC: Requested by a caller: report-fraud (${SHOWN})`,
      '2026-03-03 10:00:02 UTC: report-fraud: done (200)',
      '2026-03-04 10:00:00 UTC: Polled: the screening service did not answer',
    ]);
  });

  it('shows a gateway result that was given up', async () => {
    const { app, orderScreening } = await anApi();
    const state = anOrder('pass');
    for (const attempt of state.attempts)
      attempt.gateway = { result: 'pass', at: sinceStart(HOUR), sent: 'given-up' };
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
    const { statusCode, body } = await app.inject('/orders/order-1');
    expect(statusCode).toBe(200);
    expect(textOf(body)).toContain('Payment gateway result pass, not sent to the screening service');
  });

  it('says who did what, and which of it was only claimed', async () => {
    const { app, orderScreening } = await anApi();
    const journal = [
      { at: sinceStart(HOUR), what: 'cancel' as const, number: 1, by: { key: 'ops', actor: HOSTILE } },
      {
        at: sinceStart(2 * HOUR),
        what: 'override' as const,
        action: 'proceed' as const,
        because: 'card shown',
      },
    ];
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: { ...anOrder('review'), journal } }));
    const { body } = await app.inject('/orders/order-1');
    expect(body).toContain(`cancel 1, by ${SHOWN} (as claimed), key ops`);
    expect(textOf(body)).toContain('override proceed, by an unnamed caller: card shown');
  });

  it('offers what the order takes: recheck and cancel while its window is open', async () => {
    const { app, orderScreening } = await anApi();
    const open = anOrder('pass');
    for (const transaction of open.transactions) transaction.cancelBy = inHours(30);
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: open }));
    const { body } = await app.inject('/orders/order-1');
    expect(body).toContain('href="/orders/order-1/recheck?integration=default"');
    expect(body).toContain('href="/orders/order-1/cancel?integration=default"');
  });

  it('offers the recheck of a closed order that has a transaction', async () => {
    const { app, orderScreening } = await anApi();
    const summary = anOrderSummary({ closedAt: inHours(-1) });
    const state = { ...anOrder('pass'), phase: 'closed' as const };
    const recheck = 'href="/orders/order-1/recheck?integration=default"';
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ summary, state }));
    expect((await app.inject('/orders/order-1')).body).toContain(recheck);
    orderScreening.inspect.mockResolvedValue(
      anInspectedOrder({ summary, state: { ...state, transactions: [] } }),
    );
    expect((await app.inject('/orders/order-1')).body).not.toContain(recheck);
  });

  it('says why an order can’t be canceled', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: anOrder('pass') }));
    const late = await app.inject('/orders/order-1');
    expect(textOf(late.body)).toContain('It can’t be canceled: the cancel window is closed.');
    expect(late.body).not.toContain('/cancel?');
    const passive = anOrder('pass', { passive: true });
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: passive }));
    expect(textOf((await app.inject('/orders/order-1')).body)).toContain('the integration is passive');
  });

  it.each([
    ['undecryptable', 'The API’s PAYLOAD_KEYS can’t decrypt'],
    ['no-record', 'it was terminated or failed'],
  ] as const)('shows what is known when the state is missing: %s', async (missing, words) => {
    const { app, orderScreening } = await anApi();
    const { state: _state, ...rest } = anInspectedOrder();
    orderScreening.inspect.mockResolvedValue({ ...rest, missing });
    const { body, statusCode } = await app.inject('/orders/order-1');
    expect(statusCode).toBe(200);
    expect(textOf(body)).toContain(words);
    expect(textOf(body)).toContain('Amount 125.50');
  });

  it('takes no words for its notice from the address', async () => {
    const { app } = await anApi();
    expect((await app.inject('/orders/order-1?notice=canceled')).body).toContain(
      'The transaction is canceled',
    );
    expect((await app.inject('/orders/order-1?notice=Pay%20here')).body).not.toContain('Pay here');
    expect((await app.inject('/orders/order-1?notice=toString')).statusCode).toBe(200);
  });

  it.each([
    ['unknown-order', 404, 'Order not found'],
    ['temporal-unavailable', 503, 'Temporal can’t be reached'],
  ] as const)('is a clear page when the order can’t be read: %s', async (code, status, title) => {
    const { app, orderScreening } = await anApi();
    orderScreening.inspect.mockRejectedValue(new OrderScreeningError(code, 'For programs.'));
    const { statusCode, headers, body } = await app.inject('/orders/order-1');
    expect(statusCode).toBe(status);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain(`<h1>${title}</h1>`);
  });
});

describe('what a person may do', () => {
  const inReview = () => {
    const open = anOrder('review', { reviewLimitMs: 10_000 * DAY });
    for (const transaction of open.transactions) transaction.cancelBy = inHours(30);
    return anInspectedOrder({ state: open });
  };
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };

  it('is what the scopes of the key allow', async () => {
    const keys = { read: 'a-key-that-reads-only', act: 'a-key-that-acts-only', ops: 'a-key-of-operations' };
    const apiKeys = [
      hashedKey('read', keys.read, { scopes: ['read'] }),
      hashedKey('act', keys.act),
      hashedKey('ops', keys.ops, { scopes: ['read', 'act', 'ops'] }),
    ];
    const { app, orderScreening } = await anApi({ apiKeys });
    orderScreening.inspect.mockResolvedValue(inReview());
    const seen = async (key: string) =>
      (await app.inject({ url: '/orders/order-1', headers: { authorization: `Bearer ${key}` } })).body;
    expect(await seen(keys.read)).not.toMatch(/Cancel …|Recheck …/);
    const ofWhoActs = await seen(keys.act);
    expect(ofWhoActs).toMatch(/Cancel ….*Recheck …|Recheck ….*Cancel …/s);
    expect(ofWhoActs).not.toContain('/proceed?');
    expect(await seen(keys.ops)).toContain('/orders/order-1/proceed?');
    const authorization = `Bearer ${keys.act}`;
    const refused = await app.inject({ url: '/orders/order-1/proceed', headers: { authorization } });
    expect(refused.statusCode).toBe(403);
  });

  it.each([
    ['proceed', 'override', { action: 'proceed', reason: 'card shown' }],
    ['decide-cancel', 'override', { action: 'cancel', reason: 'card shown' }],
    ['acknowledge', 'acknowledge', { reason: 'card shown' }],
  ] as const)('%s asks for a reason, and does nothing without one', async (action, called, request) => {
    const { app, orderScreening } = await anApi();
    orderScreening.inspect.mockResolvedValue(inReview());
    const url = `/orders/order-1/${action}`;
    const send = (payload: string) => app.inject({ method: 'POST', url, headers, payload });
    const without = await send('reason=+');
    expect(without.statusCode).toBe(422);
    expect(without.body).toContain('reason is required');
    expect(orderScreening[called]).not.toHaveBeenCalled();
    expect((await send('reason=card+shown')).statusCode).toBe(303);
    expect(orderScreening[called]).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ orderId: 'order-1' }),
      request,
      expect.anything(),
    );
  });

  it('sends an event again', async () => {
    const { app, orderScreening } = await anApi();
    const url = '/orders/order-1/events/2/redeliver';
    expect((await app.inject({ method: 'POST', url, headers })).headers.location).toContain(
      'notice=redelivered',
    );
    expect(orderScreening.redeliver.mock.calls[0]?.[1]).toEqual({ sequence: 2 });
  });

  it('is done to several orders, after a page that says what happens to each, with an answer for each', async () => {
    const { app, orderScreening } = await anApi();
    const closed = anOrderSummary({ orderId: 'order-2', closedAt: inHours(-1) });
    orderScreening.inspect.mockImplementation(async ({ orderId }) =>
      orderId === 'order-2' ? anInspectedOrder({ summary: closed }) : inReview(),
    );
    const chosen = 'order=default%2Forder-1&order=shop%2Forder-2&do=proceed';
    const asked = textOf((await app.inject(`/several?${chosen}`)).body);
    expect(asked).toMatch(/order-1 default .* Approve order-2 shop .* Nothing: /);
    expect(orderScreening.override).not.toHaveBeenCalled();
    orderScreening.override.mockImplementation(async ({ orderId }) => {
      if (orderId === 'order-2') throw new OrderScreeningError('order-closed', 'Closed.');
      return {
        orderId,
        integration: 'default',
        attempt: 1,
        decision: 'review',
        action: 'proceed',
        phase: 'review',
      };
    });
    const payload = `${chosen}&reason=card+shown`;
    const answer = textOf((await app.inject({ method: 'POST', url: '/several', headers, payload })).body);
    expect(answer).toMatch(
      /1 of 2 done .* order-1 default done .* order-2 shop not done The order is closed/,
    );
  });

  it('is nothing to no order, nor to orders of other integrations', async () => {
    const apiKeys = [
      {
        ...hashedKey('ops', 'a-key-of-operations'),
        scopes: ['read' as const, 'ops' as const],
        integrations: ['shop'],
      },
    ];
    const { app, orderScreening } = await anApi({ apiKeys });
    const send = (payload: string) =>
      app.inject({
        method: 'POST',
        url: '/several',
        payload,
        headers: { ...headers, authorization: 'Bearer a-key-of-operations' },
      });
    expect((await send('do=recheck')).statusCode).toBe(422);
    expect((await send('do=recheck&order=shop%2F1&order=default%2F2')).statusCode).toBe(403);
    expect(orderScreening.recheck).not.toHaveBeenCalled();
  });
});

it('an order’s page has what the service says in words, the weightiest first', async () => {
  const { app, orderScreening } = await anApi();
  const state = anOrder('review');
  const [reading] = state.attempts[0]?.readings ?? [];
  if (reading === undefined) throw new Error('the order has a reading');
  reading.insights = {
    risk: {
      '1': { description: 'A new e-mail address', impact: 'low' },
      '2': { description: HOSTILE, impact: 'high' },
    },
    recommendation: { '1': { description: 'Call the customer' } },
  };
  orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
  const { body } = await app.inject('/orders/order-1');
  expect(body).not.toContain('<img');
  expect(textOf(body)).toMatch(
    /Insights Recommendation Call the customer Risk &lt;img.* high A new e-mail address low/,
  );
});

it('an order’s page leads to the newest transaction in the portal, where the policy says how', async () => {
  const portalLink = 'https://portal.example.com/transactions/{transactionId}?again={transactionId}';
  const { app, orderScreening } = await anApi({ findIntegration: finding(anIntegration({ portalLink })) });
  const state = anOrder('review');
  const [transaction] = state.transactions;
  if (transaction === undefined) throw new Error('the order has a transaction');
  transaction.id = 'a/b c';
  orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state }));
  expect((await app.inject('/orders/order-1')).body).toContain(
    'href="https://portal.example.com/transactions/a%2Fb%20c?again=a%2Fb%20c"',
  );
  const other = anInspectedOrder({ state, summary: anOrderSummary({ integration: 'unknown' }) });
  orderScreening.inspect.mockResolvedValue(other);
  expect((await app.inject('/orders/order-1')).body).not.toContain('portal.example.com');
});
