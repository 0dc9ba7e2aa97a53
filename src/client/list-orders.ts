/** Lists and counts orders by Temporal's visibility, newest first. It lags by up to 2 s. */
import { orderOfWorkflowId } from '../contract/ids.ts';
import type { OrderList, OrderSummary } from '../contract/order.ts';
import { type Instant, instant, millis } from '../contract/words.ts';
import { attributesIn } from './decode.ts';
import { instantOf } from './describe-order.ts';
import { withFailedTriesInList } from './failed-tries.ts';
import { type ListRequest, listRequestSchema, queryOf } from './list-request.ts';
import { readMemo } from './order-record.ts';
import { summaryOf } from './read-orders.ts';
import { checked } from './read-requests.ts';
import { callTemporal, READ_WITHIN_MS } from './temporal-errors.ts';
import type { ClientContext, OrderScreening } from './types.ts';
import { type Execution, listWorkflows } from './visibility.ts';

const DEFAULT_LIMIT = 50;

/** @see OrderScreening.list */
export async function listOrders(context: ClientContext, raw: ListRequest = {}): Promise<OrderList> {
  const { client } = context;
  const request = checked(listRequestSchema, raw);
  if (request.integrations?.length === 0) return { orders: [] };
  const { cursor, limit = DEFAULT_LIMIT } = request;
  const place = cursor === undefined ? {} : { nextPageToken: Buffer.from(cursor, 'base64url') };
  const { executions, nextPageToken } = await listWorkflows(client, queryOf(request), limit, place);
  // Each row alone, so that a record that can't be decrypted doesn't fail the list.
  const rows = await Promise.all(executions.map((execution) => rowOf(context, execution)));
  const more = nextPageToken.length > 0;
  return { orders: rows.flat(), ...(more && { cursor: Buffer.from(nextPageToken).toString('base64url') }) };
}

async function rowOf(
  context: ClientContext,
  { execution, searchAttributes, startTime, closeTime, memo }: Execution,
): Promise<OrderSummary[]> {
  const workflowId = execution?.workflowId ?? '';
  const name = orderOfWorkflowId(workflowId);
  if (name === undefined) return [];
  const attributes = attributesIn(searchAttributes?.indexedFields);
  const found = await readMemo(context, workflowId, memo);
  const isOpen = closeTime === undefined || closeTime === null;
  const read =
    isOpen && found.found === 'record'
      ? { ...found, record: await withFailedTriesInList(context, workflowId, found.record) }
      : found;
  return [summaryOf(name, attributes, instantOf(startTime) ?? '', instantOf(closeTime), read)];
}

/** @see OrderScreening.count */
export async function countOrders({ client }: ClientContext, raw: ListRequest = {}): Promise<number> {
  const request = checked(listRequestSchema, raw);
  if (request.integrations?.length === 0) return 0;
  const { namespace } = client.options;
  const query = queryOf(request);
  const { count } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count);
}

/** Orders and open reviews per day, newest day first. `older` counts the open reviews from before these days. */
export interface Days {
  days: { from: Instant; counts: Record<(typeof DAY_DECISIONS)[number], number>; openReviews: number }[];
  older: number;
}

export const DAY_DECISIONS = ['pass', 'review', 'fail', 'fraudulent'] as const;
const SHOWN_DAYS = 7;
const DAY_MS = 24 * 3_600_000;

/**
 * Counts the orders of the last seven days (24 hours each, back from now) by current decision. Queries one day at a time: all
 * at once would exceed Temporal's default limit of ten visibility calls per second.
 */
export async function countDays(
  { count }: Pick<OrderScreening, 'count'>,
  of: Pick<ListRequest, 'integration' | 'integrations'>,
  nowMs: number,
): Promise<Days> {
  const days: Days['days'] = [];
  let until = instant(nowMs);
  while (days.length < SHOWN_DAYS) {
    const started = { from: instant(millis(until) - DAY_MS), until };
    const [pass = 0, review = 0, fail = 0, fraudulent = 0, openReviews = 0] = await Promise.all([
      ...DAY_DECISIONS.map((decision) => count({ ...of, decision, started })),
      count({ ...of, phase: 'review', open: true, started }),
    ]);
    days.push({ from: started.from, counts: { pass, review, fail, fraudulent }, openReviews });
    until = started.from;
  }
  const older = await count({ ...of, phase: 'review', open: true, started: { until } });
  return { days, older };
}
