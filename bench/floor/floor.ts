/** The floor and the plain way as a caller has them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, WithStartWorkflowOperation } from '@temporalio/client';
import type { SpawnedProcess } from '../../test/support/spawn-process.ts';
import type { BenchOrder } from '../orders.ts';
import { makeNamespace } from '../stack/namespace.ts';
import type { Stack } from '../stack/stack.ts';
import { workerProcesses } from '../stack/worker-processes.ts';
import { FLOOR_TASK_QUEUE } from './names.ts';
import { type floor, floorDecision, type plain, plainDecision } from './workflows.ts';

/** How long a plain caller waits before it asks again. */
const ASK_AGAIN_MS = 100;

export interface Floor {
  client: Client;
  workers: SpawnedProcess[];
  startWorker: () => Promise<SpawnedProcess>;
  /** Update-with-Start and one local activity. */
  decide: (order: BenchOrder, staysOpen?: boolean) => Promise<void>;
  /** Start, one regular activity, ask by query until there is a decision; it stays open, as a closed one is asked at a price. */
  decidePlainly: (order: BenchOrder, staysOpen?: boolean) => Promise<void>;
  pids: () => number[];
  stop: () => Promise<void>;
}

export async function startFloor(
  stack: Stack,
  {
    namespace,
    workers: count = 1,
    nodeArgs = [],
  }: { namespace: string; workers?: number; nodeArgs?: string[] },
): Promise<Floor> {
  await makeNamespace(stack, namespace);
  const client = new Client({ connection: stack.connection, namespace });
  const { workers, startWorker } = workerProcesses('bench/floor/worker.ts', nodeArgs, async () => ({
    TEMPORAL_ADDRESS: stack.address,
    TEMPORAL_NAMESPACE: namespace,
    SERVICE_URL: stack.sandbox.baseUrl,
  }));
  for (let started = 0; started < count; started += 1) await startWorker();
  return {
    client,
    workers,
    startWorker,
    decide: async ({ orderId, transaction }, staysOpen = false) => {
      const decision = await client.workflow.executeUpdateWithStart(floorDecision, {
        updateId: 'decision',
        startWorkflowOperation: new WithStartWorkflowOperation<typeof floor>('floor', {
          workflowId: `floor:${orderId}`,
          taskQueue: FLOOR_TASK_QUEUE,
          args: [{ orderId, transaction, staysOpen }],
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      });
      expectPass(decision);
    },
    decidePlainly: async ({ orderId, transaction }, staysOpen = true) => {
      const handle = await client.workflow.start<typeof plain>('plain', {
        workflowId: `plain:${orderId}`,
        taskQueue: FLOOR_TASK_QUEUE,
        args: [{ orderId, transaction, staysOpen }],
      });
      for (;;) {
        const decision = await handle.query(plainDecision);
        if (decision !== undefined) return expectPass(decision);
        await sleep(ASK_AGAIN_MS);
      }
    },
    pids: () => workers.map(({ pid }) => pid),
    stop: async () => {
      await Promise.all(workers.map((one) => one.stop()));
    },
  };
}

function expectPass(decision: string): void {
  if (decision !== 'pass') throw new Error(`the decision was ${decision}`);
}
