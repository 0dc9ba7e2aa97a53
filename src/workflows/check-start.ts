/** Whether a start can be an order: read before the order's first command, since any tool may have made it. */
import { defineUpdate, patched, setHandler, workflowInfo } from '@temporalio/workflow';
import { invalid, startRefusal, whyUnread } from '../orders/check-messages.ts';
import type { Fault } from '../orders/errors.ts';
import {
  acknowledgeUpdate,
  adoptUpdate,
  attachCustomerCodeUpdate,
  cancelUpdate,
  decisionUpdate,
  hintUpdate,
  overrideUpdate,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  submitChargebackUpdate,
  withdrawUpdate,
} from '../orders/messages.ts';
import type { OrderRun, Refusal } from '../orders/order.ts';
import { KEY_MISSING } from '../orders/words.ts';
import { isRefusedNow, wasReset } from './activities.ts';

/**
 * Longer than any order runs. A server may set a time-out of its own, such as the test server's ten years; one that a person chose is
 * shorter, and would end the order without a record.
 */
const LEAST_TIMEOUT_MS = 2 * 365 * 24 * 3_600_000;

/**
 * Returns why this run can't be an order, or undefined.
 * @throws Error, which fails the workflow task so that it waits for another worker, where an order that exists already can't be read
 *   here for want of a payload key: refusing it would end the order
 */
export function refusedStart(input: OrderRun): Refusal | undefined {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  const continued = continuedFromExecutionRunId !== undefined;
  if (lacksKey(input) && (continued || hasHistory())) throw new Error(whyUnread(input));
  const refused = startRefusal(input, workflowId, continued);
  if (refused !== undefined) return isRefusedNow(refused) ? refused : undefined;
  const faults = timeoutFaults();
  return faults.length > 0 && patched('no-time-outs') ? invalid(faults) : undefined;
}

function lacksKey(input: unknown): boolean {
  return typeof input === 'string' && input.startsWith(KEY_MISSING);
}

/** Decides only whether the task fails. A replay from the first task on fails without it: its history has other commands. */
function hasHistory(): boolean {
  return wasReset() || workflowInfo().historyLength > 3;
}

function timeoutFaults(): Fault[] {
  const { runTimeoutMs, executionTimeoutMs } = workflowInfo();
  return Object.entries({ runTimeout: runTimeoutMs, executionTimeout: executionTimeoutMs }).flatMap(
    ([path, ms]) =>
      ms !== undefined && ms > 0 && ms < LEAST_TIMEOUT_MS
        ? [{ path, message: 'must not be set: it would end the order without a record' }]
        : [],
  );
}

const UPDATES = [
  acknowledgeUpdate,
  adoptUpdate,
  attachCustomerCodeUpdate,
  cancelUpdate,
  decisionUpdate,
  hintUpdate,
  overrideUpdate,
  recordGatewayResultUpdate,
  reportFraudUpdate,
  retryUpdate,
  submitChargebackUpdate,
  withdrawUpdate,
].map(({ name }) => name);

/** Refuses each update that comes with such a start, so that its caller hears why. */
export function refuseUpdates(refuse: () => never): void {
  for (const name of UPDATES) setHandler(defineUpdate<never>(name), refuse, { validator: refuse });
}
