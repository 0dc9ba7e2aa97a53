/** The task queues as the server is asked of them. */
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from './orders/ids.ts';

/** The server's numbers (`temporal.api.enums.v1.TaskQueueType`). */
export const TASK_QUEUE_TYPE = { workflow: 1, activity: 2 } as const;

/** Everything that the workers of a deployment poll. */
export const POLLED_QUEUES: readonly { name: string; type: keyof typeof TASK_QUEUE_TYPE }[] = [
  { name: TASK_QUEUE, type: 'workflow' },
  { name: TASK_QUEUE, type: 'activity' },
  { name: BACKGROUND_TASK_QUEUE, type: 'activity' },
  { name: POLLS_TASK_QUEUE, type: 'activity' },
];
