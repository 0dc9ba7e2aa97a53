/** The floor as a caller uses it. */
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { BenchOrder } from '../orders.ts';
import type { Stack } from '../stack/stack.ts';
import { type floor, floorDecision } from './workflows.ts';

const TASK_QUEUE = 'bench-floor';

/** Starts one worker. It is stopped with the stack. */
export async function startFloor(
  stack: Stack,
  { namespace, nodeArgs = [] }: { namespace: string; nodeArgs?: string[] },
) {
  await stack.makeNamespace(namespace);
  const client = new Client({ connection: stack.connection, namespace });
  const env = {
    TEMPORAL_ADDRESS: stack.address,
    TEMPORAL_NAMESPACE: namespace,
    TASK_QUEUE,
    SERVICE_URL: stack.sandbox.baseUrl,
  };
  const readyWhen = /worker is ready/;
  const worker = await stack.startProcess('bench/floor/worker.ts', { env, nodeArgs, readyWhen });
  return {
    worker,
    /** Update-with-Start and one local activity. */
    decide: async ({ orderId, transaction }: BenchOrder, staysOpen = false) => {
      const decision = await client.workflow.executeUpdateWithStart(floorDecision, {
        updateId: 'decision',
        startWorkflowOperation: new WithStartWorkflowOperation<typeof floor>('floor', {
          workflowId: `floor:${orderId}`,
          taskQueue: TASK_QUEUE,
          args: [{ orderId, transaction, staysOpen }],
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      });
      if (decision !== 'pass') throw new Error(`the decision was ${decision}`);
    },
    pids: () => [worker.pid],
  };
}
