/** What the review pages read: the queue, currencies, and whether workers and the sweep run. */
import { defaultPayloadConverter } from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { currencyIn, startSummary } from '../../src/client/currency.ts';
import { recordOf } from '../../src/orders/bounded-record.ts';
import { orderAttributes } from '../../src/orders/describe.ts';
import { memoOf } from '../../src/orders/order-memo.ts';
import { anOrder } from '../fixtures/orders.ts';
import { aClient, described, listing, unavailable } from './fake-temporal.ts';

const record = defaultPayloadConverter.toPayload(memoOf(recordOf(anOrder('review'))).record);
const indexedFields = encodeUnifiedSearchAttributes(undefined, [
  { key: orderAttributes.amount, value: 125.5 },
]);
const row = (number: number) => ({
  execution: { workflowId: `order:default:order-${number}` },
  startTime: msToTs(Date.parse('2026-03-01T10:00:00.000Z')),
  searchAttributes: { indexedFields },
  memo: { fields: { record } },
});
const page = (count: number, more: boolean) => ({
  ...listing(...Array.from({ length: count }, (_, number) => row(number))),
  nextPageToken: more ? Buffer.from('more') : new Uint8Array(),
});
const summary = defaultPayloadConverter.toPayload('Order order-1, 125.5 KWD, pre-acceptance');
const started = { ...described('RUNNING'), raw: { executionConfig: { userMetadata: { summary } } } };

describe('the queue', () => {
  it('is read in one call, with each order’s record', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page(2, false));
    const { orders, cut } = await orderScreening.queue({ integrations: ['shop'] });
    expect(cut).toBe(false);
    expect(orders).toMatchObject([
      { summary: { orderId: 'order-0', amount: 125.5 }, state: { phase: 'review' } },
      { summary: { orderId: 'order-1' }, state: { orderId: 'order-1' } },
    ]);
    const queries = temporal.listWorkflowExecutions.mock.calls as unknown as [{ query: string }][];
    // The other call reads the ids for searches, once.
    expect(queries.filter(([{ query }]) => query.includes('NeedsAttention'))).toHaveLength(1);
    expect(await orderScreening.queue({ integrations: [] })).toEqual({ orders: [], cut: false });
  });

  it('a large one has the nearest deadlines, and says that there are more', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page(1_000, true));
    const { orders, cut } = await orderScreening.queue();
    expect(cut).toBe(true);
    expect(orders).toHaveLength(2_000);
    const calls = temporal.listWorkflowExecutions.mock.calls as unknown as [{ query: string }][];
    const [first, ...others] = calls
      .map(([{ query }]) => query)
      .filter((query) => query.includes('NeedsAttention'));
    expect(first).not.toContain('CancelBy');
    for (const query of others) expect(query).toContain('CancelBy <');
  });

  it('each order’s currency is looked up once, and an error of Temporal leaves it out', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page(1, false));
    temporal.describe.mockRejectedValueOnce(unavailable);
    expect((await orderScreening.queue()).orders[0]).not.toHaveProperty('currency');
    temporal.describe.mockResolvedValue(started);
    expect((await orderScreening.queue()).orders[0]?.currency).toBe('KWD');
    expect((await orderScreening.rows()).orders[0]?.currency).toBe('KWD');
    expect(temporal.describe).toHaveBeenCalledTimes(2);
    expect((await orderScreening.inspect({ orderId: 'order-1' })).currency).toBe('KWD');
  });

  it.each([
    [{ amount: 125.5, currency: 'JPY' }, 'JPY'],
    [{ amount: 1e21, currency: 'USD' }, 'USD'],
    [{ amount: Number.NaN, currency: 'USD' }, undefined],
    [{ amount: 1, currency: 'dollars' }, undefined],
  ])('the summary of a start has the currency of %o: %s', (facts, currency) => {
    expect(currencyIn(startSummary('a, 5 EUR, b', 'pre-gateway', facts))).toBe(currency);
  });
});

describe('the health', () => {
  const polled = (secondsAgo: number) => ({
    pollers: [{ lastAccessTime: msToTs(Date.now() - secondsAgo * 1_000) }],
  });
  const sweep = (activity: object) => ({ ...described('RUNNING'), raw: { pendingActivities: [activity] } });

  it('names the task queues that nobody polls', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('RUNNING'));
    temporal.describeTaskQueue.mockResolvedValue(polled(60));
    expect((await orderScreening.health()).unpolled).toEqual([]);
    temporal.describeTaskQueue.mockResolvedValue(polled(100));
    expect((await orderScreening.health()).unpolled).toEqual([
      'order-screening',
      'order-screening-background',
      'order-screening-reads',
      'order-screening-polls',
    ]);
  });

  it.each([
    ['running', sweep({ lastStartedTime: msToTs(1_000), attempt: 1 })],
    ['running', sweep({ attempt: 1 })],
    ['failing', sweep({ attempt: 7 })],
    ['stopped', described('TERMINATED')],
    ['stopped', undefined],
  ])('the sweep is %s', async (status, seen) => {
    const { orderScreening, temporal } = aClient();
    if (seen !== undefined) temporal.describe.mockResolvedValue(seen);
    expect((await orderScreening.health()).sweep.status).toBe(status);
  });

  it('fails if Temporal can’t be reached', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockRejectedValue(unavailable);
    await expect(orderScreening.health()).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });
});
