/** Validates the start of an order before its first command, since any tool can start the workflow. */
import { workflowInfo } from '@temporalio/workflow';
import { FIRST_TASK_EVENTS } from '../contract/activity-contract.ts';
import { KEY_MISSING } from '../contract/words.ts';
import { invalid, startRefusal, whyUnread } from '../order/messages/check-messages.ts';
import type { OrderRun, Refusal } from '../order/order.ts';
import { runFacts } from './activities.ts';

/**
 * Longer than any order runs. A server may set its own timeout, such as the test server's ten years. A timeout set by a person is shorter,
 * and would end the order without a record.
 */
const MIN_TIMEOUT_MS = 2 * 365 * 24 * 3_600_000;

/**
 * Returns why this run can't be an order, or undefined.
 * @throws Error for an existing order if the payload key is missing. It fails the workflow task until a worker with the key takes it; a
 *   refusal would end the order
 */
export function refusedStart(input: OrderRun): Refusal | undefined {
  const { workflowId, continuedFromExecutionRunId, historyLength } = workflowInfo();
  const isContinued = continuedFromExecutionRunId !== undefined;
  const exists = isContinued || runFacts().wasReset || historyLength > FIRST_TASK_EVENTS;
  if (exists && lacksKey(input)) throw new Error(whyUnread(input));
  return startRefusal(input, workflowId, isContinued) ?? (isContinued ? undefined : timeoutRefusal());
}

function lacksKey(input: unknown): boolean {
  return typeof input === 'string' && input.startsWith(KEY_MISSING);
}

function timeoutRefusal(): Refusal | undefined {
  const { runTimeoutMs, executionTimeoutMs } = workflowInfo();
  const fieldErrors = Object.entries({ runTimeout: runTimeoutMs, executionTimeout: executionTimeoutMs })
    .filter(([, ms]) => ms !== undefined && ms > 0 && ms < MIN_TIMEOUT_MS)
    .map(([path]) => ({ path, message: 'must not be set: it would end the order without a record' }));
  return fieldErrors.length > 0 ? invalid(fieldErrors) : undefined;
}
