/** The activities as the workflows call them; and how ours fail. */
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
  PollActivities,
  ReadActivities,
  RunFacts,
} from '../orders/activity-contract.ts';
import type { OrderErrorCode, OrderErrorDetails, Refusal } from '../orders/errors.ts';
import type { SweepActivities } from '../orders/sweep.ts';
import { millis } from '../orders/words.ts';
import {
  ACTIVITY_OPTIONS,
  DELIVER_AGAIN_OPTIONS,
  LOCAL_LIMITS,
  type OrderActivities,
  performActivity,
} from './perform.ts';

export const { screenAtCheckout } =
  proxyLocalActivities<Pick<CheckoutActivities, 'screenAtCheckout'>>(LOCAL_LIMITS);
const { screenRetry } = proxyActivities<CheckoutActivities>(ACTIVITY_OPTIONS.screenRetry);
const { catchUp } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.catchUp);
const { lookUp } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.lookUp);
const { sendGatewayResponse } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.sendGatewayResponse);
const { deliverEvents } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.deliverEvents);
const { forgetCard } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.forgetCard);
const { readStatus } = proxyActivities<ReadActivities>(ACTIVITY_OPTIONS.readStatus);
const { pollStatus } = proxyActivities<PollActivities>(ACTIVITY_OPTIONS.pollStatus);

export const { performPortalAction } = proxyActivities<BackgroundActivities>(
  ACTIVITY_OPTIONS.performPortalAction,
);
export const { deliverEvents: deliverAgain } = proxyActivities<BackgroundActivities>(DELIVER_AGAIN_OPTIONS);
export const { sweep } = proxyActivities<SweepActivities>(ACTIVITY_OPTIONS.sweep);

const activities: OrderActivities = {
  screenAtCheckout,
  screenRetry,
  catchUp,
  lookUp,
  readStatus,
  sendGatewayResponse,
  performPortalAction,
  deliverEvents,
  forgetCard,
  pollStatus,
};

/**
 * Makes an order's call.
 * @returns its result, named by its kind
 */
export async function perform(call: Call, run: RunFacts): Promise<CallResult> {
  if (call.kind !== 'timer') return performActivity(call, activities, run, () => Date.now());
  await sleep(Math.max(call.leastMs ?? 1, millis(call.at) - Date.now()), { summary: call.summary });
  return { kind: call.kind, at: call.at };
}

/**
 * Returns what activities are told of this run.
 * @param wasReset an operator's reset made a run before it
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

// Our errors as Temporal carries them: the code as the failure's type, what goes with it as its detail.

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
