/** Lists and counts orders by Temporal's visibility, newest first. It lags by up to 2 s. */
import type { OrderList } from '../../contract/order/order.ts';
import { type Instant, ORDER_DECISIONS } from '../../contract/words.ts';
import { checked } from '../read-requests.ts';
import { callTemporal, READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext, OrderScreening } from '../types.ts';
import { listRows } from './list-queue.ts';
import { type ListRequest, listRequestSchema, queryOf } from './list-request.ts';

/** @see OrderScreening.list */
export async function listOrders(context: ClientContext, request: ListRequest = {}): Promise<OrderList> {
  const { orders, ...place } = await listRows(context, request);
  return { orders: orders.map(({ summary }) => summary), ...place };
}

/** @see OrderScreening.count */
export async function countOrders(context: ClientContext, raw: ListRequest = {}): Promise<number> {
  const request = checked(listRequestSchema, raw);
  return request.integrations?.length === 0 ? 0 : countOf(context, queryOf(request));
}

/** @returns how many workflows match a visibility query */
export async function countOf({ client }: ClientContext, query: string): Promise<number> {
  const { namespace } = client.options;
  const { count } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count);
}

/** The orders of one day by current decision. */
export interface Day {
  from: Instant;
  counts: Record<(typeof ORDER_DECISIONS)[number], number>;
}

/**
 * Counts the orders that were started on each day, by current decision. Queries one day at a time: all at once would exceed
 * Temporal's default limit of ten visibility calls per second.
 * @param starts when each day begins, newest first; each day ends where the one before it in the list begins
 */
export async function countDays(
  { count }: Pick<OrderScreening, 'count'>,
  of: Pick<ListRequest, 'integration' | 'integrations'>,
  starts: readonly Instant[],
): Promise<Day[]> {
  const days: Day[] = [];
  for (const [index, from] of starts.entries()) {
    const started = { from, until: starts[index - 1] };
    const counted = await Promise.all(
      ORDER_DECISIONS.map(async (decision) => [decision, await count({ ...of, decision, started })] as const),
    );
    days.push({ from, counts: { ...NONE, ...Object.fromEntries(counted) } });
  }
  return days;
}

const NONE = { pass: 0, review: 0, fail: 0, fraudulent: 0, error: 0, pending: 0, skipped: 0 };
