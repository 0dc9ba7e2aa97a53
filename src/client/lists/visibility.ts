/** Queries Temporal's visibility, which lags by up to 2 s. */
import type { Client } from '@temporalio/client';
import { OrderScreeningError } from '../../contract/errors.ts';
import { type OrderKey, orderOfWorkflowId } from '../../contract/ids.ts';
import { transactionQuery } from '../../order/view/search-attributes.ts';
import { callTemporal, READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';

type Page = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;

type Execution = Page['executions'][number];

/** The server's default maximum per page. */
export const PAGE = 1_000;

/**
 * Lists workflows, newest first. Unlike the SDK's list, it doesn't fail on a memo encrypted with a key that this process lacks.
 * @param place of the page; undefined for the first one, and in the result after the last one
 */
export async function listWorkflows(
  client: Client,
  query: string,
  pageSize: number,
  place?: Uint8Array,
): Promise<{ executions: Execution[]; place: Uint8Array | undefined }> {
  const { namespace } = client.options;
  const request = { namespace, query, pageSize, ...(place && { nextPageToken: place }) };
  const { executions, nextPageToken } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflowService.listWorkflowExecutions(request),
  );
  return { executions, place: nextPageToken.length > 0 ? nextPageToken : undefined };
}

/** Lists workflows page by page, newest first. @throws OrderScreeningError `temporal-unavailable` */
export async function* pagesOf(client: Client, query: string, pageSize: number): AsyncGenerator<Execution[]> {
  let place: Uint8Array | undefined;
  do {
    const page = await listWorkflows(client, query, pageSize, place);
    yield page.executions;
    place = page.place;
  } while (place !== undefined);
}

/** Counts the workflows of a query. @throws OrderScreeningError `temporal-unavailable` */
export async function countWorkflows(client: Client, query: string): Promise<number> {
  const { namespace } = client.options;
  const { count } = await callTemporal(client, READ_WITHIN_MS, () =>
    client.workflowService.countWorkflowExecutions({ namespace, query }),
  );
  return Number(count);
}

/** The condition of a query for orders that own their transactions: a workflow that failed or was terminated owns none. */
export const OWNS = "ExecutionStatus IN ('Running', 'ContinuedAsNew', 'Completed')";

/**
 * Returns the orders that have a transaction, newest first.
 * @throws OrderScreeningError `temporal-unavailable`
 */
export async function ownersOf({ client }: ClientContext, transactionId: string): Promise<OrderKey[]> {
  const { executions } = await listWorkflows(client, `${transactionQuery(transactionId)} AND ${OWNS}`, 10);
  return executions.flatMap(({ execution }) => orderOfWorkflowId(execution?.workflowId ?? '') ?? []);
}

/**
 * Refuses a transaction that belongs to a different order. An order of a different integration is not named: the caller may have no access.
 * @throws OrderScreeningError `other-integration`, `transaction-taken`, `temporal-unavailable`
 */
export async function refuseTaken(
  context: ClientContext,
  transactionId: string,
  { integration, orderId }: OrderKey,
): Promise<void> {
  const owners = await ownersOf(context, transactionId);
  if (owners.some((one) => one.integration !== integration)) {
    throw new OrderScreeningError(
      'other-integration',
      'An order of a different integration has this transaction',
    );
  }
  const other = owners.find((one) => one.orderId !== orderId);
  if (other === undefined) return;
  throw new OrderScreeningError('transaction-taken', `The order ${other.orderId} has this transaction`);
}
