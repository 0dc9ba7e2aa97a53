/** Lists and counts orders by Temporal's visibility, newest first. It lags by up to 2 s. */
import { portalActionWorkflowId } from '../../contract/ids.ts';
import { PORTAL_ACTION } from '../../contract/messages.ts';
import type { OrderList } from '../../contract/order/order.ts';
import { type Instant, ORDER_DECISIONS, OUTCOMES } from '../../contract/words.ts';
import { orderAttributes, quoted } from '../../order/view/describe.ts';
import { checked } from '../read-requests.ts';
import { attributesIn } from '../reading/decode.ts';
import type { ClientContext, OrderScreening, Statistics } from '../types.ts';
import { listRows } from './list-queue.ts';
import { type ListRequest, listRequestSchema, queryOf } from './list-request.ts';
import { countWorkflows, listWorkflows } from './visibility.ts';

export async function listOrders(context: ClientContext, request: ListRequest = {}): Promise<OrderList> {
  const { orders, ...place } = await listRows(context, request);
  return { orders: orders.map(({ summary }) => summary), ...place };
}

export async function countOrders(context: ClientContext, raw: ListRequest = {}): Promise<number> {
  const request = checked(listRequestSchema, raw);
  return request.integrations?.length === 0 ? 0 : countWorkflows(context.client, queryOf(request));
}

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
    days.push({ from, counts: { ...NO_ORDERS, ...Object.fromEntries(counted) } });
  }
  return days;
}

const NO_ORDERS = { pass: 0, review: 0, fail: 0, fraudulent: 0, error: 0, pending: 0, skipped: 0 };

/** The server's default maximum per page. */
const PAGE = 1_000;

/**
 * @param integrations must not be empty
 * @throws OrderScreeningError `temporal-unavailable`
 */
export async function readStatistics(
  context: ClientContext,
  integrations: readonly string[],
  since: Instant,
): Promise<Statistics> {
  const of: ListRequest = { integrations, started: { from: since } };
  const [counts, late, reviewed] = await Promise.all([
    Promise.all(OUTCOMES.map(async (outcome) => [outcome, await countOrders(context, { ...of, outcome })])),
    countWorkflows(context.client, lateChargebacks(integrations, since)),
    reviewHours(context, of),
  ]);
  const { hours, all } = reviewed;
  const outcomes: Statistics['outcomes'] = { ...NO_OUTCOMES, ...Object.fromEntries(counts) };
  outcomes.chargeback += late;
  const at = (share: number) => hours[Math.ceil(hours.length * share) - 1];
  const [median, p90] = [at(0.5), at(0.9)];
  return {
    outcomes,
    reviews: {
      count: all ?? hours.length,
      ...(all !== undefined && { timed: hours.length }),
      ...(median !== undefined && p90 !== undefined && { median, p90 }),
    },
  };
}

const NO_OUTCOMES: Statistics['outcomes'] = {
  overridden: 0,
  'override-confirmed': 0,
  'override-contradicted': 0,
  chargeback: 0,
};

/** Chargebacks of ended orders run as workflows of their own. */
function lateChargebacks(integrations: readonly string[], since: Instant): string {
  const ids = integrations.map(
    (name) => `WorkflowId STARTS_WITH ${quoted(portalActionWorkflowId(name, 'chargeback', ''))}`,
  );
  return [
    `WorkflowType = '${PORTAL_ACTION}'`,
    "ExecutionStatus = 'Completed'",
    `StartTime >= ${quoted(since)}`,
    `(${ids.join(' OR ')})`,
  ].join(' AND ');
}

/** @returns the hours of the newest reviews, shortest first, and how many reviews there are if these are not all */
async function reviewHours({ client }: ClientContext, of: ListRequest) {
  const query = `${queryOf(of)} AND ${orderAttributes.reviewHours.name} IS NOT NULL`;
  const { executions, place } = await listWorkflows(client, query, PAGE);
  const hours = executions
    .flatMap(({ searchAttributes }) => attributesIn(searchAttributes?.indexedFields).reviewHours ?? [])
    .sort((a, b) => a - b);
  return { hours, all: place && (await countWorkflows(client, query)) };
}
