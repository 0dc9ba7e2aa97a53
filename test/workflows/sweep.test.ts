import { activityInfo } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOrderDirectory } from '../../src/activities/sweep/order-directory.ts';
import { BACKGROUND_TASK_QUEUE, TASK_QUEUE } from '../../src/contract/ids.ts';
import type { OrderEvent } from '../../src/contract/messages.ts';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';
import type { sweepOrders } from '../../src/workflows/index.ts';
import { anOrderEvent } from '../fixtures/events.ts';
import { createTimeSkipping } from '../support/index.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment?.teardown());

/** Creates a worker for workflows, and one for these activities in the background. */
async function createWorkers(activities: object) {
  const { nativeConnection: connection } = environment;
  const bundle = await workflowBundle();
  return {
    workflows: await Worker.create({ connection, taskQueue: TASK_QUEUE, workflowBundle: bundle }),
    background: await Worker.create({ connection, taskQueue: BACKGROUND_TASK_QUEUE, activities }),
  };
}

it('a day of sweeps whose worker died is taken up by another one before the next sweep is due, and is followed by the next day', async () => {
  const { client } = environment;
  const waitedMs: number[] = [];
  let begin = (): void => undefined;
  const nextDay = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { workflows, background } = await createWorkers({
    sweep: async () => {
      const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = activityInfo();
      if (waitedMs.push(currentAttemptScheduledTimestampMs - scheduledTimestampMs) === 2) begin();
    },
  });
  await workflows.runUntil(async () => {
    const handle = await client.workflow.start<typeof sweepOrders>('sweepOrders', {
      taskQueue: TASK_QUEUE,
      workflowId: 'sweep',
    });
    // A worker takes the sweep, and then dies.
    await client.workflowService.pollActivityTaskQueue({
      namespace: environment.namespace ?? 'default',
      taskQueue: { name: BACKGROUND_TASK_QUEUE },
    });
    // The server skips time while somebody waits for a result.
    handle.result().catch(() => undefined);
    await background.runUntil(nextDay);
    expect(waitedMs[0]).toBeLessThan(60_000);
    const { runId } = await client.workflow.getHandle('sweep').describe();
    expect(runId).not.toBe(handle.firstExecutionRunId);
    await client.workflow.getHandle('sweep').terminate();
  });
});

it('an event of the sweep is tried for as long as an order’s own events, and an operator’s redelivery three times', async () => {
  const { client } = environment;
  const tries = new Map<string, number>();
  const { workflows, background } = await createWorkers({
    deliverEvents: async ([{ id }]: [OrderEvent]) => {
      tries.set(id, activityInfo().attempt);
      if (activityInfo().attempt < 5) throw new Error('the receiver is down');
    },
  });
  const event = (id: string) => anOrderEvent({ id });
  await workflows.runUntil(
    background.runUntil(async () => {
      const directory = createOrderDirectory(client);
      await directory.announce(event('sweep:1'));
      await directory.announce(event('sweep:1'));
      await client.workflow.getHandle('sweep:1').result();
      const options = { taskQueue: TASK_QUEUE, workflowId: 'by-hand', args: [event('by-hand')] };
      await expect(client.workflow.execute('redeliverEvent', options)).rejects.toThrow();
    }),
  );
  expect(Object.fromEntries(tries)).toEqual({ 'sweep:1': 5, 'by-hand': 3 });
});
