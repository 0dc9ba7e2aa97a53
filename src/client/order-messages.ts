/** The small messages to an order: an operator's acknowledgement and recheck. */

import { WorkflowNotFoundError } from '@temporalio/client';
import { acknowledgeUpdate, recheckSignal } from '../orders/messages.ts';
import type { ClientContext } from './context.ts';
import { closedOrder } from './read-order.ts';
import { orderClosed, toOrderError } from './temporal-errors.ts';
import type { PortalOptions } from './types.ts';
import { within } from './within.ts';

const ANSWER_WITHIN_MS = 10_000;

/** @see OrderScreening.acknowledge */
export async function acknowledge(
  context: ClientContext,
  workflowId: string,
  reason: string,
  { idempotencyKey }: PortalOptions = {},
): Promise<{ cleared: number }> {
  return toOpenOrder(context, workflowId, (handle) =>
    handle.executeUpdate(acknowledgeUpdate, {
      args: [{ reason }],
      ...(idempotencyKey !== undefined && { updateId: `acknowledge:${idempotencyKey}` }),
    }),
  );
}

/** @see OrderScreening.recheck */
export async function recheck(context: ClientContext, workflowId: string): Promise<{ status: 'requested' }> {
  await toOpenOrder(context, workflowId, (handle) => handle.signal(recheckSignal));
  return { status: 'requested' };
}

async function toOpenOrder<T>(
  context: ClientContext,
  workflowId: string,
  send: (handle: ReturnType<ClientContext['client']['workflow']['getHandle']>) => Promise<T>,
): Promise<T> {
  const { client } = context;
  try {
    return await within(client, Date.now() + ANSWER_WITHIN_MS, () =>
      send(client.workflow.getHandle(workflowId)),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw toOrderError(error);
    await closedOrder(context, workflowId);
    throw orderClosed();
  }
}
