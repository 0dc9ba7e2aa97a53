import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { readQueue } from '../../../src/api/queue/read-queue.ts';
import type { ListRequest, OrderList, OrderScreening, OrderSummary } from '../../../src/starter.ts';
import { HOUR } from '../../fixtures/policies.ts';
import { property } from '../../support/property.ts';
import { anOrderSummary } from '../fake-order-screening.ts';

const NOW = Date.parse('2026-03-06T10:00:00.000Z');

/** Visibility over these orders: filters and pages as the real one does, and sorts by nothing. */
function visibility(orders: readonly OrderSummary[]) {
  return vi.fn<OrderScreening['list']>(async (request: ListRequest = {}): Promise<OrderList> => {
    const { cancelBy, open, cursor = '0', limit = 50 } = request;
    const found = orders.filter((order) => {
      if (open !== undefined && open !== (order.closedAt === undefined)) return false;
      if (cancelBy === undefined) return true;
      if (cancelBy === 'none') return order.cancelBy === undefined;
      const { from = '', until = '~' } = cancelBy;
      return order.cancelBy !== undefined && order.cancelBy >= from && order.cancelBy < until;
    });
    const begin = Number(cursor);
    return {
      orders: found.slice(begin, begin + limit),
      ...(found.length > begin + limit && { cursor: `${begin + limit}` }),
    };
  });
}

const none: OrderScreening['count'] = async () => 0;

async function pagesOf(orders: readonly OrderSummary[]) {
  const list = visibility(orders);
  const count: OrderScreening['count'] = async (request) =>
    (await list({ ...request, limit: orders.length + 1 })).orders.length;
  const pages: OrderSummary[][] = [];
  let cursor: string | undefined;
  do {
    const page = await readQueue({ list, count }, { show: 'all', cursor }, NOW);
    pages.push(page.orders);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { pages, list };
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
    const shown = (await pagesOf(orders)).pages.flat();
    expect(shown.map(({ orderId }) => orderId).sort()).toEqual(orders.map(({ orderId }) => orderId).sort());
    const rank = ({ cancelBy = '~', closedAt }: OrderSummary) => (closedAt === undefined ? cancelBy : '~~');
    for (const [index, order] of shown.slice(1).entries()) {
      expect(rank(shown[index] ?? order) <= rank(order)).toBe(true);
    }
  },
);

it('a page has 25 orders, or the few more that share a deadline', async () => {
  const { pages } = await pagesOf(Array.from({ length: 90 }, (_, number) => anOrder(number, number * HOUR)));
  expect(pages.map((page) => page.length)).toEqual([25, 25, 25, 15]);
  const shared = await pagesOf(Array.from({ length: 140 }, (_, number) => anOrder(number, 7 * HOUR)));
  // Nobody knows before the next page that there is nothing on it.
  expect(shared.pages.map((page) => page.length)).toEqual([140, 0]);
});

it('thousands of orders cost a page some dozens of questions at most', async () => {
  const orders = Array.from({ length: 5_000 }, (_, number) => anOrder(number, (number * 119 * HOUR) / 5_000));
  const list = visibility(orders);
  const count: OrderScreening['count'] = async (request) =>
    (await list({ ...request, limit: orders.length + 1 })).orders.length;
  const first = await readQueue({ list, count }, { show: 'all' }, NOW);
  expect(first.orders.map(({ orderId }) => orderId)).toEqual(
    Array.from({ length: 25 }, (_, number) => `order-${number}`),
  );
  expect(list.mock.calls.length).toBeLessThan(12);
});

it.each([
  ['all', { queued: true }],
  ['review', { phase: 'review' }],
  ['attention', { attention: true }],
] as const)('shows %s of one integration when asked to', async (show, filter) => {
  const list = visibility([]);
  await readQueue({ list, count: none }, { show, integration: 'shop' }, NOW);
  for (const [request] of list.mock.calls) expect(request).toMatchObject({ ...filter, integration: 'shop' });
});

it.each(['', 'x', 'none', 'closed~ ', '2026-13-01T00:00:00.000Z'])(
  'refuses the cursor "%s"',
  async (cursor) => {
    const list = visibility([]);
    await expect(readQueue({ list, count: none }, { show: 'all', cursor }, NOW)).rejects.toMatchObject({
      code: 'invalid-request',
    });
  },
);

it('a list without an end is given up', async () => {
  const list = async () => ({ orders: [], cursor: 'more' });
  await expect(readQueue({ list, count: none }, { show: 'all' }, NOW)).rejects.toThrow('has no end');
});
