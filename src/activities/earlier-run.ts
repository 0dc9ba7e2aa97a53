/**
 * Whether the work of an activity may already be done: by the workflow run before a reset, or by a lost workflow task. Only activities
 * may branch on this, because a replay of the workflow would not see the same answer.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { FIRST_TASK_EVENTS, type RunFacts } from '../contract/activity-contract.ts';
import { type Instant, laterBy } from '../contract/words.ts';
import { CREATE_WITHIN_MS, SEND_WITHIN_MS, UNDER_WAY_MS } from './tries.ts';

const factsOf = new WeakMap<Context, RunFacts>();

/** Stores the facts about its run that the workflow passed to the current activity. */
export function noteRun(run: RunFacts | undefined): void {
  if (run !== undefined) factsOf.set(Context.current(), run);
}

/** @returns whether the run before a reset scheduled this activity, and the new run took it over with its input */
export function wasCalledBeforeReset(): boolean {
  const run = factsOf.get(Context.current());
  return run !== undefined && run.runId !== activityInfo().workflowExecution?.runId;
}

/** @returns whether an operator reset the workflow. The previous run may have done work that isn't in this run's history */
export function isAfterReset(): boolean {
  return factsOf.get(Context.current())?.wasReset === true || wasCalledBeforeReset();
}

/** @returns whether this checkout may have run before, in a lost workflow task or in the run before a reset */
export function mayHaveRun(): boolean {
  const run = factsOf.get(Context.current());
  if (run === undefined) return false;
  return isAfterReset() || run.isReplaying || run.historyLength > FIRST_TASK_EVENTS;
}

/**
 * Returns when an earlier create has arrived or never will, if it may be under way at the given time. After a reset, an attempt of the
 * previous run may still be about to send its create, or be waiting for the reply.
 */
export function arrivalAfter(at: Instant): Instant {
  return laterBy(isAfterReset() ? SEND_WITHIN_MS + CREATE_WITHIN_MS + UNDER_WAY_MS : UNDER_WAY_MS, at);
}
