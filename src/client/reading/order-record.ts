/** Reads an order's public record from its memo. Needs no worker. */
import type { BackgroundActivities } from '../../contract/activity-contract.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderSummary } from '../../contract/order/order.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import { newOrderState } from '../../order/record.ts';
import { recordOf } from '../../order/view/bounded-record.ts';
import { RECORD, recordIn } from '../../order/view/order-memo.ts';
import { recordUnreadable } from '../temporal-errors.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import type { DescribedOrder, Run } from './describe-order.ts';

/** Returns whether the workflow ended before the order did, so that nothing reads or cancels it. An order that ended is `closed` or `canceled`. */
export function isLost({ closedAt, phase = 'closed' }: Pick<OrderSummary, 'closedAt' | 'phase'>): boolean {
  return closedAt !== undefined && phase !== 'closed' && phase !== 'canceled';
}

/** Returns the record in a run's memo; undefined without one. @throws OrderScreeningError `record-unreadable` */
export async function readMemo(
  context: ClientContext,
  { workflowId, memo }: Run,
): Promise<OrderRecord | undefined> {
  const key = orderOfWorkflowId(workflowId);
  const value = await decoded(context, workflowId, memo?.[RECORD]);
  if (value === undefined || key === undefined) return undefined;
  const record = recordIn(value, key);
  if (record === undefined) throw recordUnreadable();
  return record;
}

/** @throws OrderScreeningError as `readMemo` */
export async function readRecord(
  context: ClientContext,
  order: DescribedOrder,
): Promise<OrderRecord | undefined> {
  const record = await readMemo(context, order);
  if (record !== undefined) return asDelivered(record, order);
  const key = orderOfWorkflowId(order.workflowId);
  // The order was started without a memo, such as by the Temporal UI, and no worker has written one yet.
  const isNew = order.status === 'open' && (order.attributes.phase ?? 'screening') === 'screening';
  return isNew && key ? recordOf(newOrderState(key, order.startedAt)) : undefined;
}

const DELIVERY: keyof BackgroundActivities = 'deliverEvents';

/** Counts waiting events as delivered if no delivery is running or paused: a delivery alone doesn't update the memo. */
function asDelivered(record: OrderRecord, { status, raw }: DescribedOrder): OrderRecord {
  const { paused, ...events } = record.events;
  const underWay =
    paused ||
    raw.pendingWorkflowTask ||
    raw.pendingActivities?.some(({ activityType }) => activityType?.name === DELIVERY);
  if (status !== 'completed' && (status !== 'open' || underWay)) return { ...record, events };
  return { ...record, events: { ...events, delivered: events.delivered + events.waiting, waiting: 0 } };
}
