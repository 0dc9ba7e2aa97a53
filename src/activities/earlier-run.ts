/**
 * Whether an earlier run may have done what an activity is called for: a run of the workflow that an operator reset, or a workflow task that
 * was lost. Only activities branch on it, since a replay of the workflow can't tell it again.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { FIRST_TASK_EVENTS, type RunFacts } from '../contract/activity-contract.ts';
import { CREATE_WITHIN_MS, SEND_WITHIN_MS, UNDER_WAY_MS } from './tries.ts';

const factsOf = new WeakMap<Context, RunFacts>();

/** Notes what the workflow told of its run. */
export function noteRun(run: RunFacts | undefined): void {
  if (run !== undefined) factsOf.set(Context.current(), run);
}

/** @returns whether a run before a reset called this activity: the new run took it over, with its input */
export function wasCalledBeforeReset(): boolean {
  const run = factsOf.get(Context.current());
  return run !== undefined && run.runId !== activityInfo().workflowExecution?.runId;
}

/** @returns whether an operator reset the workflow: the run before it may have done what this run knows nothing of */
export function isAfterReset(): boolean {
  return factsOf.get(Context.current())?.wasReset === true || wasCalledBeforeReset();
}

/** @returns whether the same may have been done before by the checkout of a task that was lost, or of a run before a reset */
export function mayHaveRun(): boolean {
  const run = factsOf.get(Context.current());
  if (run === undefined) return false;
  return isAfterReset() || run.isReplaying || run.historyLength > FIRST_TASK_EVENTS;
}

/**
 * Returns the milliseconds after which a create that was sent before has arrived or never will. After a reset a try of the previous run
 * may still send its create, and wait for the answer.
 */
export function underWayMs(): number {
  return isAfterReset() ? SEND_WITHIN_MS + CREATE_WITHIN_MS + UNDER_WAY_MS : UNDER_WAY_MS;
}
