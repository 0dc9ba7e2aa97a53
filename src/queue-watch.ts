/** Shows how far behind each task queue is. Asked of the server, so that it shows also when nobody works on a queue. */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { Runtime } from '@temporalio/worker';
import { POLLED_QUEUES, TASK_QUEUE_TYPE } from './task-queues.ts';

const EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

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
    for (const { name, type } of POLLED_QUEUES) {
      const { stats } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType: TASK_QUEUE_TYPE[type],
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
