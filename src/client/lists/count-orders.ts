/** Counts orders by Temporal's visibility, which lags by up to 2 s. */
import { portalActionWorkflowId } from '../../contract/ids.ts';
import { PORTAL_ACTION } from '../../contract/messages.ts';
import { type Instant, ORDER_DECISIONS, OUTCOMES } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { orderAttributes, quoted } from '../../order/view/search-attributes.ts';
import { checked } from '../read-requests.ts';
import { attributesIn } from '../reading/decode.ts';
import type { ClientContext, OrderScreening, Statistics } from '../types.ts';
import { type ListRequest, listRequestSchema, queryOf } from './list-request.ts';
import { countWorkflows, listWorkflows, PAGE } from './visibility.ts';

export async function countOrders(context: ClientContext, raw: ListRequest = {}): Promise<number> {
  const request = checked(listRequestSchema, raw);
  return request.integrations?.length === 0 ? 0 : countWorkflows(context.client, queryOf(request));
}

async function countEach<Word extends string>(
  words: readonly Word[],
  count: (word: Word) => Promise<number>,
): Promise<Record<Word, number>> {
  const counts = await Promise.all(words.map(async (word) => [word, await count(word)] as const));
  return Object.fromEntries(counts) as Record<Word, number>;
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
    const counts = await countEach(ORDER_DECISIONS, (decision) => count({ ...of, decision, started }));
    days.push({ from, counts });
  }
  return days;
}

/** @throws OrderScreeningError `temporal-unavailable` */
export async function readStatistics(
  context: ClientContext,
  integrations: readonly string[],
  since: Instant,
): Promise<Statistics> {
  const of: ListRequest = { integrations, started: { from: since } };
  if (integrations.length === 0)
    return { outcomes: await countEach(OUTCOMES, async () => 0), reviews: { count: 0 } };
  const [outcomes, late, reviews] = await Promise.all([
    countEach(OUTCOMES, (outcome) => countOrders(context, { ...of, outcome })),
    countWorkflows(context.client, lateChargebacks(integrations, since)),
    reviewTimes(context, of),
  ]);
  outcomes.chargeback += late;
  return { outcomes, reviews };
}

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

/** Counts all reviews, and returns the times of the newest ones. */
async function reviewTimes({ client }: ClientContext, of: ListRequest): Promise<Statistics['reviews']> {
  const query = `${queryOf(of)} AND ${orderAttributes.reviewHours.name} IS NOT NULL`;
  const { executions, place } = await listWorkflows(client, query, PAGE);
  const hours = executions
    .flatMap(({ searchAttributes }) => attributesIn(searchAttributes?.indexedFields).reviewHours ?? [])
    .sort((a, b) => a - b);
  const at = (share: number) => hours[Math.ceil(hours.length * share) - 1];
  const times = defined({ median: at(0.5), p90: at(0.9) });
  if (place === undefined) return { count: hours.length, ...times };
  return { count: await countWorkflows(client, query), timed: hours.length, ...times };
}
