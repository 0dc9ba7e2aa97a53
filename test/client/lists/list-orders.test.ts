/** What the review pages read: the queue, and whether workers and the sweep run. */
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { attributesIn } from '../../../src/client/reading/decode.ts';
import { instant } from '../../../src/contract/words.ts';
import { anOrder, DAY, HOUR, sinceStart } from '../../fixtures/orders.ts';
import {
  aClient,
  aClientOf,
  attributes,
  described,
  listing,
  recordField,
  STATUSES,
  unavailable,
} from '../fake-temporal.ts';

const state = { ...anOrder('review'), currency: 'KWD' };
const row = (number: number) => ({
  execution: { workflowId: `order:default:order-${number}` },
  startTime: msToTs(Date.parse('2026-03-01T10:00:00.000Z')),
  memo: { fields: recordField(state) },
  ...attributes({ OrderAmount: 125.5 }),
});
const needing = { ...row(0), ...attributes({ NeedsAttention: true }) };
const page = (count: number, more: boolean) => ({
  ...listing(...Array.from({ length: count }, (_, number) => row(number))),
  nextPageToken: more ? Buffer.from('more') : new Uint8Array(),
});

/** The queries for the queue. One other call reads the ids for searches, once. */
const queriesOf = ({ listWorkflowExecutions }: ReturnType<typeof aClient>['temporal']) => {
  const calls = listWorkflowExecutions.mock.calls as unknown as [{ query: string }][];
  return calls.map(([{ query }]) => query).filter((query) => query.includes('NeedsAttention'));
};

describe('the queue', () => {
  it('is read in one call, with each order’s record', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page(2, false));
    const { orders, cut } = await orderScreening.queue({ integrations: ['shop'] });
    expect(cut).toBe(false);
    expect(orders).toMatchObject([
      { summary: { orderId: 'order-0', amount: 125.5, currency: 'KWD' }, state: { phase: 'review' } },
      { summary: { orderId: 'order-1' }, state: { orderId: 'order-1' } },
    ]);
    expect(queriesOf(temporal)).toHaveLength(1);
    expect(await orderScreening.queue({ integrations: [] })).toEqual({ orders: [], cut: false });
  });

  it('the attention of a closed order counts for seven days, since nobody can resolve it', async () => {
    const { orderScreening, temporal } = aClient();
    const closed = (days: number) => ({ ...needing, status: 2, closeTime: msToTs(Date.now() - days * DAY) });
    temporal.listWorkflowExecutions.mockResolvedValue(listing(needing, closed(6.9), closed(7.1)));
    const { orders } = await orderScreening.list({ attention: true });
    expect(orders.map(({ needsAttention }) => needsAttention)).toEqual([true, true, false]);
  });

  it('a snooze that is over, or whose order has ended, puts off nothing: no worker may have noticed', async () => {
    const { orderScreening, temporal } = aClient();
    const words = 'Refund by hand.';
    const attention = [{ code: 'cancel-due' as const, words, since: sinceStart(0), cause: {} }];
    const snoozed = (hours: number, raw = {}) => {
      const snoozedUntil = instant(Date.now() + hours * HOUR);
      const fields = recordField({ ...state, attention, snoozedUntil });
      return { ...row(0), memo: { fields }, ...attributes({ NeedsAttention: false }), ...raw };
    };
    const closed = { status: 2, closeTime: msToTs(Date.now() - HOUR) };
    temporal.listWorkflowExecutions.mockResolvedValue(listing(snoozed(1), snoozed(-1), snoozed(1, closed)));
    const { orders } = await orderScreening.queue();
    expect(orders.map(({ summary }) => [summary.needsAttention, 'snoozedUntil' in summary])).toEqual([
      [false, true],
      [true, false],
      [true, false],
    ]);
  });

  it('a larger one has the nearest deadlines, and says that there are more', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions.mockResolvedValue(page(1_000, true));
    const { orders, cut } = await orderScreening.queue();
    expect([orders.length, cut]).toEqual([2_000, true]);
    const next = { query: expect.stringContaining('NeedsAttention'), nextPageToken: Buffer.from('more') };
    expect(temporal.listWorkflowExecutions).toHaveBeenCalledWith(expect.objectContaining(next));
    const [first, second, ...windows] = queriesOf(temporal);
    expect(`${first}${second}`).not.toMatch(/CancelBy [<>]/);
    for (const query of windows) expect(query).toContain('CancelBy <');
  });

  it('of closed orders, and of open ones whose deadline has passed, a larger one has what the others leave room for', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.listWorkflowExecutions
      .mockResolvedValueOnce(page(2_000, true))
      .mockResolvedValue(page(100, false));
    expect(await orderScreening.queue()).toMatchObject({ orders: { length: 700 }, cut: false });
    const windows = queriesOf(temporal).slice(1);
    const isOpen = (query: string) => query.includes(" AND ExecutionStatus = 'Running' AND");
    const [within12Hours] = windows;
    expect(within12Hours).toMatch(/CancelBy >= .* AND CancelBy < /);
    expect(windows.map(isOpen)).toEqual([true, true, true, true, true, true, false]);
    expect(windows.at(-1)).toContain("ExecutionStatus != 'Running'");
    expect(windows.at(-1)).not.toMatch(/CancelBy [<>]/);
  });
});

describe('a run that ended early', () => {
  const RUN = { workflowId: 'order:default:order-1', runId: 'run-1' };
  const ended = (status: number, runId: string) => {
    const run = { execution: { ...RUN, runId }, status, closeTime: msToTs(Date.now()) };
    return { ...needing, ...run };
  };
  const { COMPLETED, FAILED, TERMINATED, RUNNING } = STATUSES;
  const newest = (runId: string) => {
    const { workflowExecutionInfo } = described('RUNNING');
    const info = { ...workflowExecutionInfo, ...attributes({ CancelBy: sinceStart(HOUR) }) };
    return { workflowExecutionInfo: { ...info, execution: { ...RUN, runId } } };
  };

  it('isn’t listed beside the run that replaced it, and is looked up once', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(newest('run-4'));
    const rows = [ended(TERMINATED, 'run-1'), ended(FAILED, 'run-2'), { ...row(1), status: RUNNING }];
    temporal.listWorkflowExecutions.mockResolvedValue(listing(...rows));
    for (const list of [orderScreening.queue, orderScreening.rows, orderScreening.list]) {
      expect((await list({})).orders).toHaveLength(1);
    }
    expect(temporal.describe).toHaveBeenCalledTimes(2);
  });

  it('is not listed beside a later run of the same order, though it completed', async () => {
    const { orderScreening, temporal } = aClient();
    const later = { ...row(1), status: RUNNING, startTime: msToTs(Date.parse(sinceStart(HOUR))) };
    temporal.listWorkflowExecutions.mockResolvedValue(listing(ended(COMPLETED, 'run-1'), later));
    expect((await orderScreening.list()).orders).toMatchObject([{ startedAt: sinceStart(HOUR) }]);
  });

  it('leaves no page empty while more follow', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(newest('run-4'));
    temporal.listWorkflowExecutions
      .mockResolvedValueOnce({ ...listing(ended(TERMINATED, 'run-1')), nextPageToken: Buffer.from('more') })
      .mockResolvedValueOnce(page(1, false));
    expect((await orderScreening.list()).orders).toMatchObject([{ orderId: 'order-0' }]);
  });

  it('is listed if it is the newest, and if that is unknown; a completed one isn’t looked up', async () => {
    const { orderScreening, temporal } = aClient();
    const listed = async (status: number) => {
      temporal.listWorkflowExecutions.mockResolvedValue(listing(ended(status, 'run-1')));
      return (await orderScreening.list()).orders.length;
    };
    expect(await listed(COMPLETED)).toBe(1);
    expect(temporal.describe).not.toHaveBeenCalled();
    temporal.describe.mockResolvedValueOnce(newest('run-1')).mockRejectedValueOnce(unavailable);
    for (const _of of ['newest', 'unknown']) expect(await listed(TERMINATED)).toBe(1);
    expect(temporal.describe).toHaveBeenCalledTimes(2);
  });
});

describe('the health', () => {
  const polled = (secondsAgo: number) => ({
    pollers: [{ lastAccessTime: msToTs(Date.now() - secondsAgo * 1_000) }],
  });
  const sweep = (activity: object) => described('RUNNING', { pendingActivities: [activity] });

  it('names the task queues that nobody polls', async () => {
    const { orderScreening, temporal } = aClientOf(undefined);
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

it('search attributes that another release may have written are left out', () => {
  const written = { ScreeningPhase: 'paused', CancelBy: 'soon', OrderAmount: 'much', TransactionId: 7 };
  const { indexedFields } = attributes(written).searchAttributes;
  expect(attributesIn(indexedFields)).toEqual({ transactionId: [], invoiceNumber: [] });
});
