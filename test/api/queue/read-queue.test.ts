import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { readQueue } from '../../../src/api/queue/read-queue.ts';
import type { OrderScreening, OrderSummary } from '../../../src/starter.ts';
import { HOUR } from '../../fixtures/policies.ts';
import { property } from '../../support/property.ts';
import { anOrderSummary } from '../fake-order-screening.ts';

const NOW = Date.parse('2026-03-06T10:00:00.000Z');

/** Visibility over these orders: filters and pages as the real one does, and sorts by nothing. */
function visibility(orders: readonly OrderSummary[]) {
  const list = vi.fn<OrderScreening['list']>(async (request = {}) => {
    const { cancelBy, open, cursor = '0', limit = 50 } = request;
    const found = orders.filter((order) => {
      if (open !== undefined && open !== (order.closedAt === undefined)) return false;
      if (cancelBy === undefined) return true;
      if (cancelBy === 'none') return order.cancelBy === undefined;
      const { from = '', until = '~' } = cancelBy;
      return order.cancelBy !== undefined && order.cancelBy >= from && order.cancelBy < until;
    });
    const end = Number(cursor) + limit;
    return { orders: found.slice(end - limit, end), ...(found.length > end && { cursor: `${end}` }) };
  });
  const count: OrderScreening['count'] = async (request) =>
    (await list({ ...request, limit: orders.length + 1 })).orders.length;
  return { list, count };
}

async function pagesOf(orders: readonly OrderSummary[]) {
  const pages: OrderSummary[][] = [];
  let cursor: string | undefined;
  do {
    const page = await readQueue(visibility(orders), { show: 'all', cursor }, NOW);
    pages.push(page.orders);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return pages;
}

const anOrder = (number: number, inMs: number | undefined, closed = false): OrderSummary => {
  const { cancelBy: _cancelBy, ...rest } = anOrderSummary({ orderId: `order-${number}` });
  return {
    ...rest,
    ...(inMs !== undefined && { cancelBy: new Date(NOW + inMs).toISOString() }),
    ...(closed && { closedAt: new Date(NOW).toISOString() }),
  };
};

const deadline = fc.option(
  fc.oneof(
    fc.integer({ min: -200 * HOUR, max: 130 * HOUR }),
    // Many at nearly the same moment.
    fc.integer({ min: 5 * HOUR, max: 5 * HOUR + 3 }),
  ),
  { nil: undefined },
);

property([fc.array(fc.tuple(deadline, fc.boolean()), { maxLength: 400 })])(
  'the pages have every order once: open ones by deadline, then those without one, then closed ones',
  async (given) => {
    const orders = given.map(([inMs, closed], number) => anOrder(number, inMs, closed));
    const shown = (await pagesOf(orders)).flat();
    expect(shown.map(({ orderId }) => orderId).sort()).toEqual(orders.map(({ orderId }) => orderId).sort());
    const rank = ({ cancelBy = '~', closedAt }: OrderSummary) => (closedAt === undefined ? cancelBy : '~~');
    for (const [index, order] of shown.slice(1).entries()) {
      expect(rank(shown[index] ?? order) <= rank(order)).toBe(true);
    }
  },
);

it('a page has 25 orders, or the few more that share a deadline', async () => {
  const sizesOf = async (count: number, deadlineOf: (number: number) => number) =>
    (await pagesOf(Array.from({ length: count }, (_, number) => anOrder(number, deadlineOf(number))))).map(
      (page) => page.length,
    );
  expect(await sizesOf(90, (number) => number * HOUR)).toEqual([25, 25, 25, 15]);
  // Nobody knows before the next page that there is nothing on it.
  expect(await sizesOf(140, () => 7 * HOUR)).toEqual([140, 0]);
});

it('thousands of orders cost a page some dozens of questions at most', async () => {
  const orders = Array.from({ length: 5_000 }, (_, number) => anOrder(number, (number * 119 * HOUR) / 5_000));
  const found = visibility(orders);
  const first = await readQueue(found, { show: 'all' }, NOW);
  expect(first.orders).toEqual(orders.slice(0, 25));
  expect(found.list.mock.calls.length).toBeLessThan(12);
});

it.each([
  ['all', { queued: true }],
  ['review', { phase: 'review' }],
  ['attention', { attention: true }],
] as const)('shows %s of one integration, up to a deadline, when asked to', async (show, filter) => {
  const found = visibility([]);
  await readQueue(found, { show, integration: 'shop', within: 12 }, NOW);
  const asked = found.list.mock.calls.map(([request]) => request);
  for (const request of asked) expect(request).toMatchObject({ ...filter, integration: 'shop', open: true });
  expect(asked.at(-1)?.cancelBy).toMatchObject({ until: new Date(NOW + 12 * HOUR).toISOString() });
});

it.each(['', 'x', 'none', 'closed~ ', '2026-13-01T00:00:00.000Z'])(
  'refuses the cursor "%s"',
  async (cursor) => {
    await expect(readQueue(visibility([]), { show: 'all', cursor }, NOW)).rejects.toMatchObject({
      code: 'invalid-request',
    });
  },
);

it('a list without an end is given up', async () => {
  const endless = { list: async () => ({ orders: [], cursor: 'more' }), count: async () => 0 };
  await expect(readQueue(endless, { show: 'all' }, NOW)).rejects.toThrow('has no end');
});
