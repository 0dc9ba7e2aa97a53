/** The fast path: an order is started on the worker of this process and answered the moment the service has answered. */
import type { Client } from '@temporalio/client';
import { answerBeforeRecord } from '../orders/first-screening.ts';
import { SCREEN_ORDER, type ScreenOrderInput } from '../orders/messages.ts';
import type { CheckoutAnswer } from '../orders/state.ts';
import type { EarlyAnswers } from './early-answers.ts';
import type { OrderStart } from './order-start.ts';
import { within } from './within.ts';

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
  const ear = earlyAnswers.listen(start.workflowId);
  try {
    return await within(client, deadline, async () => {
      const handle = await client.workflow.start(SCREEN_ORDER, {
        ...start,
        workflowIdConflictPolicy: 'FAIL',
        requestEagerStart: true,
      });
      if (!handle.eagerlyStarted) return undefined;
      const { request, first } = await ear.of(handle.firstExecutionRunId);
      return first && answerBeforeRecord(input, request, first);
    });
  } catch {
    // Whatever it was, asking for the record shows it again.
    return undefined;
  } finally {
    ear.close();
  }
}
