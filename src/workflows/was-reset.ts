import { workflowInfo } from '@temporalio/workflow';

/** @returns whether an operator reset the workflow: what this run knows nothing of may have been done by the one before it */
export function wasReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId !== originalExecutionRunId;
}
