import type { ClientContext } from './context.ts';
import { closedOrder } from './read-order.ts';
import { isEnded, orderClosed, toOrderError } from './temporal-errors.ts';
import { ANSWER_WITHIN_MS, within } from './within.ts';

/**
 * Sends an open order a message.
 * @returns its answer
 * @throws OrderScreeningError `order-closed`, `unknown-order`, `temporal-unavailable`, or whatever the order says
 */
export async function toOpenOrder<T>(
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
    if (!isEnded(error)) throw toOrderError(error);
    await closedOrder(context, workflowId);
    throw orderClosed();
  }
}
