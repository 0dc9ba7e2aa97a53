import type { UpdateDefinition } from '@temporalio/common';
import type {
  GatewayResultAnswer,
  HandlingAnswer,
  PortalAnswer,
  RedeliveryAnswer,
} from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { type OrderKey, orderWorkflowId, redeliveryWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import {
  type Envelope,
  type GatewayResultRequest,
  type OrderEvent,
  REDELIVER_EVENT,
  recordGatewayResultUpdate,
  type WithdrawRequest,
  withdrawUpdate,
} from '../../contract/messages.ts';
import { instant } from '../../contract/words.ts';
import { gatewayReplyAfterEnd, RESULT_TOO_LATE } from '../../order/concerns/gateway.ts';
import { defined } from '../../order/defined.ts';
import { eventToSend } from '../../order/events.ts';
import { ScreeningError, whyUnread } from '../../screening-service/index.ts';
import { integrationOf } from '../read-requests.ts';
import { describeOrder } from '../reading/describe-order.ts';
import { sentEvent } from '../reading/full-order.ts';
import { closedOrder, finalRecord, readOrder } from '../reading/read-orders.ts';
import { screeningClientOf } from '../reading/read-transaction.ts';
import {
  ANSWER_WITHIN_MS,
  isEnded,
  isUnanswered,
  orderClosed,
  toOrderError,
  unknownOrder,
  within,
  workerSilent,
} from '../temporal-errors.ts';
import type { ClientContext, HandlingMethods, OrderName, PortalOptions } from '../types.ts';
import type { Handling } from './handling.ts';
import { readBy } from './portal-options.ts';
import { sendUpdate, startedUpdate, updateOf } from './send-update.ts';

/** Returns the client library's method. The caller has checked the request. */
export function handlingMethod(orders: HandlingMethods, kind: Handling) {
  return orders[kind] as (order: OrderName, request: object, how: PortalOptions) => Promise<HandlingAnswer>;
}

export async function withdraw(
  context: ClientContext,
  order: OrderKey,
  { number }: WithdrawRequest,
  how: PortalOptions = {},
): Promise<PortalAnswer> {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const request = { number, ...readBy(how) };
  return whileOpen(context, workflowId, async () => {
    const answer = await startedUpdate(context, workflowId, withdrawUpdate, request, how);
    if (answer !== undefined) return answer;
    // The withdrawal is still running; the order's record has the kind of the action.
    const { actions } = await readOrder(context, workflowId);
    const record = actions.find((one) => one.number === number);
    if (record === undefined) throw workerSilent();
    const { kind, transactionId } = record;
    return defined({ number, ...order, kind, status: 'requested', transactionId });
  });
}

/**
 * Sends an update to an open order and waits up to 10 s for the answer.
 * @throws OrderScreeningError as `whileOpen`
 */
export async function update<Answer, Request extends object>(
  context: ClientContext,
  workflowId: string,
  definition: UpdateDefinition<Answer, [Envelope<Request>]>,
  request: Request,
  how: PortalOptions = {},
): Promise<Answer> {
  const options = updateOf(definition, { ...request, ...readBy(how) }, how);
  const handle = context.client.workflow.getHandle(workflowId);
  return whileOpen(context, workflowId, () =>
    within(context.client, Date.now() + ANSWER_WITHIN_MS, () =>
      sendUpdate(() => handle.executeUpdate(definition, options)),
    ),
  );
}

/**
 * Calls an open order.
 * @throws OrderScreeningError `order-closed`, `unknown-order`, `temporal-unavailable`, or the order's own refusal
 */
async function whileOpen<T>(context: ClientContext, workflowId: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isEnded(error)) throw toOrderError(error);
    await closedOrder(context, workflowId);
    throw orderClosed();
  }
}

export async function recordGatewayResult(
  context: ClientContext,
  workflowId: string,
  request: GatewayResultRequest,
): Promise<GatewayResultAnswer> {
  try {
    return await update(context, workflowId, recordGatewayResultUpdate, request);
  } catch (error) {
    // Also of an order that has ended and still delivers its last events.
    if (!hasCode(error, 'order-closed')) throw error;
  }
  const order = await readOrder(context, workflowId, 'full');
  const reply = gatewayReplyAfterEnd(order, request, instant(Date.now()));
  if ('refusal' in reply) throw new OrderScreeningError(reply.refusal.code, reply.refusal.message);
  if (reply.sendFor !== undefined) await sendOn(context, order.integration, reply.sendFor, request);
  return reply.gateway;
}

/** Sends the result once. An ended order keeps no record of it, and sending it again is safe: the caller repeats it after an error. */
async function sendOn(
  context: ClientContext,
  integration: string,
  transactionId: string,
  { result, authcode, transactionId: gatewayTransactionId }: GatewayResultRequest,
): Promise<void> {
  const client = screeningClientOf(integrationOf(context, integration));
  const response = { transactionId, result, ...defined({ authcode, gatewayTransactionId }) };
  try {
    await client.gatewayResponse(response, { timeoutMs: ANSWER_WITHIN_MS });
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    if (error.outcome === 'refused' && error.reason !== 'forbidden') {
      throw new OrderScreeningError('order-closed', RESULT_TOO_LATE);
    }
    const { message } = whyUnread(error);
    throw new OrderScreeningError('screening-service-unavailable', message);
  }
}

export async function redeliver(
  context: ClientContext,
  key: OrderKey,
  sequence: number,
  how: Pick<PortalOptions, 'by'> = {},
): Promise<RedeliveryAnswer> {
  const { by } = readBy(how);
  const event = await eventOf(context, orderWorkflowId(key.integration, key.orderId), sequence);
  if (event === undefined)
    throw new OrderScreeningError('unknown-event', `The order keeps no event ${sequence}`);
  const answer = { ...key, sequence, type: event.type };
  let taken = false;
  try {
    await within(context.client, Date.now() + ANSWER_WITHIN_MS, async () => {
      const handle = await context.client.workflow.start(REDELIVER_EVENT, {
        workflowId: redeliveryWorkflowId(key, sequence),
        taskQueue: TASK_QUEUE,
        args: by === undefined ? [event] : [event, by],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `event ${sequence}, ${event.type}`,
      });
      taken = true;
      await handle.result();
    });
    return { ...answer, status: 'delivered' };
  } catch (error) {
    if (taken && isUnanswered(error)) return { ...answer, status: 'requested' };
    throw toOrderError(error);
  }
}

/** @returns the event as it was sent: from the result of a completed order, else from the history */
async function eventOf(
  context: ClientContext,
  workflowId: string,
  sequence: number,
): Promise<OrderEvent | undefined> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  if (description.status !== 'completed') return sentEvent(context, description, sequence);
  const order = await finalRecord(context, workflowId);
  const kept = order.events.last?.find((one) => one.sequence === sequence);
  return kept && eventToSend(order, kept);
}
