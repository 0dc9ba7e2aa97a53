/** An order that is started on the worker of this process, and answered the moment the service has answered. */
import { EventEmitter } from 'node:events';
import type { Client } from '@temporalio/client';
import type { CheckedOut, CheckoutRequest } from '../contract/activity-contract.ts';
import type { CheckoutAnswer } from '../contract/answers.ts';
import { SCREEN_ORDER, type ScreenOrderInput } from '../contract/messages.ts';
import { answerBeforeRecord } from '../orders/checkout.ts';
import { defined } from '../orders/defined.ts';
import type { OrderStart } from './order-start.ts';
import { within } from './temporal-errors.ts';

/**
 * Starts an order and waits for its definite answer. Temporal gives the first task to this process together with the
 * start, if a worker of this process shares the client's connection.
 * @returns nothing when the answer must come from the order's record: the order was there before, its first task went
 * to another process, the service gave no definite answer, or Temporal didn't answer
 */
export async function answerFast(
  client: Client,
  earlyAnswers: EarlyAnswers,
  start: OrderStart,
  deadline: number,
): Promise<CheckoutAnswer | undefined> {
  const [input]: [ScreenOrderInput] = start.args;
  const ended = earlyAnswers.listen(start.workflowId);
  try {
    return await within(client, deadline, async () => {
      const handle = await client.workflow.start(SCREEN_ORDER, {
        ...start,
        workflowIdConflictPolicy: 'FAIL',
        requestEagerStart: true,
      });
      if (!handle.eagerlyStarted) return undefined;
      const { request, first } = await ended.of(handle.firstExecutionRunId);
      return first && answerBeforeRecord(input, request, first);
    });
  } catch {
    // Whatever it was, asking for the record shows it again.
    return undefined;
  } finally {
    ended.close();
  }
}

// Where the worker tells the client in the same process how a checkout's screening ended, before that is recorded.

/** How a screening ended, and what it was called with. */
export interface EndedScreening {
  request: CheckoutRequest;
  /** Absent when it failed. */
  first?: CheckedOut;
}

/** Listens for the screening of an order that is about to be started. */
export interface ScreeningListener {
  /** @returns how the screening of that run ended, once it has */
  of(runId: string): Promise<EndedScreening>;
  close(): unknown;
}

/** One for a process; given to its worker as `beforeRecord` and to its client as `earlyAnswers`. */
export class EarlyAnswers {
  readonly #ended = new EventEmitter().setMaxListeners(0);

  /** Tells whoever listens. */
  tell(
    { workflowId, runId }: { workflowId: string; runId: string },
    request: CheckoutRequest,
    first: CheckedOut | undefined,
  ): void {
    this.#ended.emit(workflowId, runId, defined({ request, first }));
  }

  /** Listens from now on: the screening may end before the one who started the order knows its run. */
  listen(workflowId: string): ScreeningListener {
    const heard = new Map<string, EndedScreening>();
    let wake = (): void => {};
    const listener = (runId: string, ended: EndedScreening): void => {
      heard.set(runId, ended);
      wake();
    };
    this.#ended.on(workflowId, listener);
    return {
      of: async (runId) => {
        for (;;) {
          const ended = heard.get(runId);
          if (ended !== undefined) return ended;
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
      close: () => this.#ended.off(workflowId, listener),
    };
  }
}
