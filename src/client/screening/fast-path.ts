/** Starts an order on the worker of this process, and answers as soon as the screening service has answered. */
import { EventEmitter, on } from 'node:events';
import type { Client } from '@temporalio/client';
import type { CheckedOut, CheckoutRequest } from '../../contract/activity-contract.ts';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import { defined } from '../../order/defined.ts';
import { answerBeforeRecord } from '../../order/screening/checkout.ts';
import { within } from '../temporal-errors.ts';
import type { OrderStart } from './order-start.ts';

/**
 * Starts an order and waits for its definite answer. If a worker of this process shares the client's connection, Temporal
 * returns the first workflow task with the start (eager start).
 * @returns undefined if the answer must be read from the order: it already existed, its first task went to another
 * process, the screening service gave no definite answer, or Temporal didn't answer
 */
export async function answerFast(
  client: Client,
  earlyAnswers: EarlyAnswers,
  start: OrderStart,
  deadline: number,
): Promise<CheckoutAnswer | undefined> {
  const [input] = start.args;
  // Before the start, since the screening may end before the start returns its run id.
  const ended = earlyAnswers.listen(start.workflowId);
  try {
    return await within(client, deadline, async () => {
      const handle = await client.workflow.start(SCREEN_ORDER, {
        ...start,
        workflowIdConflictPolicy: 'FAIL',
        requestEagerStart: true,
      });
      if (!handle.eagerlyStarted) return undefined;
      for await (const [one] of ended)
        if (one?.runId === handle.firstExecutionRunId)
          return one.first && answerBeforeRecord(input, one.request, one.first);
      return undefined;
    });
  } catch {
    // The caller then asks the order, which reports the same error.
    return undefined;
  } finally {
    await ended.return?.();
  }
}

// Passes the outcome of a checkout's screening from the worker to the client in the same process, before it is recorded.

interface EndedScreening {
  runId: string;
  request: CheckoutRequest;
  /** Absent if the screening failed. */
  first?: CheckedOut;
}

/** One per process: pass it to the worker as `beforeRecord` and to the client as `earlyAnswers`. */
export class EarlyAnswers {
  readonly #ended = new EventEmitter().setMaxListeners(0);

  tell(
    { workflowId, runId }: { workflowId: string; runId: string },
    request: CheckoutRequest,
    first: CheckedOut | undefined,
  ): void {
    this.#ended.emit(workflowId, defined({ runId, request, first }));
  }

  /** Returns the screenings of an order that end from now on, until the caller stops it. */
  listen(workflowId: string): AsyncIterableIterator<EndedScreening[]> {
    return on(this.#ended, workflowId);
  }
}
