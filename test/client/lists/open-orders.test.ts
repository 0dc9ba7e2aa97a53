/** Searches for open orders by a part of their ids. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { aClient, faultsAt, listing } from '../fake-temporal.ts';

const OURS = ['order:shop:EU-1001', 'order:shop:EU-1002', 'order:other:EU-1003'];

/** A namespace with these open orders, that answers each query by its kind. */
function aNamespace(workflowIds: readonly string[]) {
  const client = aClient({ name: 'shop' });
  const open = [...workflowIds];
  const asked: string[] = [];
  type Query = { query: string; pageSize: number };
  client.temporal.listWorkflowExecutions.mockImplementation(async ({ query, pageSize }: Query) => {
    asked.push(query);
    const isSearch = query.includes('InvoiceNumber');
    const found = open.toReversed().filter((id) => !isSearch || query.includes(`WorkflowId = '${id}'`));
    return listing(...found.slice(0, pageSize));
  });
  const find = async (words: string, integrations?: string[], limit?: number) => {
    const request = { find: words, ...(integrations && { integrations }), ...(limit && { limit }) };
    return (await client.orderScreening.rows(request)).orders.map(({ summary }) => summary.orderId);
  };
  return { find, open, asked };
}

it('any part of an id finds it, in any case, within the integrations that are asked for', async () => {
  const { find } = aNamespace(OURS);
  expect(await find('u-10')).toEqual(['EU-1003', 'EU-1002', 'EU-1001']);
  expect(await find('1002')).toEqual(['EU-1002']);
  expect(await find('eu-100', ['other'])).toEqual(['EU-1003']);
  expect(await find('nowhere')).toEqual([]);
});

it('orders that the words name whole come first, and others only while they are open', async () => {
  const { find, asked } = aNamespace([...OURS, 'order:shop:EU-10021']);
  expect(await find('EU-1002', ['shop'])).toEqual(['EU-1002', 'EU-10021']);
  expect(asked.at(-1)).toContain("(ExecutionStatus = 'Running' AND (WorkflowId = 'order:shop:EU-1002'");
  // A page has room for both: no newer order takes the place of the one that was looked for.
  expect(await find('EU-1002', ['shop'], 1)).toEqual(['EU-1002', 'EU-10021']);
});

it('words that are no text are refused as in any list, and asked of nobody', async () => {
  const { find, asked } = aNamespace(OURS);
  await expect(find(1_002 as unknown as string)).rejects.toMatchObject(faultsAt('find'));
  expect(asked).toEqual([]);
});

it('fewer than three characters are looked up whole only', async () => {
  const { find, asked } = aNamespace(OURS);
  expect(await find('EU')).toEqual([]);
  expect(asked).toHaveLength(1);
});

it('new orders are read from where the last read began, once in five seconds', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-03-01T10:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const { find, open, asked } = aNamespace(OURS);
  const reads = () => asked.filter((query) => !query.includes('InvoiceNumber'));
  await find('EU-1');
  open.push('order:shop:EU-1004');
  expect(await find('EU-1004')).toEqual([]);
  expect(reads()).toHaveLength(1);
  expect(reads()[0]).not.toContain('StartTime');
  await vi.advanceTimersByTimeAsync(6_000);
  expect(await find('EU-1004')).toEqual(['EU-1004']);
  expect(reads()).toHaveLength(2);
  expect(reads()[1]).toContain("StartTime >= '2026-03-01T09:59:45.000Z'");
});
