/** The activities as the workflows call them, and the failures of workflows. */
import {
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  BackgroundActivities,
  Call,
  CallResult,
  CheckoutActivities,
  RunFacts,
} from '../contract/activity-contract.ts';
import type { OrderErrorCode, OrderErrorDetails, Refusal } from '../contract/errors.ts';
import type { SweepActivities } from '../contract/sweep.ts';
import { millis } from '../contract/words.ts';
import {
  ACTIVITY_OF,
  ACTIVITY_OPTIONS,
  DELIVER_AGAIN_OPTIONS,
  LOCAL_LIMITS,
  type OrderActivities,
  performActivity,
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
 * Performs a call of an order: an activity or a timer.
 * @returns its result, with the call's kind
 */
export async function perform(call: Call, run: RunFacts): Promise<CallResult> {
  if (call.kind !== 'timer') return performActivity(call, activities, run, () => Date.now());
  await sleep(Math.max(call.leastMs ?? 1, millis(call.at) - Date.now()), { summary: call.summary });
  return { kind: call.kind, at: call.at };
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
