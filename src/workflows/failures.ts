/** Our errors as Temporal carries them: the code as the failure's type, what goes with it as its detail. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { OrderErrorCode, OrderErrorDetails } from '../orders/errors.ts';

/** @returns a failure that fails the message or the workflow, never the workflow task */
export function failure(
  code: OrderErrorCode,
  message: string,
  details: OrderErrorDetails = {},
): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true, details: [details] });
}
