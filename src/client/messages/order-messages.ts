/** Sends updates to open orders. */
import type { UpdateDefinition } from '@temporalio/common';
import type { HandlingAnswer, PortalAnswer } from '../../contract/answers.ts';
import { type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import { type Envelope, type WithdrawRequest, withdrawUpdate } from '../../contract/messages.ts';
import { defined } from '../../order/defined.ts';
import { closedOrder, readOrder } from '../reading/read-orders.ts';
import { ANSWER_WITHIN_MS, isEnded, orderClosed, toOrderError, workerSilent } from '../temporal-errors.ts';
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
    // If the withdrawal is still running at the deadline, the order's record has the kind of the action.
    const reading = readOrder(context, workflowId).catch(() => undefined);
    const answer = await startedUpdate(context, workflowId, withdrawUpdate, request, how);
    if (answer !== undefined) return answer;
    const record = (await reading)?.actions.find((one) => one.number === number);
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
    sendUpdate(context.client, Date.now() + ANSWER_WITHIN_MS, () =>
      handle.executeUpdate(definition, options),
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
