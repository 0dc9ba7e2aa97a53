import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

/** How a message to an order ended. */
export type Asked = { is: 'taken'; answer: unknown } | { is: 'refused'; code: string } | { is: 'gone' };

/** @returns what an error says of the message @throws any other error */
export function refusedOrGone(error: unknown): Asked {
  if (error instanceof WorkflowNotFoundError) return { is: 'gone' };
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const code = error.cause.type ?? '';
    return code === 'AcceptedUpdateCompletedWorkflow' ? { is: 'gone' } : { is: 'refused', code };
  }
  throw error;
}
