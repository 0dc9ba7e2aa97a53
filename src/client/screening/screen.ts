/** The checkout call: starts the order and returns its decision, or `pending`, in one round trip. */
import { WorkflowExecutionAlreadyStartedError, WorkflowUpdateFailedError } from '@temporalio/client';
import { vouchedFor } from '../../card-data/card-data.ts';
import { type CardOwner, CardStashError } from '../../card-stash/index.ts';
import type { CheckoutAnswer } from '../../contract/answers.ts';
import { hasCode, ORDER_ERRORS, type OrderErrorCode, OrderScreeningError } from '../../contract/errors.ts';
import { decisionUpdateId, orderWorkflowId, retryUpdateId } from '../../contract/ids.ts';
import { decisionUpdate, retryUpdate } from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { instant } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { answerNow } from '../../order/view/answers.ts';
import type { CardData } from '../../screening-service/index.ts';
import { startedUpdate, startWithUpdate, updateOf } from '../messages/send-update.ts';
import { type CheckedScreenRequest, readScreenRequest } from '../read-requests.ts';
import { closedOrder, NOTHING_ADOPTED, NOTHING_STARTED } from '../reading/read-orders.ts';
import {
  attemptMismatch,
  isEnded,
  isUnanswered,
  orderClosed,
  toOrderError,
  unreadRequest,
  within,
  workerSilent,
} from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { answerFast } from './fast-path.ts';
import { type OrderStart, orderStart } from './order-start.ts';
import { asOfNow, pendingAnswer, pendingByPolicy } from './pending-answer.ts';
import { whileReachable } from './while-reachable.ts';

/** A checked request, with the card replaced by its reference in the card stash. */
interface Sending {
  request: CheckedScreenRequest;
  workflowId: string;
  cardRef?: string;
  /** When the caller stops waiting, in milliseconds after the epoch. */
  deadline: number;
}

/** Added to the checkout budget. A worker that starts after it assumes that the answer was `pending`. */
const GRACE_MS = 2_000;

export async function screen(context: ClientContext, raw: unknown): Promise<CheckoutAnswer> {
  const request = readScreenRequest(raw, context.findIntegration);
  const { warnings } = request;
  try {
    const found = await whileReachable(context.client, () => answerOf(context, request));
    const { fingerprint: _ours, ...answer } = found;
    return { ...answer, ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    throw unrecorded(toOrderError(error), request);
  }
}

/** Rule «Temporal away»: an error that leaves the outcome open says what policy does until a repeat of the request is answered. */
function unrecorded(error: unknown, request: CheckedScreenRequest): unknown {
  if (!(error instanceof OrderScreeningError) || isRefused(error)) return error;
  const { code, message, details, cause } = error;
  const { action } = pendingByPolicy(request);
  return new OrderScreeningError(code, message, { ...details, action, recorded: false }, cause);
}

/** @returns whether nothing was done for certain and a repeat gets the same error; after 503 and `record-unreadable` a worker may screen the order */
function isRefused({ code }: OrderScreeningError): boolean {
  return ORDER_ERRORS[code].status < 500;
}

async function answerOf(context: ClientContext, request: CheckedScreenRequest): Promise<CheckoutAnswer> {
  const { integration, orderId, card, attempt } = request;
  const { client, earlyAnswers, cards } = context;
  const asked: Sending = {
    request,
    workflowId: orderWorkflowId(integration.name, orderId),
    // Set before the card stash is called: the caller waits for that, too.
    deadline: Date.now() + integration.checkoutBudgetMs + GRACE_MS,
  };
  const known = card && (await answerUnderWay(context, asked));
  if (known !== undefined) return sameContent(known, request);
  const cardRef = card && (await putAway(context, request, card));
  const sending = { ...asked, ...defined({ cardRef }) };
  /** Ignores errors, so that the caller gets the original one. The card expires within 15 minutes anyway. */
  const forget = () => cardRef && cards?.forget(cardRef).catch(() => undefined);
  try {
    if (attempt === 1 && earlyAnswers) {
      const early = await answerFast(client, earlyAnswers, startOf(sending), asked.deadline);
      // Before the record, a task that runs again needs the card.
      if (early !== undefined) return early;
    }
    const inTurn = attempt === 1 ? recordedAnswer : laterAttempt;
    const answer = sameContent(await inTurn(context, sending), request);
    // If another call got the answer, no worker reads this card. A rescreen does.
    if (answer.decision !== 'pending' && answer.decision !== 'error') void forget();
    return answer;
  } catch (error) {
    // No worker will read the card of a refused request.
    if (error instanceof OrderScreeningError && isRefused(error)) await forget();
    throw error;
  }
}

function sameContent(answer: CheckoutAnswer, { fingerprint }: CheckedScreenRequest): CheckoutAnswer {
  if (answer.fingerprint !== undefined && answer.fingerprint !== fingerprint) throw attemptMismatch();
  return answer;
}

/**
 * Rule «card for an open attempt»: the card of an attempt that was sent before is in the stash, or no longer needed.
 * @returns the attempt's answer; undefined if the order or the attempt is new
 */
async function answerUnderWay(context: ClientContext, sending: Sending): Promise<CheckoutAnswer | undefined> {
  const { client } = context;
  const { request, workflowId, deadline } = sending;
  const id = request.attempt === 1 ? decisionUpdateId(1) : retryUpdateId(request.attempt);
  try {
    const update = client.workflow.getHandle(workflowId).getUpdateHandle<CheckoutAnswer>(id);
    return await asOfNow(context, workflowId, await within(client, deadline, () => update.result()));
  } catch (error) {
    if (hasCode(toOrderError(error), ...MAY_BE_OUTDATED)) return answerOfOrder(context, sending);
    if (isEnded(error) || error instanceof WorkflowUpdateFailedError) return undefined;
    if (request.attempt === 1 && isUnanswered(error)) return pendingAnswer(context, request);
    throw toOrderError(error);
  }
}

/**
 * An attempt that the order took under a second id has no answer under the fixed one.
 * @returns undefined if the order refuses the attempt or has ended
 */
async function answerOfOrder(
  context: ClientContext,
  { request, workflowId, deadline }: Sending,
): Promise<CheckoutAnswer | undefined> {
  const { attempt, fingerprint } = request;
  const update = updateOf(decisionUpdate, { attempt, fingerprint });
  try {
    const answer = await startedUpdate(context, workflowId, decisionUpdate, update, deadline);
    if (answer === undefined) throw workerSilent();
    return await asOfNow(context, workflowId, answer);
  } catch (error) {
    if (isEnded(error) || error instanceof WorkflowUpdateFailedError) return undefined;
    throw toOrderError(error);
  }
}

async function putAway(
  context: ClientContext,
  { integration, orderId, workflow, warnings }: CheckedScreenRequest,
  card: NonNullable<CheckedScreenRequest['card']>,
): Promise<string | undefined> {
  try {
    return (await putCard(context, { integration: integration.name, orderId, card })).cardRef;
  } catch (error) {
    // Workflows after the payment gateway can screen without the card.
    if (workflow === 'pre-gateway') throw error;
    const message = 'is not sent: the card stash is unavailable';
    warnings.push({ path: 'transaction.payment.creditCard.cardNumber', message });
    return undefined;
  }
}

function startOf({ request, deadline, cardRef }: Sending): OrderStart {
  const { orderId, integration, transaction, fingerprint, workflowNamed } = request;
  const answerBy = instant(deadline);
  const input = {
    orderId,
    transaction,
    fingerprint,
    answerBy,
    ...defined({ workflow: workflowNamed, cardRef }),
  };
  return orderStart(integration, input, request);
}

/** Refusals of an earlier state of the order, of another caller's content, or of a run that ended with its start. */
const MAY_BE_OUTDATED: readonly OrderErrorCode[] = [
  'attempt-mismatch',
  'retry-out-of-turn',
  ...NOTHING_STARTED,
  ...NOTHING_ADOPTED,
];

/**
 * Sends an update under a fixed id. Temporal keeps the first outcome of the id, and all who ask under it at the same time get the same one,
 * so this asks once more under a random id after a refusal that may be outdated.
 */
async function notRefusedBefore<T>(ask: (updateId?: string) => Promise<T>, fixedId: string): Promise<T> {
  try {
    return await ask(fixedId);
  } catch (error) {
    // Another worker may have the payload key.
    const isWorthAsking = unreadRequest(error) ?? hasCode(toOrderError(error), ...MAY_BE_OUTDATED);
    if (!isWorthAsking) throw error;
    return ask();
  }
}

async function recordedAnswer(
  context: ClientContext,
  sending: Sending,
  isRestart = false,
): Promise<CheckoutAnswer> {
  const { request, workflowId, deadline } = sending;
  const first = startOf(sending);
  const start = isRestart
    ? { ...first, workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' as const }
    : first;
  const question = { attempt: 1, fingerprint: request.fingerprint };
  const ask = (updateId?: string) => {
    const update = updateOf(decisionUpdate, question, {}, updateId);
    return startWithUpdate(context.client, deadline, decisionUpdate, update, start);
  };
  try {
    const answer = await (isRestart ? ask() : notRefusedBefore(ask, decisionUpdateId(1)));
    return await asOfNow(context, workflowId, answer);
  } catch (error) {
    if (isUnanswered(error)) return pendingAnswer(context, request);
    if (!(error instanceof WorkflowExecutionAlreadyStartedError) && !isEnded(error))
      throw toOrderError(error);
  }
  const closed = await closedOrder(context, workflowId).catch((unread: unknown) => {
    if (!hasCode(unread, 'unknown-order')) throw unread;
  });
  if (closed) return answerOnRecord(closed, request);
  // Only a refused adoption or a refused start exists.
  if (isRestart) throw orderClosed();
  return recordedAnswer(context, sending, true);
}

/**
 * From attempt 2 on, only the update records the attempt: unless a worker accepts it, nothing continues in the background.
 * Once accepted, the order answers soon. Without an answer in time the outcome is unknown.
 */
async function laterAttempt(context: ClientContext, sending: Sending): Promise<CheckoutAnswer> {
  const { request, workflowId, cardRef } = sending;
  const { attempt, workflow, transaction, fingerprint, integration } = request;
  const answerBy = instant(sending.deadline);
  const body = { attempt, workflow, transaction, fingerprint, answerBy, ...defined({ cardRef }) };
  const ask = (updateId?: string) => {
    const update = updateOf(retryUpdate, vouchedFor(body, integration), {}, updateId);
    return startedUpdate(context, workflowId, retryUpdate, update, sending.deadline);
  };
  try {
    const answer = await notRefusedBefore(ask, retryUpdateId(attempt));
    if (answer === undefined) throw workerSilent();
    return await asOfNow(context, workflowId, answer);
  } catch (error) {
    if (isEnded(error)) return answerOnRecord(await closedOrder(context, workflowId), request);
    throw toOrderError(error);
  }
}

/** Returns the recorded answer of a closed order, also of one that was started by other means or continued as new. */
function answerOnRecord(
  order: OrderState,
  { attempt: number, fingerprint }: CheckedScreenRequest,
): CheckoutAnswer {
  const attempt = order.attempts.find((one) => one.number === number);
  const answer = answerNow(order, number);
  const known = attempt?.fingerprint;
  // An adopted order takes any content, as while it is open.
  if (answer === undefined || (known === undefined && order.adopted === undefined)) throw orderClosed();
  if (known !== undefined && known !== fingerprint) throw attemptMismatch();
  return answer;
}

/**
 * Stores full card data in the card stash.
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
      `${error.message}. Nothing was screened; send the same request again`,
    );
  }
}
