/** Replays histories with the workflow code of today: one that doesn't replay is an order that will stop. */
import { type Client, isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../src/workflow-bundle.ts';

/** The status of gRPC. */
const NOT_FOUND = 5;

/**
 * @param workflowModules paths of workflow interceptors that the histories were made with
 * @returns what Temporal says of each history that does not replay, by workflow id
 */
export async function faultsOfReplays(
  client: Client,
  workflowIds: readonly string[],
  workflowModules: string[] = [],
): Promise<Map<string, string>> {
  const faults = new Map<string, string>();
  const options = { workflowBundle: await workflowBundle({ workflowInterceptorModules: workflowModules }) };
  for await (const one of Worker.runReplayHistories(options, historiesOf(client, workflowIds))) {
    if (one.error !== undefined) faults.set(one.workflowId, one.error.message.slice(0, 600));
  }
  return faults;
}

/** The history of each workflow that there is. */
export async function* historiesOf(client: Client, workflowIds: readonly string[]) {
  for (const workflowId of workflowIds) {
    try {
      yield { workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** The time-skipping server's own error comes as it is. */
function isNotFound(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || (isGrpcServiceError(error) && error.code === NOT_FOUND);
}
