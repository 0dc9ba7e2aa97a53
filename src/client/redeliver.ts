/** Sends an event of an order once more, of an open order or a closed one: the order itself has no part in it. */
import { OrderScreeningError } from '../orders/errors.ts';
import { type OrderKey, orderWorkflowId, redeliveryWorkflowId, TASK_QUEUE } from '../orders/ids.ts';
import { REDELIVER_EVENT, type RedeliveryAnswer } from '../orders/messages.ts';
import { eventToSend } from '../orders/record.ts';
import { readOrder } from './read-orders.ts';
import { readBy } from './read-requests.ts';
import { ANSWER_WITHIN_MS, isUnanswered, toOrderError, within } from './temporal-errors.ts';
import type { ClientContext, PortalOptions } from './types.ts';

/** @see OrderScreening.redeliver */
export async function redeliver(
  context: ClientContext,
  key: OrderKey,
  sequence: number,
  how: Pick<PortalOptions, 'by'> = {},
): Promise<RedeliveryAnswer> {
  const { by } = readBy(how);
  const { client } = context;
  const order = await readOrder(context, orderWorkflowId(key.integration, key.orderId));
  const kept = order.events.last?.find((one) => one.sequence === sequence);
  if (kept === undefined) {
    throw new OrderScreeningError('unknown-event', `The order keeps no event ${sequence}`);
  }
  const event = eventToSend(order, kept);
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const workflowId = redeliveryWorkflowId(key, sequence);
  const answer = { ...key, sequence, type: event.type };
  let taken = false;
  try {
    await within(client, deadline, async () => {
      const handle = await client.workflow.start(REDELIVER_EVENT, {
        workflowId,
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
