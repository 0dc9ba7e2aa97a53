import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError, type OrderSummary } from '../../../src/starter.ts';
import { anApi, anOrderSummary } from '../api/fake-order-screening.ts';
import { aQueuedOrder, HOSTILE, inHours, queued, SHOWN, sendForm, textOf } from './support.ts';

const some = (length: number) =>
  Array.from({ length }, (_, index) => aQueuedOrder({ orderId: `order-${index}` }));

describe('the queue page', () => {
  const attention = [{ code: 'cancel-due' as const, words: HOSTILE, since: inHours(-1), cause: {} }];
  it.each<[string, Partial<OrderSummary>, RegExp]>([
    [
      'amount, why, deadline, age and decision',
      {},
      /125\.50 In review at .* 5 h 29 min .* 1 d review → hold/,
    ],
    ['that its record can’t be read', { problem: 'record-unreadable' }, /Attention The API’s PAYLOAD_KEYS/],
    ['why it needs attention', { needsAttention: true, attention }, /Attention &lt;img/],
    ['its currency, with its decimals', { amount: 184_000, currency: 'JPY' }, / 184,000 JPY /],
    ['an id that would be markup', { orderId: HOSTILE }, /&lt;img.* default 125\.50/],
  ])('shows of an order %s', async (_what, order, words) => {
    const { app, orderScreening } = await queued([aQueuedOrder(order)]);
    const { statusCode, body } = await app.inject('/');
    expect(statusCode).toBe(200);
    expect(textOf(body)).toMatch(/Within 12 hours 1 /);
    expect(textOf(body)).toMatch(words);
    expect(body).not.toContain('<img src=x');
    if (JSON.stringify(order).includes('onerror')) expect(body).toContain(SHOWN);
    expect(orderScreening.inspect).not.toHaveBeenCalled();
  });

  it('red is only for overdue and attention', async () => {
    const { app } = await queued([
      aQueuedOrder({ orderId: 'late', cancelBy: inHours(-1) }),
      aQueuedOrder({ orderId: 'soon' }),
    ]);
    const { body } = await app.inject('/');
    expect(body.match(/<tr role="row" class="late">/g)).toHaveLength(1);
    expect(body.match(/<b class="red">1<\/b>/g)).toHaveLength(1);
    expect(body).not.toMatch(/class="d [a-z]+ red/);
  });

  it('a search looks in every order, and has no other filter', async () => {
    const { app, orderScreening } = await queued([], { integrations: ['default', 'shop'] });
    const { body } = await app.inject('/?q=%20a%2F1%20&list=overdue&decision=fail&amount-from=10.5');
    expect(orderScreening.rows).toHaveBeenCalledExactlyOnceWith({
      ...{ find: 'a/1', integrations: ['default', 'shop'], cursor: undefined, limit: 100 },
    });
    expect(textOf(body)).toContain('“a/1” in every order');
    const links = [...body.matchAll(/href="(\/(?:transactions|queue\.csv)[^"]*)"/g)].map(([, link]) => link);
    expect(links).toEqual([
      '/queue.csv?q=a%2F1',
      '/transactions/a%2F1?integration=default',
      '/transactions/a%2F1?integration=shop',
    ]);
  });

  it('filters say where they look; where nothing fits, it leads to every order', async () => {
    const { app, orderScreening } = await queued();
    const { body } = await app.inject('/?decision=fail');
    expect(textOf(body)).toMatch(/Decision fail ×.*No order matches In “All” no order matches these filters/);
    expect(body).toContain('href="/?list=every&amp;decision=fail"');
    expect(orderScreening.rows).not.toHaveBeenCalled();
    await app.inject('/?list=every&decision=fail&phase=decided&amount-to=20');
    expect(orderScreening.rows).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ decision: 'fail', phase: 'decided', amount: { until: 20 }, find: undefined }),
    );
  });

  it('an empty queue says so, and when the next deadline is', async () => {
    const { app } = await queued([]);
    expect(textOf((await app.inject('/')).body)).toContain('Queue is clear No deadline is ahead.');
    const decided = await queued([aQueuedOrder({ phase: 'decided', cancelBy: inHours(3.02) })]);
    expect(textOf((await decided.app.inject('/')).body)).toMatch(
      /Queue is clear Next deadline in 3 h 1 min: order-1/,
    );
    expect(textOf((await app.inject('/?list=stuck')).body)).toContain('Nothing in “Stuck”');
    expect(textOf((await app.inject('/?q=x')).body)).toContain('No order has this id');
  });

  it('tabs and bands count the whole list, not the page, and all of a page can be selected', async () => {
    const { app } = await queued(some(130));
    const { body } = await app.inject('/?list=soon&select=all');
    expect(textOf(body)).toMatch(/Within 12 h 130 .* Within 12 hours 130 /);
    expect(body.match(/name="order" value="default\/order-\d+" checked/g)).toHaveLength(100);
    expect(textOf(body)).toContain('Select all 100');
    const second = await app.inject('/?list=soon&page=2');
    expect(second.body.match(/name="order"/g)).toHaveLength(30);
    expect(second.body).toContain('First page');
    const paths = /href="(\/orders\/order-\d+\?[^"]*pos=101)"/.exec(second.body);
    const order = await app.inject(paths?.[1]?.replaceAll('&amp;', '&') ?? '');
    expect(order.body).toContain('<a href="/?list=soon&amp;page=2" aria-keyshortcuts="u">');
    expect(second.body).toContain('name="from" value="list=soon&amp;page=2"');
    const several = await app.inject('/several?do=recheck&order=a/b&from=list%3Dsoon%26page%3D2');
    expect(several.body).toContain('<a href="/?list=soon&amp;page=2">Back to the list</a>');
  });

  it('the way back from an order on a later page of a search leads to that page', async () => {
    const { app, orderScreening } = await queued();
    orderScreening.rows.mockResolvedValue({ orders: [aQueuedOrder({})], cursor: 'more' });
    const { body } = await app.inject('/?q=x&cursor=abc');
    const path = /href="(\/orders\/order-1[^"]*)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await app.inject(path)).body).toContain('<a href="/?q=x&amp;cursor=abc" aria-keyshortcuts="u">');
  });

  it('an order’s page knows the list it was opened from: next, previous, and the way back', async () => {
    const orders = ['a', 'b', 'c'].map((orderId, index) =>
      aQueuedOrder({ orderId, cancelBy: inHours(index + 1) }),
    );
    const { app, orderScreening } = await queued(orders);
    const { body } = await app.inject('/?list=soon&integration=default');
    const from = 'from=list%3Dsoon%26integration%3Ddefault';
    expect(body).toContain(`href="/orders/b?integration=default&amp;${from}&amp;pos=2"`);
    orderScreening.inspect.mockImplementation(async ({ orderId }) => ({
      ...{ runId: 'x', summary: anOrderSummary({ orderId }) },
    }));
    const page = (await app.inject(`/orders/b?integration=default&${from}&pos=2`)).body;
    expect(textOf(page)).toContain('‹ Within 12 h 2 of 3');
    expect(page).toContain('href="/?list=soon&amp;integration=default"');
    expect(page).toMatch(/href="\/orders\/a\?[^"]*pos=1" rel="prev"/);
    expect(page).toMatch(/href="\/orders\/c\?[^"]*pos=3" rel="next"/);
    // An order that has left the list: the next one took its place.
    const left = (await app.inject(`/orders/gone?integration=default&${from}&pos=2`)).body;
    expect(left).toMatch(/href="\/orders\/b\?[^"]*pos=2" rel="next"/);
    const foreign = (await app.inject('/orders/b?integration=default&from=list%3Dx%22%3E&pos=0')).body;
    expect(textOf(foreign)).toContain('‹ All ');
  });

  it('announces changes by a link to the same list, and answers nothing without changes', async () => {
    const cancelBy = inHours(5.5);
    const { app, setQueue } = await queued([
      aQueuedOrder({ orderId: 'a' }),
      aQueuedOrder({ orderId: 'b', cancelBy }),
    ]);
    const { body } = await app.inject('/?list=soon');
    const url = /data-poll="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await app.inject(url)).body).toBe('');
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    await app.inject(url.replace('seen=', 'integration=default&seen='));
    setQueue(
      aQueuedOrder({ orderId: 'a', decision: 'fail' }),
      aQueuedOrder({ orderId: 'b', cancelBy, assignee: 'ada' }),
      aQueuedOrder({ orderId: 'c' }),
      aQueuedOrder({ orderId: 'd' }),
    );
    vi.useRealTimers();
    await sendForm(app, '/orders/order-1/recheck');
    const news = await app.inject(url);
    expect(news.body).toBe('<a class="button news" href="/?list=soon">4 changed, show</a>');
  });

  it.each(['/?list=everything', '/?integration=a%20b', '/?list=every&cursor=nonsense', '/?decision=x'])(
    'answers %s by a page that names the fault and repeats nothing',
    async (url) => {
      const { app, orderScreening } = await anApi();
      orderScreening.rows.mockRejectedValue(
        new OrderScreeningError('invalid-request', 'cursor must be right', {
          errors: [{ path: 'cursor', message: 'must be the cursor of the previous page' }],
        }),
      );
      const { statusCode, body } = await app.inject(url);
      expect(statusCode).toBe(422);
      expect(textOf(body)).toMatch(/(list|integration|cursor|decision) must/);
      expect(body).not.toMatch(/everything|a b|nonsense/);
    },
  );

  it('is a file, too, whose cells no spreadsheet takes for a formula, and says when it is cut', async () => {
    const { app, orderScreening } = await queued([aQueuedOrder({ orderId: ';=1+1' })]);
    expect((await app.inject('/queue.csv')).body).toContain('"\';=1+1",default');
    const orders = Array.from({ length: 100 }, () => aQueuedOrder({ orderId: '=1+1,x' }));
    orderScreening.rows.mockResolvedValue({ orders, cursor: 'more' });
    const { body, headers } = await app.inject('/queue.csv?q=x');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="orders-[\dT-]+\.csv"$/);
    const lines = body.trimEnd().split('\r\n');
    expect(lines[1]).toMatch(/^"'=1\+1,x",default,review,review,hold,no,125\.5,/);
    expect(lines).toHaveLength(2_002);
    expect(lines.at(-1)).toContain('Cut: these are the first 2000 orders');
  });

  it('the file of a queue that was read in part says so', async () => {
    const { app, orderScreening } = await queued();
    orderScreening.queue.mockResolvedValue({ orders: [aQueuedOrder()], cut: true });
    const { body } = await app.inject('/queue.csv');
    expect(body.trimEnd().split('\r\n').at(-1)).toBe('Cut: the queue has more orders with later deadlines.');
  });
});

describe('the health strip', () => {
  it('names the parts that don’t run, also on the wall and on an order’s page', async () => {
    const { app, orderScreening } = await queued();
    orderScreening.health.mockResolvedValue({ unpolled: ['x'], sweep: { status: 'stopped' } });
    for (const url of ['/', '/?wall=1', '/orders/order-1', '/days']) {
      expect(textOf((await app.inject(url)).body), url).toMatch(/Worker: not running .*Sweep: stopped/);
    }
  });

  it('says the day since when orders are held, if that isn’t today', async () => {
    const held = { phase: 'screening', startedAt: '2026-03-02T10:00:00.000Z' } as const;
    const { app } = await queued([aQueuedOrder(held, { phase: 'screening' })]);
    expect(textOf((await app.inject('/')).body)).toMatch(
      /Screening service: 1 order on hold since Mon 2 Mar( 2026)? 10:00/,
    );
  });

  it('the wall and the queue keep the last numbers while Temporal can’t be reached, and say how old they are', async () => {
    const { app, orderScreening } = await queued();
    const asOf = /As of <time datetime="([^"]+)"/;
    const [, read] = asOf.exec((await app.inject('/')).body) ?? [];
    const down = new OrderScreeningError('temporal-unavailable', 'Not now.');
    orderScreening.queue.mockRejectedValue(down);
    await sendForm(app, '/orders/order-1/recheck');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 120_000 });
    onTestFinished(() => void vi.useRealTimers());
    const wall = textOf((await app.inject('/?wall=1')).body);
    expect(wall).toMatch(/Numbers: 2 min old .* 1 All .* Read 2 min ago/);
    const { body } = await app.inject('/');
    expect(textOf(body)).toMatch(/The list is 2 min old\. .* order-1 /);
    expect(asOf.exec(body)?.[1]).toBe(read);
  });

  it('names Temporal while only its lists can’t be read, and counts held orders in the last list', async () => {
    const { app, orderScreening } = await queued([
      aQueuedOrder({ phase: 'screening' }, { phase: 'screening' }),
    ]);
    await app.inject('/');
    orderScreening.queue.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Not now.'));
    await sendForm(app, '/orders/order-1/recheck');
    expect(textOf((await app.inject('/orders/order-1')).body)).toMatch(
      /Temporal: can’t list orders .*Screening service: 1 order on hold/,
    );
  });

  it('an order’s page and the wall are shown while Temporal’s lists can’t be read', async () => {
    const { app, orderScreening } = await anApi();
    const down = new OrderScreeningError('temporal-unavailable', 'Not now.');
    orderScreening.queue.mockRejectedValue(down);
    orderScreening.health.mockRejectedValue(down);
    expect(textOf((await app.inject('/orders/order-1')).body)).toContain('Temporal: can’t be reached');
    const wall = await app.inject('/?wall=1');
    expect(wall.statusCode).toBe(200);
    expect(textOf(wall.body)).toMatch(
      /Numbers: unknown Temporal: can’t be reached .*The queue can’t be read/,
    );
    const list = await app.inject('/');
    expect([list.statusCode, list.headers['content-type']]).toEqual([503, 'text/html; charset=utf-8']);
    expect(list.body).toContain('<h1>Temporal can’t be reached</h1>');
  });
});

it('the queue has a tab for snoozed orders if there are any, the wall has none', async () => {
  const none = await queued();
  expect((await none.app.inject('/')).body).not.toContain('Snoozed');
  const { app } = await queued([aQueuedOrder({ snoozedUntil: inHours(2) })]);
  expect((await app.inject('/')).body).toContain('Snoozed <b>1</b>');
  expect((await app.inject('/?wall=1')).body).not.toContain('Snoozed');
});

describe('the wall', () => {
  it('has the ten nearest deadlines and nothing to press, and loads itself again, also after an error', async () => {
    const { app } = await queued(some(12));
    const { body, headers } = await app.inject('/?wall=1');
    expect(headers.refresh).toBe('30');
    expect(body).not.toMatch(/<form|<input|<button|<nav/);
    expect(body.match(/<tr/g)).toHaveLength(11);
    expect(textOf(body)).toMatch(/12 All .*10 of 12, nearest deadline first Read \d s ago/);
    expect((await app.inject('/')).headers).not.toHaveProperty('refresh');
    const keyed = await anApi({ apiKeys: [hashedKey('shop', 'the-key-of-the-shop')] });
    const refused = await keyed.app.inject('/?wall=1');
    expect(refused).toMatchObject({ statusCode: 401, headers: { refresh: '30' } });
  });
});

it.each(['/', '/orders/order-1', '/days', '/several?do=recheck&order=shop%2F1', '/orders/%20%0a'])(
  'the page %s loads from here only, runs only our script, and is kept by nobody',
  async (url) => {
    const { app } = await anApi();
    const { headers, body } = await app.inject(url);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/);
    const scripts = [...body.matchAll(/<script[^>]*>[^<]*/g)].map(([script]) => script);
    expect(scripts).toEqual(['<script src="/queue.js" defer>']);
    expect((await app.inject('/queue.js')).headers['content-type']).toContain('text/javascript');
    const [style = '', ...others] = [...body.matchAll(/<link[^>]*href="([^"]+)"/g)].map(([, href]) => href);
    expect(others).toEqual([]);
    expect((await app.inject(style)).headers['content-type']).toContain('text/css');
  },
);
