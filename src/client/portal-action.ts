/** Portal actions of an open order, as updates; of a closed one see closed-order-action.ts. Design section 5. */

import type { UpdateDefinition } from '@temporalio/common';
import { OrderScreeningError } from '../orders/errors.ts';
import { type OrderKey, orderWorkflowId } from '../orders/ids.ts';
import {
  attachCustomerCodeUpdate,
  cancelUpdate,
  type PortalAnswer,
  type PortalFields,
  reportFraudUpdate,
  submitChargebackUpdate,
} from '../orders/messages.ts';
import { closedOrderAction, orderlessAction } from './closed-order-action.ts';
import type { ClientContext } from './context.ts';
import { findOrder } from './read-order.ts';
import { startedUpdate } from './send-update.ts';
import { isEnded, orderClosed, toOrderError, unknownOrder } from './temporal-errors.ts';
import type { PortalOptions } from './types.ts';

/** Makes a portal action. @returns the service's reply, or `requested` when there is none within 10 s */
export async function portalAction(
  context: ClientContext,
  order: OrderKey,
  fields: PortalFields,
  { idempotencyKey }: PortalOptions = {},
): Promise<PortalAnswer> {
  const workflowId = orderWorkflowId(order.integration, order.orderId);
  try {
    // The kind stands in front, so that no caller's key is an id that means something else.
    return await updateOrder(
      context,
      workflowId,
      order,
      fields,
      idempotencyKey && `${fields.kind}:${idempotencyKey}`,
    );
  } catch (error) {
    const known = isEnded(error) ? undefined : toOrderError(error);
    if (known !== undefined && !isOrderClosed(known)) throw known;
  }
  let gone = unknownOrder();
  const found = await findOrder(context, workflowId).catch((error: unknown) => {
    if (!(error instanceof OrderScreeningError) || error.code === 'temporal-unavailable') throw error;
    // Terminated, or refused when it was started: nothing of it is on record.
    gone = orderClosed();
    return undefined;
  });
  if (found !== undefined) return closedOrderAction(context, order, found, fields);
  if (fields.transactionId === undefined) throw gone;
  return orderlessAction(context, order, fields, fields.transactionId);
}

/** An order that has ended, and only waits for its last events to arrive, takes actions no more. */
function isOrderClosed(error: unknown): boolean {
  return error instanceof OrderScreeningError && error.code === 'order-closed';
}

async function updateOrder(
  context: ClientContext,
  workflowId: string,
  { integration, orderId }: OrderKey,
  { kind, ...fields }: PortalFields,
  updateId: string | undefined,
): Promise<PortalAnswer> {
  // Each definition takes the fields of its own kind, which is what `kind` says they are.
  const definition = UPDATES[kind] as UpdateDefinition<PortalAnswer, [typeof fields]>;
  const handle = context.client.workflow.getHandle(workflowId);
  const answer = await startedUpdate(context, updateId, (options) =>
    handle.startUpdate(definition, { args: [fields], ...options }),
  );
  return answer ?? { integration, orderId, kind, status: 'requested' };
}

const UPDATES = {
  cancel: cancelUpdate,
  'report-fraud': reportFraudUpdate,
  chargeback: submitChargebackUpdate,
  'customer-code': attachCustomerCodeUpdate,
} as const;
