/** The activities as the workflows call them, and the failures of workflows. */
import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackgroundActivities, CheckoutActivities, RunFacts } from '../contract/activity-contract.ts';
import type { Call, CallResult } from '../contract/calls.ts';
import type { OrderErrorCode, OrderErrorDetails, Refusal } from '../contract/errors.ts';
import type { SweepActivities } from '../contract/sweep.ts';
import { millis } from '../contract/words.ts';
import {
  ACTIVITY_OF,
  ACTIVITY_OPTIONS,
  activityResult,
  DELIVER_AGAIN_OPTIONS,
  LOCAL_LIMITS,
  type OrderActivities,
  startActivity,
} from './perform.ts';

export const { screenAtCheckout } =
  proxyLocalActivities<Pick<CheckoutActivities, 'screenAtCheckout'>>(LOCAL_LIMITS);
export const { deliverEvents: deliverAgain } = proxyActivities<BackgroundActivities>(DELIVER_AGAIN_OPTIONS);
export const { sweep } = proxyActivities<SweepActivities>(ACTIVITY_OPTIONS.sweep);

const proxies: unknown = Object.fromEntries(
  Object.values(ACTIVITY_OF).map((name) => [
    name,
    proxyActivities<OrderActivities>(ACTIVITY_OPTIONS[name])[name],
  ]),
);
const activities = proxies as Omit<OrderActivities, 'screenAtCheckout'>;
export const { performPortalAction } = activities;

/**
 * Starts a call of an order: an activity or a timer. Returns the SDK's own promise. An `await` more for one kind of call would change the
 * order of two results that arrive in one task, and a replay may join two tasks.
 */
export function startCall(call: Call, run: RunFacts): Promise<unknown> {
  if (call.kind !== 'timer') return startActivity(call, activities, run);
  return sleep(Math.max(call.leastMs ?? 1, millis(call.at) - Date.now()), { summary: call.summary });
}

/**
 * Returns the result of a call of an order, with the call's kind.
 * @throws ApplicationFailure if the result isn't the activity's own
 */
export function resultOf(call: Call, result: unknown): CallResult {
  if (call.kind === 'timer') return { kind: call.kind, at: call.at };
  return activityResult(call, result, Date.now());
}

/**
 * Returns the facts about this run that activities receive.
 * @param wasReset an operator reset an earlier run
 */
export function runFacts(wasReset = false): RunFacts {
  const { runId, originalExecutionRunId, historyLength, unsafe } = workflowInfo();
  return {
    runId,
    wasReset: wasReset || runId !== originalExecutionRunId,
    historyLength,
    isReplaying: unsafe.isReplaying,
  };
}

// Errors as Temporal failures: the code is the failure's type, the details are its details.

/** @returns a failure that fails the message or the workflow, never the workflow task */
export function failure(
  code: OrderErrorCode,
  message: string,
  details: OrderErrorDetails = {},
): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [details] });
}

export function failureOf({ code, message, ...details }: Refusal): ApplicationFailure {
  return failure(code, message, details);
}
