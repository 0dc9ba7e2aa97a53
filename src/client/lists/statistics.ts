/** Statistics of the orders that were started since some time, by Temporal's visibility. */
import { portalActionWorkflowId } from '../../contract/ids.ts';
import { PORTAL_ACTION } from '../../contract/messages.ts';
import { type Instant, OUTCOMES } from '../../contract/words.ts';
import { orderAttributes, quoted } from '../../order/view/describe.ts';
import { attributesIn } from '../reading/decode.ts';
import type { ClientContext, Statistics } from '../types.ts';
import { countOf, countOrders } from './list-orders.ts';
import { type ListRequest, queryOf } from './list-request.ts';
import { listWorkflows } from './visibility.ts';

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
  const [counts, late, hours] = await Promise.all([
    Promise.all(OUTCOMES.map(async (outcome) => [outcome, await countOrders(context, { ...of, outcome })])),
    countOf(context, lateChargebacks(integrations, since)),
    reviewHours(context, of),
  ]);
  const outcomes: Statistics['outcomes'] = { ...NONE, ...Object.fromEntries(counts) };
  outcomes.chargeback += late;
  const at = (share: number) => hours[Math.ceil(hours.length * share) - 1];
  const [median, p90] = [at(0.5), at(0.9)];
  return {
    outcomes,
    reviews: {
      count: hours.length,
      ...(median !== undefined && p90 !== undefined && { median, p90 }),
    },
  };
}

const NONE: Statistics['outcomes'] = {
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

/** @returns the hours of each review, shortest first */
async function reviewHours({ client }: ClientContext, of: ListRequest): Promise<number[]> {
  const query = `${queryOf(of)} AND ${orderAttributes.reviewHours.name} IS NOT NULL`;
  const { executions } = await listWorkflows(client, query, PAGE);
  return executions
    .flatMap(({ searchAttributes }) => attributesIn(searchAttributes?.indexedFields).reviewHours ?? [])
    .sort((a, b) => a - b);
}
