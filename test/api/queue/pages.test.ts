import { describe, expect, it, vi } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError, type OrderSummary } from '../../../src/starter.ts';
import { HOUR } from '../../fixtures/orders.ts';
import { anApi, anOrderSummary } from '../fake-order-screening.ts';
import { HOSTILE, SHOWN, textOf } from './support.ts';

const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();

/** The pages over one open order. */
async function queued(order: Partial<OrderSummary> = {}) {
  const api = await anApi();
  const summary = anOrderSummary({ cancelBy: inHours(5.5), startedAt: inHours(-30), ...order });
  api.orderScreening.list.mockImplementation(async ({ cancelBy } = {}) => {
    const { from = '', until = '' } = typeof cancelBy === 'object' ? cancelBy : {};
    const isIn = summary.cancelBy !== undefined && summary.cancelBy >= from && summary.cancelBy < until;
    return { orders: isIn ? [summary] : [] };
  });
  return api;
}

describe('the queue page', () => {
  const attention = [{ code: 'cancel-due' as const, words: HOSTILE, since: inHours(-1), cause: {} }];
  it.each<[string, Partial<OrderSummary>, RegExp]>([
    ['amount, deadline, age and phase', {}, /125\.50 review hold in 5 h 29 min 1 d 6 h review no/],
    ['that its record can’t be read', { problem: 'record-unreadable' }, /review hold .* record-unreadable/],
    ['why it needs attention', { attention }, /review &lt;img/],
    ['an id that would be markup', { orderId: HOSTILE }, /&lt;img.* default 125\.50/],
  ])('shows of an order %s', async (_what, order, words) => {
    const { app, orderScreening } = await queued(order);
    const { statusCode, body } = await app.inject('/');
    expect(statusCode).toBe(200);
    expect(textOf(body)).toMatch(/Within 12 hours 1 /);
    expect(textOf(body)).toMatch(words);
    expect(body).not.toContain('<img src=x');
    if (JSON.stringify(order).includes('onerror')) expect(body).toContain(SHOWN);
    expect(orderScreening.inspect).not.toHaveBeenCalled();
  });

  it('looks for an order in every integration, with the filters that were chosen', async () => {
    const { app, orderScreening } = await anApi({ integrations: ['default', 'shop'] });
    const { body } = await app.inject('/?q=%20a%2F1%20&decision=fail&amount-from=10.5&amount-to=20');
    expect(orderScreening.list).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        find: 'a/1',
        integrations: ['default', 'shop'],
        decision: 'fail',
        amount: { from: 10.5, until: 20 },
      }),
    );
    const links = [...body.matchAll(/href="(\/(?:transactions|queue\.csv)[^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      '/transactions/a%2F1?integration=default',
      '/transactions/a%2F1?integration=shop',
      '/queue.csv?q=a%2F1&amp;show=all&amp;decision=fail&amp;amount-from=10.5&amp;amount-to=20',
    ]);
  });

  it('says when nothing waits', async () => {
    const { app } = await anApi();
    expect(textOf((await app.inject('/')).body)).toContain('No orders need a person.');
    expect(textOf((await app.inject('/?q=x')).body)).toContain('No order has this id');
    expect(textOf((await app.inject('/?within=12')).body)).toContain('No orders match these filters.');
  });

  it('goes on by a cursor, with the same filters', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockImplementation(async ({ open, limit = 0 } = {}) =>
      open === true ? { orders: [] } : { orders: Array(limit).fill(anOrderSummary()), cursor: 'more' },
    );
    const { body } = await app.inject('/?show=review&integration=default');
    const next = /href="(\/\?[^"]*cursor=[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(next).toMatch(/show=review&integration=default&cursor=/);
    expect((await app.inject(next)).body).toContain('First page');
  });

  it.each(['/?show=everything', '/?integration=a%20b', '/?cursor=nonsense'])(
    'answers %s by a page that names the fault and repeats nothing',
    async (url) => {
      const { app } = await anApi();
      const { statusCode, body } = await app.inject(url);
      expect(statusCode).toBe(422);
      expect(textOf(body)).toMatch(/(show|integration|cursor) must be/);
      expect(body).not.toMatch(/everything|a b|nonsense/);
    },
  );

  it('has nothing to type or press on a wall, and loads itself again, also after an error', async () => {
    const { app } = await queued();
    const { body, headers } = await app.inject('/?wall=1');
    expect(headers.refresh).toBe('30');
    expect(body).not.toMatch(/<form|<input|<button|<nav/);
    expect(body).toContain('>order-1</a>');
    expect((await app.inject('/')).headers).not.toHaveProperty('refresh');
    const keyed = await anApi({ apiKeys: [hashedKey('shop', 'the-key-of-the-shop')] });
    const refused = await keyed.app.inject('/?wall=1');
    expect(refused).toMatchObject({ statusCode: 401, headers: { refresh: '30' } });
  });

  it('is a file, too, whose cells no spreadsheet takes for a formula, and says when it is cut', async () => {
    const { app, orderScreening } = await anApi();
    const orders = Array.from({ length: 100 }, () => anOrderSummary({ orderId: '=1+1,x' }));
    orderScreening.list.mockResolvedValue({ orders, cursor: 'more' });
    const { body, headers } = await app.inject('/queue.csv?q=x');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="orders-[\dT-]+\.csv"$/);
    const lines = body.trimEnd().split('\r\n');
    expect(lines[1]).toMatch(/^"'=1\+1,x",default,review,review,hold,no,125\.5,/);
    orderScreening.list.mockResolvedValueOnce({ orders: [anOrderSummary({ orderId: ';=1+1' })] });
    expect((await app.inject('/queue.csv?q=x')).body).toContain('"\';=1+1",default');
    expect(lines).toHaveLength(2_002);
    expect(lines.at(-1)).toContain('Cut: these are the first 2000 orders');
  });
});

it('the last days are counted once in half a minute, however many ask, for each choice of integrations', async () => {
  const { app, orderScreening } = await anApi();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const asked = async (...urls: string[]) => {
    await Promise.all(urls.map((url) => app.inject(url)));
    return orderScreening.count.mock.calls.length;
  };
  const once = await asked('/days', '/days', '/days.svg');
  expect(await asked('/days', '/days.svg')).toBe(once);
  expect(await asked('/days?integration=other')).toBe(2 * once);
  orderScreening.count.mockRejectedValueOnce(new OrderScreeningError('temporal-unavailable', 'Not now.'));
  await asked('/days?integration=third');
  expect((await app.inject('/days?integration=third')).statusCode).toBe(200);
  vi.advanceTimersByTime(30_000);
  const later = orderScreening.count.mock.calls.length;
  expect(await asked('/days')).toBe(later + once);
  vi.useRealTimers();
});

it('the picture of the last days may be kept by the browser of who asked, and a failure of it by nobody', async () => {
  const { app, orderScreening } = await anApi();
  expect((await app.inject('/days.svg')).headers).toMatchObject({
    'content-type': 'image/svg+xml',
    'cache-control': 'private, max-age=300',
    vary: 'authorization',
  });
  orderScreening.count.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Not now.'));
  const failed = await app.inject('/days.svg?integration=other');
  expect(failed).toMatchObject({ statusCode: 503, headers: { 'cache-control': 'no-store' } });
});

it.each([
  '/',
  '/orders/order-1',
  '/orders/order-1/cancel',
  '/several?do=recheck&order=shop%2F1',
  '/orders/%20%0a',
])('the page %s loads from here only, runs no script, and is kept by nobody', async (url) => {
  const { app } = await anApi();
  const { headers, body } = await app.inject(url);
  expect(headers).toMatchObject({
    'content-security-policy':
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  expect(body).not.toMatch(/<script|<style|\sstyle=|\son\w+=|javascript:/);
  const [style = '', ...others] = [...body.matchAll(/<link[^>]*href="([^"]+)"/g)].map(([, href]) => href);
  expect(others).toEqual([]);
  expect((await app.inject(style)).headers['content-type']).toContain('text/css');
});
