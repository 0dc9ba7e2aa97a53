import { activityInfo } from '@temporalio/activity';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BACKGROUND_TASK_QUEUE, TASK_QUEUE } from '../../src/contract/ids.ts';
import { workflowBundle } from '../../src/platform/workflow-bundle.ts';
import type { sweepOrders } from '../../src/workflows/index.ts';
import { createTimeSkipping } from '../support/index.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment?.teardown());

it('a day of sweeps whose worker died is taken up by another one before the next sweep is due, and is followed by the next day', async () => {
  const { client, nativeConnection: connection } = environment;
  const workflows = await Worker.create({
    connection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await workflowBundle(),
  });
  const waitedMs: number[] = [];
  let begin = (): void => undefined;
  const nextDay = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const another = await Worker.create({
    connection,
    taskQueue: BACKGROUND_TASK_QUEUE,
    activities: {
      sweep: async () => {
        const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = activityInfo();
        if (waitedMs.push(currentAttemptScheduledTimestampMs - scheduledTimestampMs) === 2) begin();
      },
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
    await another.runUntil(nextDay);
    expect(waitedMs[0]).toBeLessThan(60_000);
    const { runId } = await client.workflow.getHandle('sweep').describe();
    expect(runId).not.toBe(handle.firstExecutionRunId);
    await client.workflow.getHandle('sweep').terminate();
  });
});
