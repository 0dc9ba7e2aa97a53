import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ListRequest, queryOf } from '../../../src/client/lists/list-request.ts';
import { aClient, attributes, faultsAt, listing } from '../fake-temporal.ts';

beforeEach(() => void vi.useFakeTimers({ now: Date.parse('2026-03-09T00:00:00Z'), toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const NEEDED =
  "(NeedsAttention = true AND (ExecutionStatus = 'Running' OR CloseTime >= '2026-03-02T00:00:00.000Z'))";

describe('a list of orders', () => {
  it('asks visibility by every filter, and quotes what it is given', () => {
    expect(queryOf({ integration: "a' OR 'b\\", phase: 'review', decision: 'pass', attention: true })).toBe(
      "WorkflowType = 'screenOrder' AND ExecutionStatus != 'ContinuedAsNew' AND " +
        "(ExecutionStatus != 'Failed' OR CancelBy IS NOT NULL) AND " +
        "ScreeningIntegration = 'a\\' OR \\'b\\\\' AND ScreeningPhase = 'review' AND " +
        `ScreeningDecision = 'pass' AND ${NEEDED}`,
    );
  });

  it.each<[ListRequest, string]>([
    [{ queued: true, open: true }, "ExecutionStatus = 'Running'"],
    [
      { queued: true },
      `((ScreeningPhase = 'review' AND (ExecutionStatus != 'Terminated' OR CloseTime >= '2026-03-02T00:00:00.000Z')) OR ${NEEDED} OR (ExecutionStatus = 'Running' AND (ScreeningPhase = 'screening' OR ActionUnderWay = true)))`,
    ],
    [{ attention: false }, "(NeedsAttention = false OR CloseTime < '2026-03-02T00:00:00.000Z')"],
    [{ integrations: ['shop', "b's"] }, "(ScreeningIntegration = 'shop' OR ScreeningIntegration = 'b\\'s')"],
    [{ open: false }, "ExecutionStatus != 'Running'"],
    [{ cancelBy: 'none' }, 'CancelBy IS NULL'],
    [{ cancelBy: { from: 'a', until: 'b' } }, "CancelBy >= 'a' AND CancelBy < 'b' AND CancelBy IS NOT NULL"],
    [{ amount: { from: 10.5, until: 20 } }, 'OrderAmount >= 10.5 AND OrderAmount < 20'],
    [{ amount: { from: 0 } }, 'OrderAmount >= 0'],
    [{ started: { until: 'b' } }, "StartTime < 'b'"],
    [
      { find: "#I'ABC" },
      "((WorkflowId = 'order:default:I\\'ABC') OR InvoiceNumber = '#I\\'ABC' OR InvoiceNumber = 'I\\'ABC' OR TransactionId = '#i\\'abc')",
    ],
    [{ find: 'X', integration: 'shop' }, "((WorkflowId = 'order:shop:X') OR InvoiceNumber = 'X'"],
    [{ find: 'X', integrations: ['a', 'b'] }, "(WorkflowId = 'order:a:X' OR WorkflowId = 'order:b:X')"],
  ])('of %o asks visibility for %s', (request, condition) => {
    expect(queryOf(request)).toContain(condition);
  });

  it.each<[unknown, string]>([
    [{ started: { from: '2026-11-01' } }, 'started.from'],
    [{ cancelBy: { until: 'soon' } }, 'cancelBy.until'],
    [{ amount: { from: Number.NaN } }, 'amount.from'],
    [{ amount: { until: "1 OR ScreeningPhase = 'review'" } }, 'amount.until'],
    [{ attention: "true OR ScreeningPhase = 'review'" }, 'attention'],
    [{ integrations: 'shop' }, 'integrations'],
    [{ phase: 'canary' }, 'phase'],
    [{ find: 'a\0b' }, 'find'],
    [{ dueBefore: '2026-11-01T00:00:00Z' }, 'dueBefore'],
    [{ amount: { to: 5 } }, 'amount.to'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 5_000 }, 'limit'],
  ])('is refused with the path, and asked of nobody: %o', async (wrong, path) => {
    const { orderScreening, temporal } = aClient();
    await expect(orderScreening.list(wrong as ListRequest)).rejects.toMatchObject(faultsAt(path));
    await expect(orderScreening.count(wrong as ListRequest)).rejects.toMatchObject(faultsAt(path));
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it.each([
    '{"CloseTime":"9999-12-31T23:59:59Z","StartTime":"2026-03-01T10:00:00.123456Z","RunID":"d7a3f0c2-5b1e-4c8a-9e6f-2a1b3c4d5e6f"}',
    '{"SearchAfter":[1772359200000,"d7a3f0c2-5b1e-4c8a-9e6f-2a1b3c4d5e6f"]}',
  ])('goes on from its cursor: %s', async (place) => {
    const { orderScreening, temporal } = aClient();
    const nextPageToken = Buffer.from(place);
    temporal.listWorkflowExecutions.mockResolvedValue({ ...listing(), nextPageToken });
    const { cursor } = await orderScreening.list({ phase: 'review' });
    await orderScreening.list({ phase: 'review', cursor });
    expect(temporal.listWorkflowExecutions.mock.lastCall).toMatchObject([{ nextPageToken }]);
  });

  it.each(['', 'abc', 'null', '{"RunID":"made up"}', '{"StartTime":1,"RunID":1}', '{"SearchAfter":[{}]}'])(
    'takes no cursor that is no place in a list: %s',
    async (text) => {
      const { orderScreening, temporal } = aClient();
      for (const cursor of [text, Buffer.from(text).toString('base64url')]) {
        await expect(orderScreening.list({ cursor })).rejects.toMatchObject(faultsAt('cursor'));
      }
      expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
    },
  );
});

const SINCE = '2026-03-02T00:00:00.000Z';

const hours = (value: number) => attributes({ ReviewHours: value });

it('the statistics have the median and p90 of reviews, and chargebacks of open and ended orders', async () => {
  const { orderScreening, temporal } = aClient();
  const rows = [9, 1, 8, 2, 7, 3, 6, 4, 5, 10].map(hours);
  temporal.listWorkflowExecutions.mockResolvedValue(listing(...rows));
  temporal.countWorkflowExecutions.mockResolvedValue({ count: 3 });
  expect(await orderScreening.statistics(['shop', 'outlet'], SINCE)).toEqual({
    outcomes: { overridden: 3, 'override-confirmed': 3, 'override-contradicted': 3, chargeback: 6 },
    reviews: { count: 10, median: 5, p90: 9 },
  });
  const calls = temporal.countWorkflowExecutions.mock.calls as unknown as [{ query: string }][];
  const queries = calls.map(([{ query }]) => query);
  expect(queries).toHaveLength(5);
  for (const query of queries) expect(query).toContain(SINCE);
  const ended = [
    "WorkflowId STARTS_WITH 'portal:shop:chargeback:'",
    "WorkflowId STARTS_WITH 'portal:outlet:chargeback:'",
  ];
  expect(queries.at(-1)).toContain(`(${ended.join(' OR ')})`);
});

it('the statistics count all reviews, and say of how many the times are', async () => {
  const { orderScreening, temporal } = aClient();
  const rows = [1, 2, 3].map(hours);
  temporal.listWorkflowExecutions.mockResolvedValue({
    ...listing(...rows),
    nextPageToken: Buffer.from('more'),
  });
  temporal.countWorkflowExecutions.mockResolvedValue({ count: 20_000 });
  const { reviews } = await orderScreening.statistics(['shop'], SINCE);
  expect(reviews).toEqual({ count: 20_000, timed: 3, median: 2, p90: 3 });
});

it('the statistics of orders without a review have no times', async () => {
  const { orderScreening } = aClient();
  const { reviews } = await orderScreening.statistics(['shop'], SINCE);
  expect(reviews).toEqual({ count: 0 });
});

it('the statistics of no integration are empty, without a query', async () => {
  const { orderScreening, temporal } = aClient();
  temporal.countWorkflowExecutions.mockResolvedValue({ count: 3 });
  expect(await orderScreening.statistics([], SINCE)).toEqual({
    outcomes: { overridden: 0, 'override-confirmed': 0, 'override-contradicted': 0, chargeback: 0 },
    reviews: { count: 0 },
  });
  expect(temporal.countWorkflowExecutions).not.toHaveBeenCalled();
  expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
});
