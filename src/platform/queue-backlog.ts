/** The metrics of each task queue's backlog. They are read from the server, so that queues without workers are included. */
import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { msOf } from '../client/reading/describe-order.ts';
import { POLLED_QUEUES, TASK_QUEUE_TYPE } from '../contract/ids.ts';
import { gaugeOf } from '../order/view/metrics.ts';

const EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

/** Starts updating the backlog metrics. Errors are ignored until the next update. */
export function watchQueues(client: Client): { stop(): void } {
  const { namespace } = client.options;
  const { metricMeter } = Runtime.instance();
  const age = gaugeOf(metricMeter, 'order_screening_queue_backlog_age_seconds', 'float');
  const tasks = gaugeOf(metricMeter, 'order_screening_queue_backlog_tasks');
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
      age.set((msOf(stats?.approximateBacklogAge) ?? 0) / 1_000, labels);
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
