/** Messages to an open order: how an update is sent, and the small ones. */
import type { WorkflowHandle, WorkflowUpdateHandle } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type { GatewayResultAnswer, OverrideAnswer, PortalAnswer } from '../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../contract/errors.ts';
import { type OrderKey, orderWorkflowId } from '../contract/ids.ts';
import {
  acknowledgeUpdate,
  type GatewayResultRequest,
  overrideUpdate,
  recordGatewayResultUpdate,
  type WithdrawRequest,
  withdrawUpdate,
} from '../contract/messages.ts';
import type { OrderState } from '../contract/state.ts';
import { gatewayReplyAfterEnd, RESULT_TOO_LATE } from '../orders/concerns/gateway.ts';
import { defined } from '../orders/defined.ts';
import { closedOrder, readOrder } from './read-orders.ts';
import { checked, overrideSchema, readBy } from './read-requests.ts';
import {
  ANSWER_WITHIN_MS,
  isEnded,
  isExhausted,
  isUnanswered,
  orderClosed,
  readable,
  temporalUnavailable,
  toOrderError,
  within,
  workerSilent,
} from './temporal-errors.ts';
import type { ClientContext, PortalOptions } from './types.ts';

/** @see OrderScreening.acknowledge */
export async function acknowledge(
  context: ClientContext,
  workflowId: string,
  reason: string,
  how: PortalOptions = {},
): Promise<{ cleared: number }> {
  const request = { reason, ...readBy(how) };
  return update(context, workflowId, acknowledgeUpdate, request, idOf('acknowledge', how));
}

/** @see OrderScreening.override */
export async function override(
  context: ClientContext,
  workflowId: string,
  raw: unknown,
  how: PortalOptions = {},
): Promise<OverrideAnswer> {
  const request = { ...checked(overrideSchema, raw), ...readBy(how) };
  return update(context, workflowId, overrideUpdate, request, idOf('override', how));
}

/** @see OrderScreening.recordGatewayResult */
export async function recordGatewayResult(
  context: ClientContext,
  workflowId: string,
  request: GatewayResultRequest,
): Promise<GatewayResultAnswer> {
  try {
    // A caller that missed the answer repeats the result, perhaps after the order's end.
    return await update(context, workflowId, recordGatewayResultUpdate, request, undefined, (order) => {
      const reply = gatewayReplyAfterEnd(order, request);
      if ('gateway' in reply) return reply.gateway;
      throw new OrderScreeningError(reply.refusal.code, reply.refusal.message);
    });
  } catch (error) {
    throw hasCode(error, 'order-closed') ? new OrderScreeningError(error.code, RESULT_TOO_LATE) : error;
  }
}

/** Names an update by the caller's key. The kind stands in front, so that no key is an id that means something else. */
function idOf(kind: string, { idempotencyKey }: PortalOptions): string | undefined {
  return idempotencyKey && `${kind}:${idempotencyKey}`;
}

/** @see OrderScreening.withdraw */
export async function withdraw(
  context: ClientContext,
  order: OrderKey,
  { number }: WithdrawRequest,
  how: PortalOptions = {},
): Promise<PortalAnswer> {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const request = { number, ...readBy(how) };
  return whileOpen(context, workflowId, async (handle) => {
    const answer = await startedUpdate(context, idOf('withdraw', how), (options) =>
      handle.startUpdate(withdrawUpdate, { args: [request], ...options }),
    );
    if (answer !== undefined) return answer;
    // The order works at it and hasn't said of what kind the action is: its record does.
    const { actions } = await readOrder(context, workflowId);
    const record = actions.find((one) => one.number === number);
    if (record === undefined) throw workerSilent();
    const { kind, transactionId } = record;
    return defined({ number, ...order, kind, status: 'requested', transactionId });
  });
}

// How updates are sent to an order, whatever they ask.

/** What names an update; without an id it is random. */
interface UpdateName {
  updateId?: string;
}

/**
 * Sends an update, again while the order is being screened. The caller's deadline bounds it.
 * @throws OrderScreeningError `busy` when the server takes no more updates of this order for now; others as they come
 */
export async function sendUpdate<T>(
  updateId: string | undefined,
  send: (name: UpdateName) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return readable(await send(updateId === undefined ? {} : { updateId }));
    } catch (error) {
      if (tries >= MOST_TRIES || !hasCode(toOrderError(error), 'checkout-under-way'))
        throw isExhausted(error) ? busy(error) : error;
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  }
}

/** The order refuses updates until its checkout has ended, which takes seconds at most. */
const ASK_AGAIN_MS = 100;
const MOST_TRIES = 100;

/**
 * Sends an update whose work goes on by itself once the order has accepted it.
 * @returns undefined when it was accepted, and has no answer within 10 s
 * @throws OrderScreeningError `temporal-unavailable` when it wasn't accepted in time, `busy`; others as they come
 */
export async function startedUpdate<T>(
  { client }: ClientContext,
  updateId: string | undefined,
  start: (options: UpdateName & { waitForStage: 'ACCEPTED' }) => Promise<WorkflowUpdateHandle<T>>,
): Promise<T | undefined> {
  let accepted = false;
  try {
    return await within(client, Date.now() + ANSWER_WITHIN_MS, () =>
      sendUpdate(updateId, async (name) => {
        accepted = false;
        const update = await start({ ...name, waitForStage: 'ACCEPTED' });
        accepted = true;
        return update.result();
      }),
    );
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    // Not even accepted: nothing of it is recorded, so it can't be promised to go on.
    if (!accepted) throw temporalUnavailable(error);
    return undefined;
  }
}

function busy(cause: unknown): OrderScreeningError {
  const error = new OrderScreeningError(
    'busy',
    'Too many requests wait for this order, and this one was not taken: send it again',
  );
  error.cause = cause;
  return error;
}

/**
 * Sends an open order an update, which is answered within 10 s.
 * @param afterEnd returns the answer of an order that has ended; without it that is refused
 * @throws OrderScreeningError as `whileOpen`
 */
async function update<Answer, Request>(
  context: ClientContext,
  workflowId: string,
  definition: UpdateDefinition<Answer, [Request]>,
  request: Request,
  updateId: string | undefined,
  afterEnd?: (order: OrderState) => Answer,
): Promise<Answer> {
  const send = (handle: WorkflowHandle) =>
    within(context.client, Date.now() + ANSWER_WITHIN_MS, () =>
      sendUpdate(updateId, (name) => handle.executeUpdate(definition, { args: [request], ...name })),
    );
  return whileOpen(context, workflowId, send, afterEnd);
}

/**
 * Asks something of an open order.
 * @throws OrderScreeningError `order-closed`, `unknown-order`, `temporal-unavailable`, or whatever the order says
 */
async function whileOpen<T>(
  context: ClientContext,
  workflowId: string,
  ask: (handle: WorkflowHandle) => Promise<T>,
  afterEnd?: (order: OrderState) => T,
): Promise<T> {
  try {
    return await ask(context.client.workflow.getHandle(workflowId));
  } catch (error) {
    if (!isEnded(error)) throw toOrderError(error);
    const order = await closedOrder(context, workflowId);
    if (afterEnd === undefined) throw orderClosed();
    return afterEnd(order);
  }
}
