/** The checkout's call: one round trip that starts the order and returns its decision, or `pending` in time. */
import { WithStartWorkflowOperation, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { z } from 'zod';
import { type CardOwner, CardStashError } from '../cards/index.ts';
import { actionWithoutDecision } from '../orders/decide.ts';
import { screeningDecision, screeningPhase } from '../orders/describe.ts';
import { ORDER_ERRORS, OrderScreeningError } from '../orders/errors.ts';
import { decisionUpdateId, orderWorkflowId, retryUpdateId } from '../orders/ids.ts';
import { decisionUpdate, retryUpdate, SCREEN_ORDER } from '../orders/messages.ts';
import { matchingSkipRule, unavailableAction } from '../orders/policy.ts';
import type { CheckoutAnswer, OrderState } from '../orders/state.ts';
import type { CardData } from '../screening/index.ts';
import { sendUpdate } from './order-messages.ts';
import { answerFast, type OrderStart, orderStart, type Sending } from './order-start.ts';
import { closedOrder, describeOrder } from './read-orders.ts';
import { type CheckedScreenRequest, readScreenRequest } from './read-requests.ts';
import {
  asOrderError,
  attemptMismatch,
  isEnded,
  isUnanswered,
  orderClosed,
  temporalUnavailable,
  toOrderError,
  within,
} from './temporal-errors.ts';
import type { ClientContext } from './types.ts';

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

/** For all that is asked: the customer has waited for the budget and 2 s already. */
const ASK_WITHIN_MS = 1_000;

/** `PENDING_WORKFLOW_TASK_STATE_STARTED` of Temporal's API. */
const TASK_STARTED = 2;
/** Of an order that no worker has begun: its start, and its first task. */
const UNTOUCHED_EVENTS = 2;

/**
 * The answer to a checkout that no worker took in time. It promises that the screening goes on, so the server is asked
 * whether the order is there and waits; an order that has a decision already may have been answered otherwise.
 * @throws OrderScreeningError `temporal-unavailable` when that isn't certain, `attempt-mismatch` when the order that waits
 * was started with another content
 */
async function pendingAnswer(context: ClientContext, request: CheckedScreenRequest): Promise<CheckoutAnswer> {
  const workflowId = orderWorkflowId(request.integration.name, request.orderId);
  const deadline = Date.now() + ASK_WITHIN_MS;
  const description = await describeOrder(context, workflowId, ASK_WITHIN_MS);
  // A worker that began in time may still give its own answer, or have given it and died before it was recorded; one that
  // begins from now on takes `pending` as given.
  const underWay =
    description?.raw.pendingWorkflowTask?.state === TASK_STARTED ||
    (description?.historyLength ?? 0) > UNTOUCHED_EVENTS;
  const waits =
    !underWay &&
    description?.status.name === 'RUNNING' &&
    description.typedSearchAttributes.get(screeningPhase) === 'screening' &&
    (description.typedSearchAttributes.get(screeningDecision) ?? 'pending') === 'pending';
  if (!waits) throw temporalUnavailable();
  const known = await startedWith(context, workflowId, deadline);
  if (known !== undefined && known !== request.fingerprint) throw attemptMismatch();
  return pendingByPolicy(request);
}

const inputSchema = z.object({ fingerprint: z.string().optional() });

/** @returns the fingerprint that an order was started with, from its history; undefined when it was started without one */
async function startedWith(
  { client }: ClientContext,
  workflowId: string,
  deadline: number,
): Promise<string | undefined> {
  const { events } = await asOrderError(() =>
    within(client, deadline, () => client.workflow.getHandle(workflowId).fetchHistory()),
  );
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return inputSchema.safeParse(input).data?.fingerprint;
}

/**
 * @returns `pending`, with the action that the policy names, or `skipped` for a first attempt that policy skips; the worker
 * that comes later says the same
 */
function pendingByPolicy({ integration, ...request }: CheckedScreenRequest): CheckoutAnswer {
  const order = { orderId: request.orderId, integration: integration.name, attempt: request.attempt };
  if (request.attempt === 1 && matchingSkipRule(integration.skip, request.facts) !== undefined) {
    const wouldBe = integration.passive && ({ wouldBe: 'proceed' } as const);
    return { ...order, decision: 'skipped', action: 'proceed', phase: 'decided', ...wouldBe };
  }
  const whenUnavailable = unavailableAction(integration.whenUnavailable, request.facts);
  const wanted = actionWithoutDecision({ workflow: request.workflow, whenUnavailable });
  const action = integration.passive ? 'proceed' : wanted;
  return {
    ...order,
    decision: 'pending',
    action,
    phase: action === 'decline' ? 'declined' : 'screening',
    reason: 'no-worker',
    ...(action === 'decline' && { message: integration.declineMessage }),
    ...(integration.passive && { wouldBe: wanted }),
  };
}

/**
 * Puts full card data in the stash.
 * @throws OrderScreeningError `card-stash-unavailable`: nothing was sent to Temporal; TypeError without a stash
 */
export async function putCard(
  { cards }: Pick<ClientContext, 'cards'>,
  entry: CardOwner & { card: CardData },
): Promise<{ cardRef: string; expiresAt: string }> {
  if (cards === undefined) throw new TypeError('full card data needs a card stash: pass `cards`');
  try {
    return await cards.put(entry);
  } catch (error) {
    if (!(error instanceof CardStashError)) throw error;
    throw new OrderScreeningError(
      'card-stash-unavailable',
      `${error.message}, so nothing was screened: send the same request again`,
    );
  }
}
