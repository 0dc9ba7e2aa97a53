/** Start: everything by `npm start`, and a worker from nothing to an order that waits for it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { decisionUpdateId, orderWorkflowId, TASK_QUEUE } from '../../src/contract/ids.ts';
import { decisionUpdate, SCREEN_ORDER } from '../../src/contract/messages.ts';
import { freePort } from '../../src/dev/guarded-child.ts';
import { spawnProcess } from '../../test/support/spawn-process.ts';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { startFloor } from '../floor/floor.ts';
import { anOrder } from '../orders.ts';
import { deploy } from '../stack/deployment.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { READY_WITHIN_MS } from '../stack/worker-processes.ts';
import { expectPass } from '../ways/ways.ts';

export async function benchStart({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const stack = await startStack(address);
  try {
    const cold: number[] = [];
    const workers: number[] = [];
    const floors: number[] = [];
    for (let time = 0; time < sizes.start.times; time += 1) {
      say(`start: ${time + 1} of ${sizes.start.times}`);
      cold.push(await timeOf(() => startCold(stack)));
      floors.push(await floorToFirstTask(stack));
      workers.push(await workerToFirstTask(stack));
    }
    return [
      ...figureOf({ part: 'start', name: 'npm start, cold, until it is ready', unit: 'ms', value: cold }),
      ...figureOf({
        part: 'start',
        name: 'worker, from its start to the end of its first task',
        unit: 'ms',
        value: workers,
        floor: floors,
      }),
    ];
  } finally {
    await stack.stop();
  }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

/** With an empty folder for its data; sample orders included, as a person sees it. */
async function startCold({ directory }: Stack): Promise<void> {
  const ports = await Promise.all(Array.from({ length: 5 }, freePort));
  const [temporal, ui, sandbox, api, metrics] = ports.map(String);
  const started = await spawnProcess('src/start.ts', {
    env: {
      TEMPORAL_ADDRESS: undefined,
      SCREENING_CONFIG: undefined,
      SCREENING_BASE_URL: undefined,
      DATA_DIR: join(directory, randomUUID()),
      TEMPORAL_PORT: temporal,
      TEMPORAL_UI_PORT: ui,
      SANDBOX_PORT: sandbox,
      API_PORT: api,
      METRICS_PORT: metrics,
    },
    readyWhen: /Stop with Ctrl-C/,
    readyWithinMs: READY_WITHIN_MS,
  });
  void started.stop();
  await started.ended;
}

/** An order that nobody answers yet, then a worker. */
async function workerToFirstTask(stack: Stack): Promise<number> {
  const namespace = `bench-start-${randomUUID().slice(0, 8)}`;
  const all = await deploy(stack, { namespace, workers: 0 });
  const { orderId, transaction } = anOrder();
  // Without a time by which the caller wants its answer, as a plain start: however long the worker takes, it screens.
  const waiting = all.client.workflow.executeUpdateWithStart(decisionUpdate, {
    args: [{ attempt: 1 }],
    updateId: decisionUpdateId(1),
    startWorkflowOperation: new WithStartWorkflowOperation(SCREEN_ORDER, {
      workflowId: orderWorkflowId('default', orderId),
      taskQueue: TASK_QUEUE,
      args: [{ orderId, transaction }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  });
  return timeOf(async () => {
    const [answer] = await Promise.all([waiting, all.startWorker()]);
    expectPass(answer);
  }).finally(() => all.stop());
}

async function floorToFirstTask(stack: Stack): Promise<number> {
  const namespace = `bench-start-${randomUUID().slice(0, 8)}`;
  const all = await startFloor(stack, { namespace, workers: 0 });
  const waiting = all.decide(anOrder());
  return timeOf(() => Promise.all([waiting, all.startWorker()])).finally(() => all.stop());
}
