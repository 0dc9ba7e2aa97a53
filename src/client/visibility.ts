/** Asks Temporal's visibility, which is up to 2 s behind. */
import type { Client } from '@temporalio/client';
import { transactionQuery } from '../orders/describe.ts';
import { callTemporal, READ_WITHIN_MS } from './temporal-errors.ts';
import type { ClientContext } from './types.ts';

type Page = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;

/** A run of a workflow, as visibility has it. */
export type Execution = Page['executions'][number];

/** Lists workflows, newest first. Unlike the SDK's own list, it does not fail for one whose memo can't be decrypted. */
export function listWorkflows(
  client: Client,
  query: string,
  pageSize: number,
  { nextPageToken, withinMs = READ_WITHIN_MS }: { nextPageToken?: Uint8Array; withinMs?: number } = {},
): Promise<Page> {
  const { namespace } = client.options;
  const page = { namespace, query, pageSize, ...(nextPageToken && { nextPageToken }) };
  return callTemporal(client, withinMs, () => client.workflowService.listWorkflowExecutions(page));
}

/**
 * Returns the workflow ids of the orders that have a transaction, newest first. A workflow that failed owns no transaction.
 * @throws OrderScreeningError `temporal-unavailable`
 */
export async function ownersOf({ client }: ClientContext, transactionId: string): Promise<string[]> {
  const owns = "ExecutionStatus IN ('Running', 'ContinuedAsNew', 'Completed')";
  const { executions } = await listWorkflows(client, `${transactionQuery(transactionId)} AND ${owns}`, 10);
  return executions.flatMap(({ execution }) => execution?.workflowId ?? []);
}
