import { describe, expect, it } from 'vitest';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anOrder, DAY, HOUR, sinceStart } from '../../orders/support.ts';
import { anApi, anInspectedOrder, anOrderSummary, RUN_ID } from '../fake-order-screening.ts';

const temporalUi = { url: 'http://127.0.0.1:8233/', namespace: 'orders' };
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();
const HOSTILE = `<img src=x onerror=alert(1)>"'&`;
const SHOWN = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';

/** The text of a page, without its markup. */
const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

describe('the queue page', () => {
  const queued = async (summary: Parameters<typeof anOrderSummary>[0] = {}) => {
    const api = await anApi({ temporalUi });
    const order = anOrderSummary({ cancelBy: inHours(5.5), ...summary });
    api.orderScreening.list.mockImplementation(async (request) =>
      'cancelBy' in (request ?? {}) &&
      String(request?.open) === 'true' &&
      inWindow(request?.cancelBy, order.cancelBy)
        ? { orders: [order] }
        : { orders: [] },
    );
    return api;
  };
  const inWindow = (range: unknown, at = '') =>
    typeof range === 'object' &&
    range !== null &&
    'from' in range &&
    'until' in range &&
    at >= String(range.from) &&
    at < String(range.until);

  it('shows amount, decision, age, deadline, last and next check with their sources', async () => {
    const { app, orderScreening } = await queued();
    const state = { ...anOrder('review'), startedAt: inHours(-30) };
    orderScreening.inspect.mockResolvedValue(
      anInspectedOrder({ state, poll: { lastAt: inHours(-0.1), answered: true, nextAt: inHours(0.15) } }),
    );
    const { body, statusCode } = await app.inject('/');
    expect(statusCode).toBe(200);
    const text = textOf(body);
    expect(text).toMatch(
      /Within 12 hours .* order-1 default 125\.50 review, hold no 1 d 6 h in 5 h 29 min, \d{4}/,
    );
    expect(text).toMatch(/6 min ago, \S+ \S+ UTC , poll in 8 min, \S+ \S+ UTC , poll/);
  });

  it('links to the order’s page, and to its run in the Temporal UI', async () => {
    const { app } = await queued({ orderId: 'a/b c#é', integration: 'shop' });
    const { body } = await app.inject('/');
    expect(body).toContain('href="/orders/a%2Fb%20c%23%C3%A9?integration=shop"');
    expect(body).toContain(
      `href="http://127.0.0.1:8233/namespaces/orders/workflows/order%3Ashop%3Aa%2Fb%20c%23%C3%A9/${RUN_ID}/history"`,
    );
  });

  it('has no links to a Temporal UI that is not known', async () => {
    const { app } = await anApi();
    expect((await app.inject('/orders/order-1')).body).not.toContain('/namespaces/');
  });

  it('says why an order needs attention, and escapes whatever it shows', async () => {
    const { app, orderScreening } = await queued({ orderId: HOSTILE, needsAttention: true });
    const attention = [{ code: 'cancel-due' as const, words: HOSTILE, since: inHours(-1) }];
    orderScreening.inspect.mockResolvedValue(
      anInspectedOrder({ state: { ...anOrder('review'), attention } }),
    );
    const { body } = await app.inject('/');
    expect(body).not.toContain('<img');
    expect(body.split(SHOWN).length).toBeGreaterThanOrEqual(3);
  });

  it('shows what visibility knows while no worker answers, and says so', async () => {
    const { app, orderScreening } = await queued();
    const { state: _state, ...rest } = anInspectedOrder();
    orderScreening.inspect.mockResolvedValue({ ...rest, missing: 'no-worker' });
    const text = textOf((await app.inject('/')).body);
    expect(text).toContain('No worker answered in time for 1 of these orders');
    expect(text).toContain('order-1 default 125.50 review, hold');
  });

  it('shows the order also when Temporal forgot it meanwhile, but hides no fault of ours', async () => {
    const { app, orderScreening } = await queued();
    orderScreening.inspect.mockRejectedValue(new OrderScreeningError('unknown-order', 'Gone.'));
    expect((await app.inject('/')).body).toContain('order-1');
    orderScreening.inspect.mockRejectedValue(new TypeError('a mistake'));
    const { statusCode, body } = await app.inject('/');
    expect(statusCode).toBe(500);
    expect(body).not.toContain('a mistake');
  });

  it('says when nothing waits', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({ orders: [] });
    expect(textOf((await app.inject('/')).body)).toContain('No order waits for anybody.');
  });

  it('goes on by a cursor, with the same filters', async () => {
    const { app, orderScreening } = await anApi();
    const orders = Array.from({ length: 30 }, (_, index) =>
      anOrderSummary({
        orderId: `order-${index}`,
        cancelBy: new Date(Date.now() + 13 * HOUR + index).toISOString(),
      }),
    );
    orderScreening.list.mockImplementation(async (request) => ({
      orders: orders.filter(({ cancelBy }) => inWindow(request?.cancelBy, cancelBy)),
    }));
    const first = await app.inject('/?show=review&integration=default');
    const next = /href="(\/\?[^"]*cursor=[^"]*)"/.exec(first.body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(next).toMatch(/show=review&integration=default&cursor=/);
    const second = await app.inject(next);
    expect([...second.body.matchAll(/>order-(\d+)</g)].map(([, number]) => Number(number))).toEqual([
      25, 26, 27, 28, 29,
    ]);
    expect(second.body).toContain('First page');
    expect(second.body).not.toContain('Next page');
  });

  it.each(['/?show=everything', '/?integration=a%20b', '/?cursor=nonsense'])(
    'answers %s by a page that names the fault and repeats nothing',
    async (url) => {
      const { app } = await anApi();
      const { statusCode, headers, body } = await app.inject(url);
      expect(statusCode).toBe(422);
      expect(headers['content-type']).toContain('text/html');
      expect(textOf(body)).toMatch(/(show|integration|cursor) must be/);
      expect(body).not.toMatch(/everything|a b|nonsense/);
    },
  );
});

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
    state.hints = { unread: true, until: inHours(2), spacingMs: 2_000 };
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
    expect(next?.map((one) => one.replace(/.*UTC: /, ''))).toEqual([
      'The decision is polled',
      'The decision is read again after a hint',
    ]);
    expect(timeline).toEqual([
      '2026-03-02 10:00:00 UTC: The order came',
      '2026-03-02 10:00:00 UTC: Decision review (checkout)',
      '2026-03-02 10:00:00 UTC: Phase review, action hold',
      `2026-03-03 10:00:00 UTC: Asked by a caller: report-fraud (${SHOWN})`,
      '2026-03-03 10:00:02 UTC: report-fraud: done (200)',
      '2026-03-04 10:00:00 UTC: Polled: the service did not answer',
    ]);
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
    expect(textOf(body)).toContain('override proceed, by somebody who did not say: card shown');
  });

  it('offers what the order takes: recheck and cancel while its window is open', async () => {
    const { app, orderScreening } = await anApi();
    const open = anOrder('pass');
    for (const attempt of open.attempts) attempt.cancelBy = inHours(30);
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ state: open }));
    const { body } = await app.inject('/orders/order-1');
    expect(body).toContain('href="/orders/order-1/recheck?integration=default"');
    expect(body).toContain('href="/orders/order-1/cancel?integration=default"');
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
    ['no-worker', 'No worker answered in time'],
    ['unreadable', 'A worker failed to read the order'],
    ['undecryptable', 'PAYLOAD_KEYS of the API don’t open'],
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
    expect((await app.inject('/orders/order-1?notice=canceled')).body).toContain('canceled with the service');
    expect((await app.inject('/orders/order-1?notice=Pay%20here')).body).not.toContain('Pay here');
    expect((await app.inject('/orders/order-1?notice=toString')).statusCode).toBe(200);
  });

  it.each([
    ['unknown-order', 404, 'No such order'],
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

describe('every page', () => {
  it.each([
    '/',
    '/orders/order-1',
    '/orders/order-1/cancel',
    '/orders/order-1/recheck',
    '/orders/order-1/actions/1/withdraw',
    '/orders/%20%0a',
  ])('%s loads the stylesheet only, runs no script, and is kept by nobody', async (url) => {
    const { app } = await anApi();
    const { headers, body } = await app.inject(url);
    const policy = String(headers['content-security-policy']);
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(body).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/);
    expect([...body.matchAll(/<link[^>]*href="([^"]+)"/g)].map(([, href]) => href)).toEqual(['/queue.css']);
  });

  it('gets its style from here', async () => {
    const { app } = await anApi();
    const { statusCode, headers, body } = await app.inject('/queue.css');
    expect({ statusCode, type: headers['content-type'] }).toMatchObject({
      statusCode: 200,
      type: expect.stringContaining('text/css'),
    });
    expect(body).toContain('prefers-color-scheme: dark');
  });
});
