/** The activities as the workflows call them, an order's effects, and the failures of workflows. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackgroundActivities, CheckoutActivities, RunFacts } from '../contract/activity-contract.ts';
import { ACTIVITY_OF, type Call, type OrderActivities } from '../contract/calls.ts';
import type { Refusal } from '../contract/errors.ts';
import type { SweepActivities } from '../contract/sweep.ts';
import { millis } from '../contract/words.ts';
import type { Command, Input, Outcome, Running } from '../order/order.ts';
import {
  ACTIVITY_OPTIONS,
  activityResult,
  DELIVER_AGAIN_OPTIONS,
  isEndedByHand,
  LOCAL_LIMITS,
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
export const { deliverEvents, performPortalAction } = activities;

/**
 * Runs an order's effects: starts and stops activities and timers.
 * @param inputs receives the outcome of each effect
 * @param facts returns the facts about this run that activities receive
 * @returns a function that carries out the kernel's commands, in their order
 */
export function effectsInto(inputs: Input[], facts: () => RunFacts): (commands: readonly Command[]) => void {
  const scopes = new Map<number, CancellationScope>();
  const ended = (id: number, outcome: Outcome): void => {
    if (scopes.delete(id)) inputs.push({ kind: 'effect-ended', id, outcome });
  };
  const start = ({ id, effect: { call, forbiddenKnown } }: Running): void => {
    const scope = new CancellationScope();
    scopes.set(id, scope);
    scope
      .run(() => startCall(call, { ...facts(), forbiddenKnown }))
      .then(
        (result) => ended(id, outcomeOf(call, result)),
        (error: unknown) => ended(id, brokenBy(error, call.kind)),
      );
  };
  return (commands) => {
    for (const command of commands) {
      if (command.do === 'start') start(command.running);
      else if (command.do !== 'count-signals') scopes.get(command.id)?.cancel();
      // The history does not record in which task the outcome of a dropped effect would have arrived.
      if (command.do === 'drop') scopes.delete(command.id);
    }
  };
}

/**
 * Starts an activity or a timer. Returns the SDK's own promise. An `await` more for one kind of call would change the order of two results
 * that arrive in one task, and a replay may join two tasks.
 */
function startCall(call: Call, run: RunFacts): Promise<unknown> {
  if (call.kind !== 'timer') return startActivity(call, activities, run);
  return sleep(Math.max(call.leastMs ?? 1, millis(call.at) - Date.now()), { summary: call.summary });
}

function outcomeOf(call: Call, given: unknown): Outcome {
  try {
    const isTimer = call.kind === 'timer';
    const result = isTimer ? { kind: call.kind, at: call.at } : activityResult(call, given, Date.now());
    return { status: 'completed', result };
  } catch (error) {
    return brokenBy(error, call.kind);
  }
}

function brokenBy(error: unknown, effect: string): Outcome {
  if (isCancellation(error)) return { status: 'canceled' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  log.error('an activity failed for good', { effect, error: String(cause) });
  return { status: 'failed', ...(isEndedByHand(cause) && { byHand: true }) };
}

/** Returns the facts about this run that activities receive. @param wasReset an operator reset an earlier run */
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
export function failureOf({ code, message, ...details }: Refusal): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [details] });
}
