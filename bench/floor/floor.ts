/** The floor and the plain way as a caller uses them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { BenchOrder } from '../orders.ts';
import type { Stack } from '../stack/stack.ts';
import { type floor, floorDecision, type plain, plainDecision } from './workflows.ts';

const TASK_QUEUE = 'bench-floor';
const QUERY_EVERY_MS = 100;

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
      expectPass(decision);
    },
    /** Start, one regular activity, and queries until there is a decision. */
    decidePlainly: async ({ orderId, transaction }: BenchOrder) => {
      const handle = await client.workflow.start<typeof plain>('plain', {
        workflowId: `plain:${orderId}`,
        taskQueue: TASK_QUEUE,
        args: [{ orderId, transaction }],
      });
      for (;;) {
        const decision = await handle.query(plainDecision);
        if (decision !== undefined) return expectPass(decision);
        await sleep(QUERY_EVERY_MS);
      }
    },
    pids: () => [worker.pid],
  };
}

function expectPass(decision: string): void {
  if (decision !== 'pass') throw new Error(`the decision was ${decision}`);
}
