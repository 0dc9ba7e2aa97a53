/** Failed tries of what an open order is doing: its portal actions, and the screening of a held order. Needs no worker. */
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import type { BackgroundActivities } from '../contract/activity-contract.ts';
import type { OrderRecord } from '../contract/order-record.ts';
import type { FailedTries } from '../contract/state.ts';
import { defined } from '../orders/defined.ts';
import { decoded } from './decode.ts';
import { type DescribedOrder, describeOrder, instantOf } from './describe-order.ts';
import type { ClientContext } from './types.ts';

type Pending = temporal.api.workflow.v1.IPendingActivityInfo;

const PORTAL: keyof BackgroundActivities = 'performPortalAction';
const CATCH_UP: keyof BackgroundActivities = 'catchUp';
const MAX_CHARACTERS = 300;

/** Returns the record with the failed tries, which only Temporal's server knows. */
export async function withFailedTries(
  context: ClientContext,
  { workflowId, status, raw }: DescribedOrder,
  record: OrderRecord,
): Promise<OrderRecord> {
  if (status !== 'open') return record;
  const of = (name: string) =>
    Promise.all(
      (raw.pendingActivities ?? [])
        .filter(({ activityType }) => activityType?.name === name)
        .map((one) => triesOf(context, workflowId, one)),
    );
  const running = record.actions.filter((one) => one.status === 'running');
  const found = running.length > 0 ? await of(PORTAL) : [];
  const [screening] = isHeld(record) ? await of(CATCH_UP) : [];
  const actions = record.actions.map((one) => {
    if (!running.includes(one)) return one;
    const own = running.length === 1 ? found[0] : found.find(({ action }) => action === one.number);
    return { ...one, ...own?.failed };
  });
  return withHeld({ ...record, actions }, screening?.failed);
}

/** The same for an order in a list. Asks the server only about orders with a running portal action. */
export async function withFailedTriesInList(
  context: ClientContext,
  workflowId: string,
  record: OrderRecord,
): Promise<OrderRecord> {
  if (!record.actions.some(({ status }) => status === 'running')) return withHeld(record);
  const description = await describeOrder(context, workflowId).catch(() => undefined);
  return description === undefined ? withHeld(record) : withFailedTries(context, description, record);
}

function withHeld(record: OrderRecord, tries: FailedTries = {}): OrderRecord {
  return isHeld(record)
    ? { ...record, held: { ...defined({ lastError: record.reason }), ...tries } }
    : record;
}

/** Returns whether the checkout got no decision, and the order is still being screened. */
function isHeld({ phase, decision, cancelAsked, attempts }: OrderRecord): boolean {
  return (
    phase === 'screening' && decision === 'pending' && !cancelAsked && attempts.at(-1)?.answer !== undefined
  );
}

/** The failure of a try that only measured the server's time. */
const MEASURED = 'server-time';

/** @returns the failed tries, and the portal action's number, which the activity's failure has in its details */
async function triesOf(
  context: ClientContext,
  workflowId: string,
  { attempt, lastFailure, nextAttemptScheduleTime }: Pending,
): Promise<{ action?: number; failed: FailedTries }> {
  // While an activity waits for its next try, `attempt` is the number of that try.
  const tries = (attempt ?? 1) - 1;
  const { type, details } = lastFailure?.applicationFailureInfo ?? {};
  if (tries < 1 || (tries === 1 && type === MEASURED)) return { failed: {} };
  const read = async (payload: Parameters<typeof decoded>[2] | null | undefined) =>
    payload && decoded(context, workflowId, payload).catch(() => undefined);
  const { data: said } = z
    .object({ message: z.string() })
    .safeParse(await read(lastFailure?.encodedAttributes));
  const { data: action } = z.int().safeParse(await read(details?.payloads?.[0]));
  const words = lastFailure?.encodedAttributes ? (said?.message ?? type) : lastFailure?.message;
  const lastError = words?.slice(0, MAX_CHARACTERS);
  return defined({
    action,
    failed: defined({ tries, lastError, nextTryAt: instantOf(nextAttemptScheduleTime) }),
  });
}
