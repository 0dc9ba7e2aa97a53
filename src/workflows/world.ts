/** The activities as the workflows call them: queue, time-outs and retries of each in one place. Design section 6. */
import {
  ActivityCancellationType,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from '../orders/ids.ts';
import type {
  BackgroundActivities,
  LocalActivities,
  LocalEventActivities,
  LocalPolicyActivities,
  PollActivities,
  RetryActivities,
  SweepActivities,
} from '../orders/world.ts';

/** Longer than the longest checkout budget, shorter than a workflow task. */
const once: LocalActivityOptions = { startToCloseTimeout: '9 seconds', retry: { maximumAttempts: 1 } };

/** Run inside the workflow task, once. */
export const local = proxyLocalActivities<LocalActivities>(once);

/** Run inside the workflow task until it works: without a policy an order can't go on. */
export const localUntilDone = proxyLocalActivities<LocalPolicyActivities>({
  startToCloseTimeout: '9 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Run inside the workflow task, in a moment: a receiver that takes longer gets the event by an activity of its own. */
export const localEvents = proxyLocalActivities<LocalEventActivities>({
  startToCloseTimeout: '3 seconds',
  retry: { maximumAttempts: 1 },
});

/** A second attempt's checkout. Its first try knows that none was before it; a second one looks first. */
export const retryCheckout = proxyActivities<RetryActivities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '9 seconds',
  scheduleToCloseTimeout: '20 seconds',
  retry: { initialInterval: '100 milliseconds', maximumAttempts: 2 },
  summary: 'Screen another attempt',
});

const background = {
  taskQueue: BACKGROUND_TASK_QUEUE,
  startToCloseTimeout: '45 seconds',
  // A worker that died is noticed after that: a cancel near the end of its window can't wait for longer.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
} as const;

/** Everything that may create a transaction: a canceled one is waited for, since its request may be on its way. */
export const creating = proxyActivities<Pick<BackgroundActivities, 'catchUp'>>({
  ...background,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  summary: 'Screen the order, by catching up',
});

export const looking = proxyActivities<Pick<BackgroundActivities, 'lookUp' | 'readStatusDurably'>>({
  ...background,
  summary: 'Read from the screening service',
});

export const gateway = proxyActivities<Pick<BackgroundActivities, 'sendGatewayResponse'>>({
  ...background,
  summary: 'Send the payment gateway’s result',
});

export const portal = proxyActivities<Pick<BackgroundActivities, 'performPortalAction'>>({
  ...background,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  summary: 'Portal action',
});

/** Three days of tries with growing pauses, then a person must look. Design section 5, "Events out". */
export const events = proxyActivities<Pick<BackgroundActivities, 'deliverEvents'>>({
  ...background,
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 3, maximumInterval: '6 hours' },
  summary: 'Deliver events',
});

/** The stash forgets by itself after 15 minutes: no need to try for longer. */
export const cards = proxyActivities<Pick<BackgroundActivities, 'forgetCard'>>({
  ...background,
  scheduleToCloseTimeout: '15 minutes',
  summary: 'Delete the card from the stash',
});

/** Retried by the server as long as the decision stays: the wait costs the same history whatever the polls. */
export const polls = proxyActivities<PollActivities>({
  taskQueue: POLLS_TASK_QUEUE,
  startToCloseTimeout: '45 seconds',
  retry: { initialInterval: '1 minute', backoffCoefficient: 1, maximumInterval: '1 hour' },
  summary: 'Poll the review',
});

/** Looking over the open orders from outside: the next sweep comes anyway. */
export const sweeping = proxyActivities<SweepActivities>({
  taskQueue: BACKGROUND_TASK_QUEUE,
  startToCloseTimeout: '5 minutes',
  retry: { maximumAttempts: 3 },
});
