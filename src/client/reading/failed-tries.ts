/** Failed tries of what an open order is doing: its portal actions, and the screening of a held order. Needs no worker. */
import type { Payload } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { type BackgroundActivities, MEASURED_TIME } from '../../contract/activity-contract.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { FailedTries } from '../../contract/order/state.ts';
import { millis } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { cancelAsked } from '../../order/transactions.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import { type DescribedOrder, describeOrder, instantOf } from './describe-order.ts';

const MAX_CHARACTERS = 300;

/**
 * Returns the record of an open order with the failed tries, which only Temporal's server knows.
 * @param order absent: only a held order has the reason of its checkout
 */
export async function withFailedTries(
  context: ClientContext,
  order: DescribedOrder | undefined,
  record: OrderRecord,
): Promise<OrderRecord> {
  const found = await triesIn(context, order);
  const running = record.actions.filter(({ status }) => status === 'running');
  const actions = record.actions.map((one) => {
    if (one.status !== 'running') return one;
    const own = running.length === 1 ? found[0] : found.find(({ action }) => action === one.number);
    return { ...one, ...own?.failed };
  });
  if (!isHeld(record)) return { ...record, actions };
  const [screening] = await triesIn(context, order, 'catchUp');
  return { ...record, actions, held: { ...defined({ lastError: record.reason }), ...screening?.failed } };
}

/** A portal action that takes longer may have failed. */
const ASK_AFTER_MS = 2_000;

/** The same for an order in a list. Asks the server only about an order with a portal action that takes long. */
export async function withFailedTriesInList(
  context: ClientContext,
  workflowId: string,
  record: OrderRecord,
): Promise<OrderRecord> {
  const asks = record.actions.some(
    ({ status, requestedAt }) => status === 'running' && Date.now() - millis(requestedAt) >= ASK_AFTER_MS,
  );
  const order = asks ? await describeOrder(context, workflowId).catch(() => undefined) : undefined;
  return withFailedTries(context, order, record);
}

/** Returns whether the checkout got no decision, and the order is still being screened. */
function isHeld(record: OrderRecord): boolean {
  const isAnswered = record.attempts.at(-1)?.answer !== undefined;
  return record.phase === 'screening' && record.decision === 'pending' && !cancelAsked(record) && isAnswered;
}

/** Returns the failed tries of each running call of that activity, by default of portal actions. `action`: the number of the action. */
export async function triesIn(
  context: Pick<ClientContext, 'client'>,
  order: DescribedOrder | undefined,
  name: keyof BackgroundActivities = 'performPortalAction',
): Promise<{ action?: number; failed: FailedTries }[]> {
  if (order === undefined) return [];
  const read = (payload: Payload | null | undefined) =>
    decoded(context, order.workflowId, payload).catch(() => undefined);
  const pending = order.raw.pendingActivities?.filter(({ activityType }) => activityType?.name === name);
  return Promise.all((pending ?? []).map((one) => failedTries(one, read)));
}

const encodedSchema = z.object({ message: z.string() });

/** The failures of a portal action have its number in their details. */
async function failedTries(
  { attempt, lastFailure, nextAttemptScheduleTime }: temporal.api.workflow.v1.IPendingActivityInfo,
  read: (payload: Payload | null | undefined) => Promise<unknown>,
): Promise<{ action?: number; failed: FailedTries }> {
  // While an activity waits for its next try, `attempt` is the number of that try.
  const tries = (attempt ?? 1) - 1;
  const { message, encodedAttributes, applicationFailureInfo } = lastFailure ?? {};
  const { type, details } = applicationFailureInfo ?? {};
  if (tries < 1 || (tries === 1 && type === MEASURED_TIME)) return { failed: {} };
  const encoded = encodedSchema.safeParse(await read(encodedAttributes)).data;
  const action = z.int().safeParse(await read(details?.payloads?.[0])).data;
  const words = encodedAttributes ? (encoded?.message ?? type) : message;
  const lastError = words?.slice(0, MAX_CHARACTERS);
  const nextTryAt = instantOf(nextAttemptScheduleTime);
  return defined({ action, failed: defined({ tries, lastError, nextTryAt }) });
}
