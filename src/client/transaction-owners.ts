/** Looks up which orders have a transaction. */
import { orderAttributes } from '../orders/describe.ts';
import { SCREEN_ORDER } from '../orders/messages.ts';
import { quoted } from './list-orders.ts';
import { asOrderError, READ_WITHIN_MS, within } from './temporal-errors.ts';
import type { ClientContext } from './types.ts';

/**
 * Returns the workflow ids of the orders that have a transaction, newest first, by the search attributes, which are up to 2 s
 * behind. A workflow that failed owns no transaction.
 * @throws OrderScreeningError `temporal-unavailable`
 */
export async function ownersOf({ client }: ClientContext, transactionId: string): Promise<string[]> {
  const query = [
    `WorkflowType = '${SCREEN_ORDER}'`,
    "ExecutionStatus IN ('Running', 'ContinuedAsNew', 'Completed')",
    `${orderAttributes.transactionId.name} = ${quoted(transactionId.toLowerCase())}`,
  ].join(' AND ');
  const { executions } = await asOrderError(() =>
    within(client, Date.now() + READ_WITHIN_MS, () =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query,
        pageSize: 10,
      }),
    ),
  );
  return executions.flatMap(({ execution }) => execution?.workflowId ?? []);
}
