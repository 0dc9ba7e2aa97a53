/** Starts an order, and answers as soon as its worker in this process knows. */
import type { Client } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { answerBeforeRecord } from '../orders/apply-screening.ts';
import {
  invoiceNumber,
  needsAttention,
  orderAmount,
  screeningIntegration,
  screeningPhase,
} from '../orders/describe.ts';
import { TASK_QUEUE } from '../orders/ids.ts';
import { SCREEN_ORDER, type ScreenOrderInput } from '../orders/messages.ts';
import type { CheckoutAnswer } from '../orders/state.ts';
import { instant } from '../orders/words.ts';
import type { EarlyAnswers } from './early-answers.ts';
import type { CheckedScreenRequest } from './read-requests.ts';
import { within } from './temporal-errors.ts';

/** Temporal's limit of a static summary, in bytes. */
const SUMMARY_BYTES = 200;

/** The options of a start, whatever the call that carries them. */
export interface OrderStart {
  workflowId: string;
  taskQueue: string;
  args: [ScreenOrderInput];
  workflowIdReusePolicy: 'REJECT_DUPLICATE';
  staticSummary: string;
  typedSearchAttributes: SearchAttributePair[];
}

/** A checked request on its way, with the card replaced by its name in the stash. */
export interface Sending {
  request: CheckedScreenRequest;
  workflowId: string;
  cardRef?: string;
  /** When the caller stops waiting, in milliseconds after the epoch. */
  deadline: number;
}

/** @returns what starts the order of a first attempt */
export function orderStart({ request, workflowId, deadline, cardRef }: Sending): OrderStart {
  const { orderId, integration, transaction, facts } = request;
  return {
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [
      {
        orderId,
        integration: integration.name,
        transaction,
        fingerprint: request.fingerprint,
        answerBy: instant(deadline),
        ...(request.workflowNamed && { workflow: request.workflow }),
        ...(cardRef !== undefined && { cardRef }),
      },
    ],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: summary(request),
    typedSearchAttributes: [
      { key: screeningPhase, value: 'screening' },
      { key: screeningIntegration, value: integration.name },
      { key: invoiceNumber, value: [request.invoiceNumber] },
      { key: needsAttention, value: false },
      ...(Number.isFinite(facts.amount) ? [{ key: orderAmount, value: facts.amount }] : []),
    ],
  };
}

/** One line for lists in the Temporal UI, without personal data. */
function summary({ orderId, workflow, facts: { amount, currency } }: CheckedScreenRequest): string {
  // Nobody has checked the amount and the currency of an order that policy skips.
  const money = Number.isFinite(amount) && /^[A-Z]{3}$/.test(currency) ? `${amount} ${currency}, ` : '';
  const line = `Order ${orderId}, ${money}${workflow}`;
  // The order id, the only part that may need more than a byte a character, stands far in front of the cut.
  return Buffer.from(line).subarray(0, SUMMARY_BYTES).toString('utf8');
}

// The fast path: an order is started on the worker of this process and answered the moment the service has
// answered.

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
