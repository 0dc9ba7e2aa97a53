/** Maps an order's calls to activities. Sets the task queue, timeouts and retries of each activity. */
import { type ActivityOptions, ApplicationFailure } from '@temporalio/common';
import { HEARTBEAT_TIMEOUT_MS, type RunFacts } from '../contract/activity-contract.ts';
import { ACTIVITY_OF, type Call, type CallResult, type OrderActivities } from '../contract/calls.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, READS_TASK_QUEUE, TASK_QUEUE } from '../contract/ids.ts';
import { whyUnread } from '../order/messages/check-messages.ts';
import { isOwnResult } from '../order/messages/shapes.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How the Temporal server runs an activity; durations in milliseconds. */
export interface ActivityLimits {
  startToCloseTimeout: number;
  scheduleToCloseTimeout?: number;
  heartbeatTimeout?: number;
  retry: {
    [Name in 'initialInterval' | 'backoffCoefficient' | 'maximumInterval' | 'maximumAttempts']?: number;
  };
}

/** Local activities run once inside the workflow task: longer than the longest checkout budget, shorter than a workflow task. */
export const LOCAL_LIMITS = {
  startToCloseTimeout: 9 * SECOND,
  retry: { maximumAttempts: 1 },
} satisfies ActivityLimits;

/** An activity that may write. When it is canceled its request may be in flight, so the workflow waits for its end. */
const writes = { cancellationType: 'WAIT_CANCELLATION_COMPLETED' } as const;

const background = {
  taskQueue: BACKGROUND_TASK_QUEUE,
  startToCloseTimeout: 45 * SECOND,
  // The server detects a dead worker after this time. A cancel near the end of its window can't wait longer.
  heartbeatTimeout: HEARTBEAT_TIMEOUT_MS,
  retry: { initialInterval: 2 * SECOND, backoffCoefficient: 2, maximumInterval: 5 * MINUTE },
};

/** Of an activity whose every failure sets the pause that follows: the interval applies to a try whose worker was lost. */
const soonIfLost = (initialInterval: number) => ({ initialInterval, backoffCoefficient: 1 });

const reads = { ...background, summary: 'Read from the screening service' };

export const ACTIVITY_OPTIONS = {
  /** The checkout of a second or later attempt. Its first try knows that there was none before; later tries look first. */
  screenRetry: {
    ...writes,
    taskQueue: TASK_QUEUE,
    startToCloseTimeout: 9 * SECOND,
    scheduleToCloseTimeout: 20 * SECOND,
    retry: { initialInterval: 100, maximumAttempts: 3 },
    summary: 'Screen another attempt',
  },
  catchUp: { ...background, ...writes, summary: 'Screen the order after the checkout' },
  lookUp: reads,
  readStatus: { ...reads, taskQueue: READS_TASK_QUEUE },
  /**
   * Without news its next try would be after the cancel window, so it never ends. Abandoning it adds no history events, unless it still
   * waits for an answer with a decision; at worst a read is made that nobody needs.
   */
  readStatusLast: {
    ...background,
    taskQueue: POLLS_TASK_QUEUE,
    cancellationType: 'ABANDON',
    summary: 'Read the decision once more',
  },
  sendGatewayResponse: { ...background, ...writes, summary: 'Send the payment gateway’s result' },
  performPortalAction: {
    ...background,
    ...writes,
    // A cancel has to be sent within its window.
    retry: soonIfLost(5 * SECOND),
    summary: 'Portal action',
  },
  /** Retries for three days with growing pauses, or the receiver's Retry-After. After that, the operator must act. */
  deliverEvents: {
    ...background,
    ...writes,
    scheduleToCloseTimeout: 72 * HOUR,
    retry: soonIfLost(10 * SECOND),
    summary: 'Deliver events',
  },
  /** The stash deletes the card after 15 minutes, so retrying longer is useless. */
  forgetCard: {
    ...background,
    scheduleToCloseTimeout: 15 * MINUTE,
    summary: 'Delete the card from the stash',
  },
  /** The server retries it as long as the decision is unchanged, so the history doesn't grow with the number of polls. */
  pollStatus: {
    ...background,
    taskQueue: POLLS_TASK_QUEUE,
    retry: soonIfLost(10 * SECOND),
    summary: 'Poll the review',
  },
  /** Sweeps the open orders for a day. If its worker stops or dies, another worker continues. */
  sweep: {
    ...background,
    startToCloseTimeout: 25 * HOUR,
    retry: { initialInterval: SECOND, backoffCoefficient: 1 },
    summary: 'Sweep the open orders',
  },
} satisfies Record<string, ActivityLimits & ActivityOptions>;

/** Retried until the screening service answers, for at most a day. */
export const READ_AFTER_END_OPTIONS = {
  ...reads,
  taskQueue: READS_TASK_QUEUE,
  scheduleToCloseTimeout: 24 * HOUR,
  summary: 'Read the status after the order’s end',
} satisfies ActivityLimits & ActivityOptions;

/**
 * Of an operator's redelivery. A person waits for the result, so it is reported after three tries, or at once if there is no receiver, or
 * one that asks for a longer pause than the time-out.
 */
export const DELIVER_AGAIN_OPTIONS = {
  ...background,
  ...writes,
  scheduleToCloseTimeout: 2 * MINUTE,
  retry: {
    initialInterval: SECOND,
    backoffCoefficient: 2,
    maximumAttempts: 3,
    nonRetryableErrorTypes: ['no-receiver'],
  },
  summary: 'Redeliver an event',
} satisfies ActivityLimits & ActivityOptions;

export type ActivityCall = Exclude<Call, { kind: 'timer' }>;

/** Calls the activity for an order's call. Returns the activity's own promise, see `startCall`. */
export function startActivity(
  call: ActivityCall,
  activities: Omit<OrderActivities, 'screenAtCheckout'>,
  run: RunFacts,
): Promise<object> {
  const activity = activities[ACTIVITY_OF[call.kind]] as (given: unknown, run: RunFacts) => Promise<object>;
  return activity(call.request, run);
}

/**
 * Returns the result of an order's call, with the call's kind.
 * @param nowMs the workflow's time in milliseconds; the result must not be dated later
 */
export function activityResult({ kind }: ActivityCall, result: unknown, nowMs?: number): CallResult {
  return { ...ownResult(kind, result as object, nowMs), kind } as CallResult;
}

const NOT_ITS_OWN = 'not-its-own-result';

/**
 * Returns the result of a regular activity.
 * @throws ApplicationFailure if the result isn't the activity's own, for example because an operator completed it: it counts as failed
 */
export function ownResult<Result extends object>(
  kind: ActivityCall['kind'],
  result: Result,
  nowMs?: number,
): Result {
  if (isOwnResult(kind, result, nowMs)) return result;
  const why = whyUnread(result) ?? `The result is not a valid result of ${kind}: it was entered manually`;
  throw ApplicationFailure.nonRetryable(why, NOT_ITS_OWN);
}

/** Returns whether an operator ended the activity: completed it with an invalid result, or failed it. */
export function isEndedByHand(cause: unknown): boolean {
  if (!(cause instanceof ApplicationFailure)) return false;
  return cause.type === NOT_ITS_OWN || (cause.nonRetryable === true && !cause.type);
}
