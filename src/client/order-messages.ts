/** The small messages to an order: an operator's acknowledgement, recheck and withdrawal. */

import { type OrderKey, orderWorkflowId } from '../orders/ids.ts';
import {
  acknowledgeUpdate,
  type PortalAnswer,
  recheckSignal,
  type WithdrawRequest,
  withdrawUpdate,
} from '../orders/messages.ts';
import type { ClientContext } from './context.ts';
import { closedOrder, openState } from './read-order.ts';
import { sendUpdate, startedUpdate } from './send-update.ts';
import { isEnded, orderClosed, temporalUnavailable, toOrderError } from './temporal-errors.ts';
import { toOpenOrder } from './to-open-order.ts';
import type { PortalOptions } from './types.ts';

/** @see OrderScreening.acknowledge */
export async function acknowledge(
  context: ClientContext,
  workflowId: string,
  reason: string,
  { idempotencyKey }: PortalOptions = {},
): Promise<{ cleared: number }> {
  return toOpenOrder(context, workflowId, (handle) =>
    sendUpdate(idempotencyKey && `acknowledge:${idempotencyKey}`, (name) =>
      handle.executeUpdate(acknowledgeUpdate, { args: [{ reason }], ...name }),
    ),
  );
}

/** @see OrderScreening.recheck */
export async function recheck(context: ClientContext, workflowId: string): Promise<{ status: 'requested' }> {
  await toOpenOrder(context, workflowId, (handle) => handle.signal(recheckSignal));
  return { status: 'requested' };
}

/** @see OrderScreening.withdraw */
export async function withdraw(
  context: ClientContext,
  order: OrderKey,
  { number }: WithdrawRequest,
  { idempotencyKey }: PortalOptions = {},
): Promise<PortalAnswer> {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  const handle = context.client.workflow.getHandle(workflowId);
  try {
    const answer = await startedUpdate(context, idempotencyKey && `withdraw:${idempotencyKey}`, (options) =>
      handle.startUpdate(withdrawUpdate, { args: [{ number }], ...options }),
    );
    return answer ?? (await goesOn(context, order, number));
  } catch (error) {
    if (!isEnded(error)) throw toOrderError(error);
    await closedOrder(context, workflowId);
    throw orderClosed();
  }
}

/** The order works at it and hasn't said of what kind the action is: its record does. */
async function goesOn(
  context: ClientContext,
  { integration, orderId }: OrderKey,
  number: number,
): Promise<PortalAnswer> {
  const { actions } = await openState(context, orderWorkflowId(integration, orderId));
  const record = actions.find((one) => one.number === number);
  if (record === undefined) throw temporalUnavailable();
  const { kind, transactionId } = record;
  return {
    number,
    orderId,
    integration,
    kind,
    status: 'requested',
    ...(transactionId !== undefined && { transactionId }),
  };
}
