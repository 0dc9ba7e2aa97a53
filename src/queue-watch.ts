/** Shows how far behind each task queue is. Asked of the server, so that it shows also when nobody works on a queue. */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { Runtime } from '@temporalio/worker';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from './orders/ids.ts';

const EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

// The server's numbers (`temporal.api.enums.v1.TaskQueueType`).
const QUEUES = [
  { name: TASK_QUEUE, taskQueueType: 1, type: 'workflow' },
  { name: TASK_QUEUE, taskQueueType: 2, type: 'activity' },
  { name: BACKGROUND_TASK_QUEUE, taskQueueType: 2, type: 'activity' },
  { name: POLLS_TASK_QUEUE, taskQueueType: 2, type: 'activity' },
] as const;

/** Begins to look at the queues; what can't be asked now is asked at the next look. */
export function watchQueues(client: Client): { stop(): void } {
  const { namespace } = client.options;
  const { metricMeter } = Runtime.instance();
  const age = metricMeter.createGauge(
    'order_screening_queue_backlog_age_seconds',
    'float',
    undefined,
    'Age of the oldest task that waits in the queue',
  );
  const tasks = metricMeter.createGauge(
    'order_screening_queue_backlog_tasks',
    'int',
    undefined,
    'Tasks that wait in the queue',
  );
  const look = async (): Promise<void> => {
    for (const { name, taskQueueType, type } of QUEUES) {
      const { stats } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType,
          reportStats: true,
        }),
      );
      const labels = { queue: name, type };
      age.set((optionalTsToMs(stats?.approximateBacklogAge) ?? 0) / 1_000, labels);
      tasks.set(Number(stats?.approximateBacklogCount ?? 0), labels);
    }
  };
  const lookSafely = (): void => {
    look().catch(() => undefined);
  };
  lookSafely();
  const timer = setInterval(lookSafely, EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
