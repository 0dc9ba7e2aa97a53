import { activityInfo } from '@temporalio/activity';
import { temporal } from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SweepResult } from '../../src/orders/activity-contract.ts';
import { BACKGROUND_TASK_QUEUE, TASK_QUEUE } from '../../src/orders/ids.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import type { sweepOrders } from '../../src/workflows/index.ts';
import { createTimeSkipping } from '../support/index.ts';

let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment?.teardown());

/** Takes a sweep as a worker does that then dies. */
const takeSweep = () =>
  environment.client.workflowService.pollActivityTaskQueue({
    namespace: environment.namespace ?? 'default',
    taskQueue: {
      name: BACKGROUND_TASK_QUEUE,
      kind: temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
    },
  });

it('a sweep whose worker died is made by another one before the next is due', async () => {
  const { client, nativeConnection: connection } = environment;
  const workflows = await Worker.create({
    connection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await workflowBundle(),
  });
  const swept: SweepResult = { found: [], looked: 0, at: '2026-01-01T00:00:00Z' };
  let waitedMs: number | undefined;
  const another = await Worker.create({
    connection,
    taskQueue: BACKGROUND_TASK_QUEUE,
    activities: {
      sweep: async () => {
        const { currentAttemptScheduledTimestampMs, scheduledTimestampMs } = activityInfo();
        waitedMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
        return swept;
      },
    },
  });
  await workflows.runUntil(async () => {
    const handle = await client.workflow.start<typeof sweepOrders>('sweepOrders', {
      taskQueue: TASK_QUEUE,
      workflowId: 'sweep',
    });
    await takeSweep();
    expect(await another.runUntil(() => handle.result())).toEqual(swept);
    expect(waitedMs).toBeLessThan(60_000);
  });
});
