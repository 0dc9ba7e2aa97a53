/** Sends updates to open orders; has the short methods of the client library. */
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
import { readBy } from './portal-options.ts';
import { closedOrder, readOrder } from './read-orders.ts';
import { checked, overrideSchema } from './read-requests.ts';
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
    // A caller that missed the answer may repeat the result after the order's end.
    return await update(context, workflowId, recordGatewayResultUpdate, request, undefined, (order) => {
      const reply = gatewayReplyAfterEnd(order, request);
      if ('gateway' in reply) return reply.gateway;
      throw new OrderScreeningError(reply.refusal.code, reply.refusal.message);
    });
  } catch (error) {
    throw hasCode(error, 'order-closed') ? new OrderScreeningError(error.code, RESULT_TOO_LATE) : error;
  }
}

/** Returns the update id for the caller's key. The prefix keeps callers' keys apart from other update ids. */
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
    // The withdrawal is still running; the order's record has the kind of the action.
    const { actions } = await readOrder(context, workflowId);
    const record = actions.find((one) => one.number === number);
    if (record === undefined) throw workerSilent();
    const { kind, transactionId } = record;
    return defined({ number, ...order, kind, status: 'requested', transactionId });
  });
}

// Sending of updates.

/** The id of an update; random if absent. */
interface UpdateName {
  updateId?: string;
}

/**
 * Sends an update, and retries while the checkout is running. The caller's deadline bounds it.
 * @throws OrderScreeningError `busy` if the server accepts no more updates of this order for now; other errors unchanged
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

/** Until its checkout has ended, seconds at most, the order refuses updates. */
const ASK_AGAIN_MS = 100;
const MOST_TRIES = 100;

/**
 * Sends an update that continues in the background once the order has accepted it.
 * @returns undefined if it was accepted and is still running after 10 s
 * @throws OrderScreeningError `temporal-unavailable` if it wasn't accepted in time, `busy`; other errors unchanged
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
    // Not accepted, so not recorded: it may never run.
    if (!accepted) throw temporalUnavailable(error);
    return undefined;
  }
}

function busy(cause: unknown): OrderScreeningError {
  const error = new OrderScreeningError(
    'busy',
    'Too many requests are waiting for this order, and this one was not accepted: send it again',
  );
  error.cause = cause;
  return error;
}

/**
 * Sends an update to an open order and waits up to 10 s for the answer.
 * @param afterEnd returns the answer for an ended order; without it, ended orders are refused
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
 * Calls an open order.
 * @throws OrderScreeningError `order-closed`, `unknown-order`, `temporal-unavailable`, or the order's own refusal
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
