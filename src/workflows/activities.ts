/** The activities as the workflows call them; and how ours fail. */
import {
  ApplicationFailure,
  patched,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  BackgroundActivities,
  Call,
  CheckoutActivities,
  LocalActivities,
  PollActivities,
} from '../orders/activity-contract.ts';
import type { OrderErrorCode, OrderErrorDetails } from '../orders/errors.ts';
import type { EffectResult } from '../orders/order.ts';
import type { SweepActivities } from '../orders/sweep-contract.ts';
import { instant, millis } from '../orders/words.ts';
import {
  ACTIVITY_OPTIONS,
  DELIVER_AGAIN_OPTIONS,
  LOCAL_LIMITS,
  type OrderActivities,
  performActivity,
} from './perform.ts';

const { screenAtCheckout, look } = proxyLocalActivities<LocalActivities>(LOCAL_LIMITS);
const { screenRetry } = proxyActivities<CheckoutActivities>(ACTIVITY_OPTIONS.screenRetry);
const { policyInForce } = proxyActivities<CheckoutActivities>(ACTIVITY_OPTIONS.policyInForce);
const { catchUp } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.catchUp);
const { lookUp } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.lookUp);
const { readStatusDurably } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.readStatusDurably);
const { sendGatewayResponse } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.sendGatewayResponse);
const { deliverEvents } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.deliverEvents);
const { forgetCard } = proxyActivities<BackgroundActivities>(ACTIVITY_OPTIONS.forgetCard);
const { pollStatus } = proxyActivities<PollActivities>(ACTIVITY_OPTIONS.pollStatus);

export const { performPortalAction } = proxyActivities<BackgroundActivities>(
  ACTIVITY_OPTIONS.performPortalAction,
);
export const { deliverEvents: deliverAgain } = proxyActivities<BackgroundActivities>(DELIVER_AGAIN_OPTIONS);
export const { sweep } = proxyActivities<SweepActivities>(ACTIVITY_OPTIONS.sweep);

const activities: OrderActivities = {
  screenAtCheckout,
  look,
  screenRetry,
  policyInForce,
  catchUp,
  lookUp,
  readStatusDurably,
  sendGatewayResponse,
  performPortalAction,
  deliverEvents,
  forgetCard,
  pollStatus,
};

/**
 * Makes an order's call.
 * @returns what it brought, named by its kind
 */
export function perform(call: Call): Promise<EffectResult> {
  switch (call.kind) {
    case 'timer':
      return rest(call.kind, Math.max(1, millis(call.at) - Date.now()), call.summary);
    case 'pause':
      return rest(call.kind, call.ms, call.summary);
    default: {
      const { runId, historyLength, unsafe } = workflowInfo();
      const mayHaveRun = historyLength > 3 || unsafe.isReplaying;
      const time = () => Date.now();
      return performActivity(call, activities, { runId, now: instant(time()), mayHaveRun, time });
    }
  }
}

async function rest(kind: 'timer' | 'pause', ms: number, summary: string): Promise<EffectResult> {
  await sleep(ms, { summary });
  return { kind };
}

/** @returns whether an operator reset the workflow: what this run knows nothing of may have been done by the one before it */
export function wasReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}

/** What was begun before the scan for card data goes on, whatever it was started with, since its history has no marker. */
export function isRefusedNow({ code }: { code: OrderErrorCode }): boolean {
  return code !== 'card-data-in-request' || patched('one-scan');
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
