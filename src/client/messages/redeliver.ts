/** Sends an event of an order again, in a workflow of its own. */
import { WorkflowFailedError } from '@temporalio/client';
import type { RedeliveryAnswer } from '../../contract/answers.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import { type OrderKey, orderWorkflowId, redeliveryWorkflowId, TASK_QUEUE } from '../../contract/ids.ts';
import { type OrderEvent, REDELIVER_EVENT } from '../../contract/messages.ts';
import { eventToSend } from '../../order/events.ts';
import { newestStarted } from '../reading/describe-order.ts';
import { tracesOf } from '../reading/full-order.ts';
import { finalRecord } from '../reading/read-orders.ts';
import {
  ANSWER_WITHIN_MS,
  isUnanswered,
  temporalUnavailable,
  toOrderError,
  unknownOrder,
  unreadRequest,
  within,
} from '../temporal-errors.ts';
import type { ClientContext, PortalOptions } from '../types.ts';
import { readBy } from './portal-options.ts';

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
    const known = unreadRequest(error) ?? toOrderError(error);
    throw known instanceof WorkflowFailedError ? temporalUnavailable(known, ENDED_BY_HAND) : known;
  }
}

const ENDED_BY_HAND =
  'The redelivery was ended by hand in Temporal, so the outcome is unknown. Retrying the same request is safe';

/** @returns the event as it was sent: from the result of a completed order, else from the history */
async function eventOf(
  context: ClientContext,
  workflowId: string,
  sequence: number,
): Promise<OrderEvent | undefined> {
  const description = await newestStarted(context, workflowId);
  if (description === undefined) throw unknownOrder();
  const isIt = (one: { sequence: number }) => one.sequence === sequence;
  if (description.status !== 'completed') {
    const { events, unread } = await tracesOf(context, description);
    const sent = events.find(isIt);
    if (sent === undefined && unread !== undefined) throw unread;
    return sent;
  }
  const order = await finalRecord(context, description);
  const kept = order.events.last?.find(isIt);
  return kept && eventToSend(order, kept);
}
