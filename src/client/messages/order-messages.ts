/** Sends updates to open orders; has the short methods of the client library. */
import type { WorkflowHandle } from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import type {
  AcknowledgeAnswer,
  HandlingAnswer,
  OverrideAnswer,
  PortalAnswer,
} from '../../contract/answers.ts';
import { type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import {
  acknowledgeUpdate,
  type Envelope,
  overrideUpdate,
  UPDATES,
  type WithdrawRequest,
  withdrawUpdate,
} from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { defined } from '../../order/defined.ts';
import { checked, overrideSchema } from '../read-requests.ts';
import { closedOrder, readOrder } from '../reading/read-orders.ts';
import {
  ANSWER_WITHIN_MS,
  isEnded,
  orderClosed,
  toOrderError,
  within,
  workerSilent,
} from '../temporal-errors.ts';
import type { ClientContext, HandlingMethods, OrderName, PortalOptions } from '../types.ts';
import { type Handling, handlingDefinition } from './handling.ts';
import { readBy } from './portal-options.ts';
import { sendUpdate, startedUpdate, updateOf } from './send-update.ts';

/** @see OrderScreening.acknowledge */
export async function acknowledge(
  context: ClientContext,
  workflowId: string,
  reason: string,
  how: PortalOptions = {},
): Promise<AcknowledgeAnswer> {
  const request = { reason, ...readBy(how) };
  return update(context, workflowId, acknowledgeUpdate, request, how);
}

/** @see OrderScreening.override */
export async function override(
  context: ClientContext,
  workflowId: string,
  raw: unknown,
  how: PortalOptions = {},
): Promise<OverrideAnswer> {
  const request = { ...checked(overrideSchema, raw), ...readBy(how) };
  return update(context, workflowId, overrideUpdate, request, how);
}

/** Returns the client library's method. The caller has checked the request. */
export function handlingMethod(orders: HandlingMethods, kind: Handling) {
  return orders[kind] as (order: OrderName, request: object, how: PortalOptions) => Promise<HandlingAnswer>;
}

/** @see HandlingMethods */
export async function handle(
  context: ClientContext,
  workflowId: string,
  kind: Handling,
  raw: unknown,
  how: PortalOptions = {},
): Promise<HandlingAnswer> {
  const request = { ...checked(handlingDefinition(kind).schema, raw), ...readBy(how) };
  return update(context, workflowId, UPDATES[kind], request, how);
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
    const update = updateOf(withdrawUpdate, request, how);
    const answer = await startedUpdate(context, () =>
      handle.startUpdate(withdrawUpdate, { ...update, waitForStage: 'ACCEPTED' }),
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

/**
 * Sends an update to an open order and waits up to 10 s for the answer.
 * @param afterEnd returns the answer for an ended order; without it, ended orders are refused
 * @throws OrderScreeningError as `whileOpen`
 */
export async function update<Answer, Request extends object>(
  context: ClientContext,
  workflowId: string,
  definition: UpdateDefinition<Answer, [Envelope<Request>]>,
  request: Request,
  how: PortalOptions,
  afterEnd?: (order: OrderState) => Promise<Answer>,
): Promise<Answer> {
  const options = updateOf(definition, request, how);
  const send = (handle: WorkflowHandle) =>
    within(context.client, Date.now() + ANSWER_WITHIN_MS, () =>
      sendUpdate(() => handle.executeUpdate(definition, options)),
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
  afterEnd?: (order: OrderState) => Promise<T>,
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
