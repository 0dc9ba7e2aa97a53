import {
  type ConnectionLike,
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { TASK_QUEUE } from '../orders/ids.ts';
import { SWEEP_ORDERS, SWEEP_SCHEDULE_ID } from '../orders/sweep.ts';

const EVERY = '1 minute';

/** Longer than a sweep takes; one that no worker takes doesn't pile up. */
const SWEEP_WITHIN = '10 minutes';

/** Makes the schedule that looks over the open orders each minute. Doing it again changes nothing. */
export async function scheduleSweep(connection: ConnectionLike, namespace: string): Promise<void> {
  try {
    await new ScheduleClient({ connection, namespace }).create({
      scheduleId: SWEEP_SCHEDULE_ID,
      spec: { intervals: [{ every: EVERY }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: EVERY },
      action: {
        type: 'startWorkflow',
        workflowType: SWEEP_ORDERS,
        taskQueue: TASK_QUEUE,
        workflowRunTimeout: SWEEP_WITHIN,
        staticSummary: 'Looks over the open orders for stuck and overdue ones',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
