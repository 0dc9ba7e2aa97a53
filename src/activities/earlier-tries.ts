/** What is known of tries that came before this one: of the same activity, or of the run that an operator reset. */
import { activityInfo } from '@temporalio/activity';
import { tellNextTry } from './heartbeats.ts';

/**
 * A reset gives the new run the activities that were under way, with the input that was recorded. The server counts their
 * tries anew, so nothing but the run in that input tells that one may have been made before.
 */
export function begunByAnotherRun({ runId }: { runId: string }): boolean {
  const { workflowExecution } = activityInfo();
  return workflowExecution !== undefined && workflowExecution.runId !== runId;
}

/**
 * A try that isn't known to have done nothing may have been done: its answer was lost, or its worker died. A try says
 * that nothing was done by telling the next one its number.
 */
export function earlierTryMayBeDone(): boolean {
  const { attempt, heartbeatDetails } = activityInfo();
  return attempt > 1 && heartbeatDetails !== attempt - 1;
}

/** Tells the next try that this one, and those before it, did nothing. */
export function tellNothingWasDone(): void {
  if (!earlierTryMayBeDone()) tellNextTry(activityInfo().attempt);
}
