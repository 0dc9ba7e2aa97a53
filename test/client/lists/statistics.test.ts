import { defineSearchAttributeKey } from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { expect, it } from 'vitest';
import { aClient, listing } from '../fake-temporal.ts';

const SINCE = '2026-03-02T00:00:00.000Z';

function hours(value: number) {
  const key = defineSearchAttributeKey('ReviewHours', 'DOUBLE');
  return { searchAttributes: { indexedFields: encodeUnifiedSearchAttributes(undefined, [{ key, value }]) } };
}

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

it('the statistics of orders without a review have no times', async () => {
  const { orderScreening } = aClient();
  const { reviews } = await orderScreening.statistics(['shop'], SINCE);
  expect(reviews).toEqual({ count: 0 });
});
