import { describe, expect, it } from 'vitest';
import { FILLS } from '../../../src/api/queue/layout.ts';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { HOUR } from '../../fixtures/orders.ts';
import { anApi, anInspectedOrder, anOrderSummary, RUN_ID } from '../fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const KEY = 'the-key-of-the-operators';
const temporalUi = { url: 'http://127.0.0.1:8233/', namespace: 'orders' };
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();

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

  it('shows amount, decision, deadline, age and phase, and asks no order of which visibility knows enough', async () => {
    const { app, orderScreening } = await queued({ startedAt: inHours(-30) });
    const { body, statusCode } = await app.inject('/');
    expect(statusCode).toBe(200);
    expect(textOf(body)).toMatch(
      /Within 12 hours 1 .* order-1 default 125\.50 review hold in 5 h 29 min 1 d 6 h review no/,
    );
    expect(body).toMatch(/<tr role="row" class="now">/);
    expect(orderScreening.inspect).not.toHaveBeenCalled();
  });

  it('counts what is open, of the integrations that the key is for', async () => {
    const apiKeys = [{ ...hashedKey('shop', KEY), integrations: ['shop'] }];
    const { app, orderScreening } = await anApi({ apiKeys });
    orderScreening.count.mockImplementation(async (request) =>
      request?.attention ? 3 : request?.cancelBy ? 1_200 : request?.phase ? 20_000 : 31_000,
    );
    const headers = { authorization: `Bearer ${KEY}` };
    const text = textOf((await app.inject({ url: '/', headers })).body);
    expect(text).toContain(
      '20,000 in review 1,200 of them within 12 hours 3 need attention 31,000 open in all',
    );
    for (const [request] of orderScreening.count.mock.calls) {
      expect(request).toMatchObject({ integrations: ['shop'] });
    }
  });

  it('looks for an order in every integration, with the filters that were chosen', async () => {
    const { app, orderScreening } = await anApi({ integrations: ['default', 'shop'] });
    orderScreening.list.mockResolvedValue({ orders: [anOrderSummary({ closedAt: inHours(-1) })] });
    const { body } = await app.inject('/?q=%20order-1%20&decision=fail&amount-from=10.5&amount-to=20');
    expect(orderScreening.list).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        find: 'order-1',
        integrations: ['default', 'shop'],
        decision: 'fail',
        amount: { from: 10.5, until: 20 },
      }),
    );
    expect(body).toContain('>order-1</a>');
    const link = /href="\/queue\.csv\?([^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    expect(link).toBe('q=order-1&show=all&decision=fail&amount-from=10.5&amount-to=20');
  });

  it('asks for deadlines up to the one that was chosen, and for no order without one', async () => {
    const { app, orderScreening } = await anApi();
    await app.inject('/?within=12&show=review');
    const asked = orderScreening.list.mock.calls.map(([request]) => request?.cancelBy);
    expect(asked).not.toContain('none');
    const last = asked.at(-1);
    const until = typeof last === 'object' ? (last.until ?? '') : '';
    expect(Math.abs(Date.parse(until) - Date.parse(inHours(12)))).toBeLessThan(60_000);
  });

  it('has nothing to type or press on a wall, and loads itself again', async () => {
    const { app } = await queued();
    const { body, headers } = await app.inject('/?wall=1');
    expect(headers.refresh).toBe('30');
    expect(body).not.toMatch(/<form|<input|<button|<nav/);
    expect(body).toContain('>order-1</a>');
    expect((await app.inject('/')).headers).not.toHaveProperty('refresh');
  });

  it.each([
    ['refused', 401, {}],
    ['without an answer', 503, { authorization: `Bearer ${KEY}` }],
    ['one request too many', 429, { authorization: `Bearer ${KEY}` }],
  ])('loads itself again on a wall also after it was %s', async (_what, status, headers) => {
    const { app, orderScreening } = await anApi({ apiKeys: [hashedKey('shop', KEY)], maxRps: 1 });
    orderScreening.list.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Not now.'));
    if (status === 429) for (let sent = 0; sent < 20; sent += 1) await app.inject({ url: '/', headers });
    const answer = await app.inject({ url: '/?wall=1', headers });
    expect(answer).toMatchObject({ statusCode: status, headers: { refresh: '30' } });
  });

  it('is a file, too, whose cells no spreadsheet takes for a formula, and says when it is cut', async () => {
    const { app, orderScreening } = await queued({ orderId: '=1+1,x' });
    const { body, headers } = await app.inject('/queue.csv?show=review');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="orders-[\dT-]+\.csv"$/);
    expect(body.split('\r\n')[1]).toMatch(/^"'=1\+1,x",default,review,review,hold,no,125\.5,/);
    orderScreening.list.mockImplementation(async () => ({
      orders: Array.from({ length: 100 }, (_, index) => anOrderSummary({ orderId: `o-${index}` })),
      cursor: 'more',
    }));
    const lines = (await app.inject('/queue.csv?q=x')).body.trimEnd().split('\r\n');
    expect(lines).toHaveLength(2_002);
    expect(lines.at(-1)).toContain('Cut: these are the first 2000 orders');
  });

  it('has a picture of the last days, with the same in a table', async () => {
    const { app, orderScreening } = await anApi();
    let [asked, most] = [0, 0];
    orderScreening.count.mockImplementation(async (request) => {
      most = Math.max(most, ++asked);
      await Promise.resolve();
      asked -= 1;
      return request?.decision === 'pass' ? 1_234 : 5;
    });
    const { body } = await app.inject('/days');
    expect(body.split(`<rect fill="${FILLS.pass}"`)).toHaveLength(1 + 7);
    expect(textOf(body)).toContain('last 24 h 1,234 5 5 5');
    expect(orderScreening.count).toHaveBeenCalledTimes(36);
    // Temporal takes ten a second by default.
    expect(most).toBe(5);
  });

  it('has the same picture small, of the same integration, which is loaded after it and counted for itself', async () => {
    const { app, orderScreening } = await queued();
    const { body } = await app.inject('/?integration=shop');
    expect(body).toMatch(
      /<a href="\/days\?integration=shop"><img src="\/days\.svg\?integration=shop" [^>]*loading="lazy">/,
    );
    expect(orderScreening.count).toHaveBeenCalledTimes(4);
    const image = await app.inject('/days.svg?integration=shop');
    expect(image.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'private, max-age=300',
      vary: 'authorization',
    });
    expect(image.body).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
    expect(image.body.match(/<rect /g)).toHaveLength(4 * 7);
    for (const [request] of orderScreening.count.mock.calls.slice(4)) {
      expect(request).toMatchObject({ integration: 'shop' });
    }
    for (const url of ['/?wall=1', '/?cursor=none~']) {
      expect((await app.inject(url)).body).not.toContain('<img');
    }
  });

  it('has a picture only for who may see it, and a failure of it is kept by nobody', async () => {
    const { app, orderScreening } = await anApi({ apiKeys: [hashedKey('shop', KEY)] });
    const headers = { authorization: `Bearer ${KEY}` };
    expect((await app.inject('/days.svg')).statusCode).toBe(401);
    orderScreening.count.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Not now.'));
    const failed = await app.inject({ url: '/days.svg', headers });
    expect(failed).toMatchObject({ statusCode: 503, headers: { 'cache-control': 'no-store' } });
  });

  it('links to the order’s page, and that to its run in the Temporal UI', async () => {
    const { app, orderScreening } = await anApi({ temporalUi });
    const summary = anOrderSummary({ orderId: 'a/b c#é', integration: 'shop' });
    orderScreening.list.mockResolvedValue({ orders: [summary] });
    const path = '/orders/a%2Fb%20c%23%C3%A9?integration=shop';
    expect((await app.inject('/?q=x')).body).toContain(`href="${path}"`);
    orderScreening.inspect.mockResolvedValue(anInspectedOrder({ summary }));
    expect((await app.inject(path)).body).toContain(
      `href="http://127.0.0.1:8233/namespaces/orders/workflows/order%3Ashop%3Aa%2Fb%20c%23%C3%A9/${RUN_ID}/history"`,
    );
  });

  it('has no links to a Temporal UI that is not known', async () => {
    const { app } = await anApi();
    expect((await app.inject('/orders/order-1')).body).not.toContain('/namespaces/');
  });

  it('says why an order needs attention, and escapes whatever it shows', async () => {
    const attention = [{ code: 'cancel-due' as const, words: HOSTILE, since: inHours(-1), cause: {} }];
    const { app, orderScreening } = await queued({ orderId: HOSTILE, needsAttention: true, attention });
    const { body } = await app.inject('/');
    expect(body).not.toContain('<img src=x');
    expect(body.split(SHOWN).length).toBeGreaterThanOrEqual(3);
    expect(orderScreening.inspect).not.toHaveBeenCalled();
  });

  it('shows what the search attributes say of an order whose record can’t be read', async () => {
    const { app } = await queued({ needsAttention: true, problem: 'record-unreadable' });
    expect(textOf((await app.inject('/')).body)).toMatch(
      /order-1 default 125\.50 review hold .* review record-unreadable/,
    );
  });

  it('says when nothing waits', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({ orders: [] });
    expect(textOf((await app.inject('/')).body)).toContain('No orders need a person.');
    expect(textOf((await app.inject('/?q=x')).body)).toContain('No order has this id');
    for (const filter of ['show=review', 'integration=shop', 'decision=fail', 'within=12', 'amount-to=5']) {
      expect(textOf((await app.inject(`/?${filter}`)).body)).toContain('No orders match these filters.');
    }
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

describe('every page', () => {
  it.each([
    '/',
    '/orders/order-1',
    '/orders/order-1/cancel',
    '/orders/order-1/recheck',
    '/orders/order-1/actions/1/withdraw',
    '/orders/%20%0a',
  ])('%s loads from here only, runs no script, and is kept by nobody', async (url) => {
    const { app } = await anApi();
    const { headers, body } = await app.inject(url);
    const policy = String(headers['content-security-policy']);
    expect(policy).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
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
