/** Which call of an order is which activity; the task queue, time-outs and retries of each activity. */
import { type ActivityOptions, ApplicationFailure } from '@temporalio/common';
import type {
  BackgroundActivities,
  Call,
  CallResult,
  CheckoutActivities,
  PollActivities,
  ReadActivities,
  RunFacts,
} from '../contract/activity-contract.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, READS_TASK_QUEUE, TASK_QUEUE } from '../contract/ids.ts';
import { whyUnread } from '../orders/check-messages.ts';
import { isOwnResult } from '../orders/check-results.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How the Temporal server treats an activity; durations in milliseconds. */
export interface ActivityLimits {
  startToCloseTimeout: number;
  scheduleToCloseTimeout?: number;
  heartbeatTimeout?: number;
  retry: {
    initialInterval?: number;
    backoffCoefficient?: number;
    maximumInterval?: number;
    maximumAttempts?: number;
  };
}

/** Local activities run once inside the workflow task: longer than the longest checkout budget, shorter than a workflow task. */
export const LOCAL_LIMITS = {
  startToCloseTimeout: 9 * SECOND,
  retry: { maximumAttempts: 1 },
} satisfies ActivityLimits;

/** An activity that may write: after a cancellation its request may be on its way, so the workflow waits for its end. */
const writes = { cancellationType: 'WAIT_CANCELLATION_COMPLETED' } as const;

const background = {
  taskQueue: BACKGROUND_TASK_QUEUE,
  startToCloseTimeout: 45 * SECOND,
  // The server notices a dead worker after that: a cancel near the end of its window can't wait for longer.
  heartbeatTimeout: 15 * SECOND,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
};

const reads = { ...background, summary: 'Read from the screening service' };

export const ACTIVITY_OPTIONS = {
  /** A second attempt's checkout. Its first try knows that none was before it; a later one looks first. */
  screenRetry: {
    ...writes,
    taskQueue: TASK_QUEUE,
    startToCloseTimeout: 9 * SECOND,
    scheduleToCloseTimeout: 20 * SECOND,
    retry: { initialInterval: 100, maximumAttempts: 3 },
    summary: 'Screen another attempt',
  },
  catchUp: { ...background, ...writes, summary: 'Screen the order, by catching up' },
  lookUp: reads,
  readStatus: { ...reads, taskQueue: READS_TASK_QUEUE },
  sendGatewayResponse: { ...background, ...writes, summary: 'Send the payment gateway’s result' },
  performPortalAction: {
    ...background,
    ...writes,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
    summary: 'Portal action',
  },
  /** Three days of tries with growing pauses, then a person must look. */
  deliverEvents: {
    ...background,
    ...writes,
    scheduleToCloseTimeout: 72 * HOUR,
    retry: { initialInterval: 2 * SECOND, backoffCoefficient: 3, maximumInterval: 6 * HOUR },
    summary: 'Deliver events',
  },
  /** The stash forgets by itself after 15 minutes: no need to try for longer. */
  forgetCard: {
    ...background,
    scheduleToCloseTimeout: 15 * MINUTE,
    summary: 'Delete the card from the stash',
  },
  /**
   * Retried by the server as long as the decision stays: the wait costs the same history whatever the polls. Each try names the
   * pause after it; the interval here is for one that was lost with its worker.
   */
  pollStatus: {
    ...background,
    taskQueue: POLLS_TASK_QUEUE,
    retry: { initialInterval: 10 * SECOND, backoffCoefficient: 1, maximumInterval: HOUR },
    summary: 'Poll the review',
  },
  /** Looking over the open orders from outside, for a day: a worker that stops or dies leaves it to another one. */
  sweep: {
    ...background,
    startToCloseTimeout: 25 * HOUR,
    retry: { initialInterval: SECOND, backoffCoefficient: 1 },
    summary: 'Look over the open orders',
  },
} satisfies Record<string, ActivityLimits & ActivityOptions>;

/** A person waits for it: three tries, then they are told. */
export const DELIVER_AGAIN_OPTIONS = {
  ...background,
  ...writes,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Deliver an event again',
} satisfies ActivityLimits & ActivityOptions;

/** The activities that orders call. */
export type OrderActivities = CheckoutActivities & BackgroundActivities & ReadActivities & PollActivities;

/** A call that is an activity. */
export type ActivityCall = Exclude<Call, { kind: 'timer' }>;

/** The activity of each call. */
export const ACTIVITY_OF = {
  'retry-screening': 'screenRetry',
  'catch-up': 'catchUp',
  read: 'readStatus',
  poll: 'pollStatus',
  'look-up': 'lookUp',
  gateway: 'sendGatewayResponse',
  portal: 'performPortalAction',
  deliver: 'deliverEvents',
  'forget-card': 'forgetCard',
} as const satisfies Record<ActivityCall['kind'], keyof OrderActivities>;

/**
 * Calls the activity that an order requires.
 * @param time returns the workflow's time in milliseconds, with which the result's is compared
 * @returns its result, named by the call's kind
 */
export async function performActivity(
  call: ActivityCall,
  activities: Omit<OrderActivities, 'screenAtCheckout'>,
  run: RunFacts,
  time?: () => number,
): Promise<CallResult> {
  const activity = activities[ACTIVITY_OF[call.kind]] as (given: unknown, run: RunFacts) => Promise<object>;
  const result = await activity(call.kind === 'deliver' ? call.events : call.request, run);
  return { ...ownResult(call.kind, result, time?.()), kind: call.kind } as CallResult;
}

const NOT_ITS_OWN = 'not-its-own-result';

/**
 * Returns the result of an activity of the server.
 * @throws ApplicationFailure when the result isn't the activity's own, as when an operator completed it by hand: that is a failed try
 */
export function ownResult<Result extends object>(
  kind: ActivityCall['kind'],
  result: Result,
  nowMs?: number,
): Result {
  if (isOwnResult(kind, result, nowMs)) return result;
  const why = whyUnread(result) ?? `The result is not one of ${kind}: it was made by hand`;
  throw ApplicationFailure.nonRetryable(why, NOT_ITS_OWN);
}

/** Returns whether a person ended the activity: completed it with something other than its result, or failed it. */
export function isEndedByHand(cause: unknown): boolean {
  if (!(cause instanceof ApplicationFailure)) return false;
  return cause.type === NOT_ITS_OWN || (cause.nonRetryable === true && !cause.type);
}
