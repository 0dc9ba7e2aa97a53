/** The checkout's call: one round trip that starts the order and returns its decision. Design section 5. */

import { WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { ORDER_ERRORS, OrderScreeningError } from '../orders/errors.ts';
import { decisionUpdateId, orderWorkflowId, retryUpdateId } from '../orders/ids.ts';
import { decisionUpdate, retryUpdate, SCREEN_ORDER } from '../orders/messages.ts';
import type { CheckoutAnswer, OrderState } from '../orders/state.ts';
import type { ClientContext } from './context.ts';
import { answerFast } from './fast-path.ts';
import { type OrderStart, orderStart, type Sending } from './order-start.ts';
import { pendingAnswer } from './pending-answer.ts';
import { putCard } from './put-card.ts';
import { closedOrder } from './read-order.ts';
import { type CheckedScreenRequest, readScreenRequest } from './read-requests.ts';
import { sendUpdate } from './send-update.ts';
import { attemptMismatch, isEnded, isUnanswered, orderClosed, toOrderError } from './temporal-errors.ts';
import { within } from './within.ts';

/** Beyond the checkout budget: a worker that begins later takes `pending` as given. */
const GRACE_MS = 2_000;

/** @see OrderScreening.screen */
export async function screen(context: ClientContext, raw: unknown): Promise<CheckoutAnswer> {
  const request = readScreenRequest(raw, context.findIntegration);
  const { integration, orderId, card } = request;
  const sending: Sending = {
    request,
    workflowId: orderWorkflowId(integration.name, orderId),
    // Before the stash is asked: its time is the caller's too.
    deadline: Date.now() + integration.checkoutBudgetMs + GRACE_MS,
    ...(card && (await putAway(context, request, card))),
  };
  try {
    const answer = await (request.attempt === 1
      ? firstAttempt(context, sending)
      : laterAttempt(context, sending));
    if (answer.fingerprint !== undefined && answer.fingerprint !== request.fingerprint)
      throw attemptMismatch();
    return answer;
  } catch (error) {
    // Refused for certain: nobody will take the card out. What may be sent again may have been taken before.
    const refused = error instanceof OrderScreeningError && ORDER_ERRORS[error.code].status !== 503;
    if (refused && sending.cardRef !== undefined) await forget(context, sending.cardRef);
    throw error;
  }
}

async function putAway(
  context: ClientContext,
  { integration, orderId }: CheckedScreenRequest,
  card: NonNullable<CheckedScreenRequest['card']>,
): Promise<{ cardRef: string }> {
  const { cardRef } = await putCard(context, { integration: integration.name, orderId, card });
  return { cardRef };
}

/** The refusal is what the caller must hear of; a card that stays is gone in 15 minutes. */
async function forget({ cards }: ClientContext, cardRef: string): Promise<void> {
  await cards?.forget(cardRef).catch(() => undefined);
}

/** By the fast path where worker and client share a process, else and whenever that has no answer from the order's record. */
async function firstAttempt(context: ClientContext, sending: Sending): Promise<CheckoutAnswer> {
  const { client, earlyAnswers } = context;
  const start = orderStart(sending);
  const early = earlyAnswers && (await answerFast(client, earlyAnswers, start, sending.deadline));
  return early ?? recordedAnswer(context, sending, start);
}

async function recordedAnswer(
  context: ClientContext,
  sending: Sending,
  start: OrderStart,
): Promise<CheckoutAnswer> {
  const { client } = context;
  try {
    return await within(client, sending.deadline, () =>
      sendUpdate(decisionUpdateId(1), (name) =>
        client.workflow.executeUpdateWithStart(decisionUpdate, {
          args: [{ attempt: 1, fingerprint: sending.request.fingerprint }],
          ...name,
          startWorkflowOperation: new WithStartWorkflowOperation(SCREEN_ORDER, {
            ...start,
            workflowIdConflictPolicy: 'USE_EXISTING',
          }),
        }),
      ),
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError || isEnded(error)) {
      return answerOnRecord(await closedOrder(context, sending.workflowId), sending);
    }
    if (isUnanswered(error)) return pendingAnswer(context, sending.request);
    throw toOrderError(error);
  }
}

/**
 * From 2 on the update is the only trace of the attempt: unless a worker took it, nothing goes on by itself, and once one
 * has, the order gives its own answer soon. Without one in time the outcome is unknown.
 */
async function laterAttempt(context: ClientContext, sending: Sending): Promise<CheckoutAnswer> {
  const { request, workflowId, cardRef } = sending;
  const { client } = context;
  const { attempt, transaction } = request;
  try {
    return await within(client, sending.deadline, () =>
      sendUpdate(retryUpdateId(attempt), async (name) => {
        const update = await client.workflow.getHandle(workflowId).startUpdate(retryUpdate, {
          args: [
            {
              attempt,
              transaction,
              fingerprint: sending.request.fingerprint,
              ...(cardRef !== undefined && { cardRef }),
            },
          ],
          ...name,
          waitForStage: 'ACCEPTED',
        });
        return update.result();
      }),
    );
  } catch (error) {
    if (isEnded(error)) {
      return answerOnRecord(await closedOrder(context, workflowId), sending);
    }
    throw toOrderError(error);
  }
}

/** The answer of a closed order that was never asked by this client: a plain start, or one that went on as new. */
function answerOnRecord(order: OrderState, sending: Sending): CheckoutAnswer {
  const attempt = order.attempts.find(({ number }) => number === sending.request.attempt);
  if (attempt?.answer === undefined || attempt.fingerprint === undefined) throw orderClosed();
  if (attempt.fingerprint !== sending.request.fingerprint) throw attemptMismatch();
  return attempt.answer;
}
