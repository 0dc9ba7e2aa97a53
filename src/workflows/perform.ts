/** Which call of an order becomes which activity, with the facts that only its run has; queue, time-outs and retries of each activity. */
import { ApplicationFailure } from '@temporalio/common';
import type {
  BackgroundActivities,
  Call,
  CheckoutActivities,
  LocalActivities,
  PollActivities,
} from '../orders/activity-contract.ts';
import { whyUnread } from '../orders/check-messages.ts';
import { type CheckedKind, isOwnResult } from '../orders/check-results.ts';
import { isOrderErrorCode } from '../orders/errors.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from '../orders/ids.ts';
import type { EffectResult, End } from '../orders/order.ts';
import type { SweepActivities } from '../orders/sweep-contract.ts';
import type { Instant } from '../orders/words.ts';

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

interface ActivityOptions extends ActivityLimits {
  taskQueue: string;
  summary: string;
  cancellationType?: 'WAIT_CANCELLATION_COMPLETED';
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
  /** Until it works: without a policy an order can't go on. */
  policyInForce: {
    taskQueue: TASK_QUEUE,
    startToCloseTimeout: 9 * SECOND,
    retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumInterval: MINUTE },
    summary: 'Read the policy',
  },
  catchUp: { ...background, ...writes, summary: 'Screen the order, by catching up' },
  lookUp: reads,
  readStatusDurably: reads,
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
} satisfies Record<ActivityName, ActivityOptions>;

type ActivityName =
  | keyof CheckoutActivities
  | keyof BackgroundActivities
  | keyof PollActivities
  | keyof SweepActivities;

/** A person waits for it: three tries, then they are told. */
export const DELIVER_AGAIN_OPTIONS = {
  ...background,
  ...writes,
  retry: { initialInterval: SECOND, backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Deliver an event again',
} satisfies ActivityOptions;

/** The activities that orders call. */
export type OrderActivities = LocalActivities & CheckoutActivities & BackgroundActivities & PollActivities;

/** A call that is an activity. */
export type ActivityCall = Exclude<Call, { kind: 'timer' | 'pause' }>;

/** What only the run of the workflow knows. */
export interface RunFacts {
  runId: string;
  /** The workflow's time. */
  now: Instant;
  /** A run of this task that was lost may have sent a create. Only the activity may know: a replay can't tell it again. */
  mayHaveRun: boolean;
  /** The workflow's time when the result comes, in milliseconds. */
  time?: () => number;
}

/**
 * Calls the activity that an order asks for.
 * @returns its result, named by the call's kind
 */
export async function performActivity(
  call: ActivityCall,
  activities: OrderActivities,
  { runId, now: begun, mayHaveRun, time }: RunFacts,
): Promise<EffectResult> {
  const own = <Result extends object>(kind: CheckedKind, result: Result): Result =>
    ownResult(kind, result, time?.());
  switch (call.kind) {
    case 'first-screening': {
      const request = { ...call.request, mayHaveRun, begun };
      return { ...unlessRefused(await activities.screenAtCheckout(request)), kind: call.kind };
    }
    case 'policy':
      return { ...own(call.kind, await activities.policyInForce(call.request)), kind: call.kind };
    case 'retry-screening': {
      const request = { ...call.request, runId };
      return { ...own(call.kind, await activities.screenRetry(request)), kind: call.kind };
    }
    case 'catch-up': {
      const request = { ...call.request, runId };
      return { ...own(call.kind, await activities.catchUp(request)), kind: call.kind };
    }
    case 'look':
      return { ...unlessRefused(await activities.look({ ...call.request, begun })), kind: call.kind };
    case 'read':
      return { ...own(call.kind, await activities.readStatusDurably(call.request)), kind: call.kind };
    case 'poll':
      return { ...own(call.kind, await activities.pollStatus(call.request)), kind: call.kind };
    case 'look-up':
      return { ...own(call.kind, await activities.lookUp(call.request)), kind: call.kind };
    case 'gateway':
      return { ...own(call.kind, await activities.sendGatewayResponse(call.request)), kind: call.kind };
    case 'portal': {
      const request = { ...call.request, runId };
      return { ...own(call.kind, await activities.performPortalAction(request)), kind: call.kind };
    }
    case 'deliver':
      return { ...own(call.kind, await activities.deliverEvents(call.events)), kind: call.kind };
    case 'forget-card':
      return { ...own(call.kind, await activities.forgetCard(call.request)), kind: call.kind };
  }
}

/** The server's limits of each call that is an activity of the server. */
export const LIMITS_OF_CALLS = {
  policy: ACTIVITY_OPTIONS.policyInForce,
  'retry-screening': ACTIVITY_OPTIONS.screenRetry,
  'catch-up': ACTIVITY_OPTIONS.catchUp,
  read: ACTIVITY_OPTIONS.readStatusDurably,
  poll: ACTIVITY_OPTIONS.pollStatus,
  'look-up': ACTIVITY_OPTIONS.lookUp,
  gateway: ACTIVITY_OPTIONS.sendGatewayResponse,
  portal: ACTIVITY_OPTIONS.performPortalAction,
  deliver: ACTIVITY_OPTIONS.deliverEvents,
  'forget-card': ACTIVITY_OPTIONS.forgetCard,
} satisfies Record<Exclude<ActivityCall['kind'], 'first-screening' | 'look'>, ActivityLimits>;

/** @returns what an activity brought @throws ApplicationFailure when it can't be read: somebody else ended it */
export function unlessRefused<Result extends object>(result: Result): Result {
  const refused = whyUnread(result);
  if (refused !== undefined) throw ApplicationFailure.nonRetryable(refused, NOT_ITS_OWN);
  return result;
}

const NOT_ITS_OWN = 'not-its-own-result';

/**
 * @returns what an activity of the server brought
 * @throws ApplicationFailure when the result isn't its own, as when an operator completed it by hand: that is a failed try
 */
export function ownResult<Result extends object>(kind: CheckedKind, result: Result, nowMs?: number): Result {
  unlessRefused(result);
  if (isOwnResult(kind, result, nowMs)) return result;
  throw ApplicationFailure.nonRetryable(`The result is none of ${kind}: it was made by hand`, NOT_ITS_OWN);
}

/** @returns whether a person ended the activity: completed it with something else than its result, or failed it */
export function isEndedByHand(cause: unknown): boolean {
  if (!(cause instanceof ApplicationFailure)) return false;
  return cause.type === NOT_ITS_OWN || (cause.nonRetryable === true && !cause.type);
}

/** @returns how a call ended whose activity failed for good; with `refused` the order refuses its start in those words */
export function endOfFailure(cause: unknown): Extract<End, { how: 'failed' }> {
  if (isEndedByHand(cause)) return { how: 'failed', byHand: true };
  if (!(cause instanceof ApplicationFailure) || !isOrderErrorCode(cause.type)) return { how: 'failed' };
  const [details] = cause.details ?? [];
  return { how: 'failed', refused: { ...detailsOf(details), code: cause.type, message: cause.message } };
}

/** The details of our own failures are plain objects. */
function detailsOf(details: unknown): object {
  return typeof details === 'object' && details !== null ? details : {};
}
