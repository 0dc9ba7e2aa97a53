/** The activities as the workflows call them: queue, time-outs, retries and cancellation of each in one place; and how ours fail. */
import {
  ActivityCancellationType,
  ApplicationFailure,
  type LocalActivityOptions,
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
  SweepActivities,
} from '../orders/activity-contract.ts';
import { whyUnread } from '../orders/check-messages.ts';
import type { OrderErrorCode, OrderErrorDetails } from '../orders/errors.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from '../orders/ids.ts';
import type { EffectResult } from '../orders/order.ts';
import { instant, millis } from '../orders/words.ts';

/** Run inside the workflow task, once: longer than the longest checkout budget, shorter than a workflow task. */
const once: LocalActivityOptions = { startToCloseTimeout: '9 seconds', retry: { maximumAttempts: 1 } };
const local = proxyLocalActivities<LocalActivities>(once);

/** What may write: stopped, it may be on its way, so its end is waited for. */
const writes = { cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED } as const;

/** A second attempt's checkout. Its first try knows that none was before it; a second one looks first. */
const { screenRetry } = proxyActivities<CheckoutActivities>({
  ...writes,
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '9 seconds',
  scheduleToCloseTimeout: '20 seconds',
  retry: { initialInterval: '100 milliseconds', maximumAttempts: 2 },
  summary: 'Screen another attempt',
});

/** Until it works: without a policy an order can't go on. */
const { policyInForce } = proxyActivities<CheckoutActivities>({
  taskQueue: TASK_QUEUE,
  startToCloseTimeout: '9 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  summary: 'Read the policy',
});

const background = {
  taskQueue: BACKGROUND_TASK_QUEUE,
  startToCloseTimeout: '45 seconds',
  // A worker that died is noticed after that: a cancel near the end of its window can't wait for longer.
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
} as const;

const { catchUp } = proxyActivities<BackgroundActivities>({
  ...background,
  ...writes,
  summary: 'Screen the order, by catching up',
});

const { lookUp, readStatusDurably } = proxyActivities<BackgroundActivities>({
  ...background,
  summary: 'Read from the screening service',
});

const { sendGatewayResponse } = proxyActivities<BackgroundActivities>({
  ...background,
  ...writes,
  summary: 'Send the payment gateway’s result',
});

export const { performPortalAction } = proxyActivities<BackgroundActivities>({
  ...background,
  ...writes,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  summary: 'Portal action',
});

/** Three days of tries with growing pauses, then a person must look. */
const { deliverEvents } = proxyActivities<BackgroundActivities>({
  ...background,
  ...writes,
  scheduleToCloseTimeout: '3 days',
  retry: { initialInterval: '2 seconds', backoffCoefficient: 3, maximumInterval: '6 hours' },
  summary: 'Deliver events',
});

/** A person waits for it: three tries, then they are told. */
export const { deliverEvents: deliverAgain } = proxyActivities<BackgroundActivities>({
  ...background,
  ...writes,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
  summary: 'Deliver an event again',
});

/** The stash forgets by itself after 15 minutes: no need to try for longer. */
const { forgetCard } = proxyActivities<BackgroundActivities>({
  ...background,
  scheduleToCloseTimeout: '15 minutes',
  summary: 'Delete the card from the stash',
});

/**
 * Retried by the server as long as the decision stays: the wait costs the same history whatever the polls. Each try names the pause
 * after it; the interval here is for one that was lost with its worker.
 */
const { pollStatus } = proxyActivities<PollActivities>({
  ...background,
  taskQueue: POLLS_TASK_QUEUE,
  retry: { initialInterval: '10 seconds', backoffCoefficient: 1, maximumInterval: '1 hour' },
  summary: 'Poll the review',
});

/** Looking over the open orders from outside, for a day: a worker that stops or dies leaves it to another one. */
export const { sweep } = proxyActivities<SweepActivities>({
  ...background,
  startToCloseTimeout: '25 hours',
  retry: { initialInterval: '1 second', backoffCoefficient: 1 },
  summary: 'Look over the open orders',
});

/**
 * Makes an order's call.
 * @returns what it brought, named by its kind
 */
export async function perform(call: Call): Promise<EffectResult> {
  const { runId, historyLength, unsafe } = workflowInfo();
  const begun = instant(Date.now());
  switch (call.kind) {
    case 'first-screening': {
      // A run of this task that was lost may have sent a create. Only the activity may know: a replay can't tell it again.
      const mayHaveRun = historyLength > 3 || unsafe.isReplaying;
      return {
        kind: call.kind,
        ...unlessRefused(await local.screenAtCheckout({ ...call.request, mayHaveRun, begun })),
      };
    }
    case 'policy':
      return { kind: call.kind, ...unlessRefused(await policyInForce(call.request)) };
    case 'retry-screening':
      return { kind: call.kind, ...unlessRefused(await screenRetry({ ...call.request, runId })) };
    case 'catch-up':
      return { kind: call.kind, ...unlessRefused(await catchUp({ ...call.request, runId })) };
    case 'look':
      return { kind: call.kind, ...unlessRefused(await local.look({ ...call.request, begun })) };
    case 'read':
      return { kind: call.kind, ...unlessRefused(await readStatusDurably(call.request)) };
    case 'poll':
      return { kind: call.kind, ...unlessRefused(await pollStatus(call.request)) };
    case 'look-up':
      return { kind: call.kind, ...unlessRefused(await lookUp(call.request)) };
    case 'gateway':
      return { kind: call.kind, ...unlessRefused(await sendGatewayResponse(call.request)) };
    case 'portal':
      return { kind: call.kind, ...unlessRefused(await performPortalAction({ ...call.request, runId })) };
    case 'deliver':
      return { kind: call.kind, ...(await deliverEvents(call.events)) };
    case 'forget-card':
      return { kind: call.kind, ...(await forgetCard(call.request)) };
    case 'timer':
      await sleep(Math.max(1, millis(call.at) - Date.now()), { summary: call.summary });
      return { kind: call.kind };
    case 'pause':
      await sleep(call.ms, { summary: call.summary });
      return { kind: call.kind };
  }
}

/** @returns what an activity brought @throws ApplicationFailure when that isn't its own: somebody else ended it */
export function unlessRefused<Result extends object>(result: Result): Result {
  const refused = whyUnread(result);
  if (refused !== undefined) throw ApplicationFailure.nonRetryable(refused);
  return result;
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
