/** How updates are sent to an order, whatever they ask. */
import type { WorkflowUpdateHandle } from '@temporalio/client';
import { OrderScreeningError } from '../orders/errors.ts';
import type { ClientContext } from './context.ts';
import { isExhausted, isUnanswered, temporalUnavailable, toOrderError } from './temporal-errors.ts';
import { ANSWER_WITHIN_MS, within } from './within.ts';

/** What names an update; without an id it is random. */
export interface UpdateName {
  updateId?: string;
}

/**
 * Sends an update, and once more under another id when the order took it and refused it after all, since it changed in that
 * very moment: Temporal keeps the outcome of an id for ever. Both times share the caller's deadline.
 * @throws OrderScreeningError `busy` when the server takes no more updates of this order for now; others as they come
 */
export async function sendUpdate<T>(
  updateId: string | undefined,
  send: (name: UpdateName) => Promise<T>,
): Promise<T> {
  try {
    return await once(updateId, send);
  } catch (error) {
    const known = toOrderError(error);
    if (!(known instanceof OrderScreeningError) || known.code !== 'late') throw error;
    return once(updateId === undefined ? undefined : `${updateId}:late`, send);
  }
}

async function once<T>(updateId: string | undefined, send: (name: UpdateName) => Promise<T>): Promise<T> {
  try {
    return await send(updateId === undefined ? {} : { updateId });
  } catch (error) {
    throw isExhausted(error) ? busy(error) : error;
  }
}

/**
 * Sends an update whose work goes on by itself once the order has accepted it.
 * @returns undefined when it was accepted, and has no answer within 10 s
 * @throws OrderScreeningError `temporal-unavailable` when it wasn't accepted in time, `busy`; others as they come
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
    // Not even accepted: nothing of it is recorded, so it can't be promised to go on.
    if (!accepted) throw temporalUnavailable(error);
    return undefined;
  }
}

function busy(cause: unknown): OrderScreeningError {
  const error = new OrderScreeningError(
    'busy',
    'Too many requests wait for this order, and this one was not taken: send it again',
  );
  error.cause = cause;
  return error;
}
