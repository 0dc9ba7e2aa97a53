import { WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, RetryState } from '@temporalio/common';
import { KEY_MISSING } from '../../src/contract/words.ts';
import { shapeRefusal } from '../../src/order/messages/check-messages.ts';

/** What Temporal throws for an update, or a start with one, whose payload key the worker lacks. */
export function unreadAsUpdate(): WorkflowUpdateFailedError {
  return new WorkflowUpdateFailedError('Workflow Update failed', unread());
}

/** What Temporal throws for the result of a workflow whose worker lacked the payload key of its start. */
export function unreadAtStart(): WorkflowFailedError {
  return new WorkflowFailedError('failed', unread(), RetryState.NON_RETRYABLE_FAILURE);
}

function unread(): ApplicationFailure {
  const refusal = shapeRefusal(`${KEY_MISSING}A payload was encrypted with the key "k2"`, {});
  if (refusal === undefined) throw new TypeError('the payload is refused');
  const { code, message, ...details } = refusal;
  return ApplicationFailure.create({ type: code, message, details: [details] });
}
