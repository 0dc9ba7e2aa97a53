/** The small messages to an order: an operator's acknowledgement and recheck. */

import { acknowledgeUpdate, recheckSignal } from '../orders/messages.ts';
import type { ClientContext } from './context.ts';
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
