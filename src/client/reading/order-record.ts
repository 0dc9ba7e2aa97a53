/** Reads an order's public record from its memo. Needs no worker. */
import type { Payload } from '@temporalio/common';
import type { BackgroundActivities } from '../../contract/activity-contract.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import { newOrderState } from '../../order/record.ts';
import { recordOf } from '../../order/view/bounded-record.ts';
import { RECORD, recordIn } from '../../order/view/order-memo.ts';
import type { ClientContext } from '../types.ts';
import { decoded } from './decode.ts';
import type { DescribedOrder } from './describe-order.ts';

/** The record in an order's memo, if there is one. `unreadable`: `cause` is the reason, such as a missing payload key. */
export interface FoundRecord {
  record?: OrderRecord | undefined;
  unreadable?: boolean;
  cause?: unknown;
}

/** Reads the record in a memo that `describe` or a list returned. */
export async function readMemo(
  context: ClientContext,
  workflowId: string,
  memo: { fields?: { [key: string]: Payload } | null } | null | undefined,
): Promise<FoundRecord> {
  const payload = memo?.fields?.[RECORD];
  const name = orderOfWorkflowId(workflowId);
  if (payload === undefined || name === undefined) return {};
  try {
    const record = recordIn(await decoded(context, workflowId, payload), name);
    return { record, unreadable: record === undefined };
  } catch (cause) {
    return { unreadable: true, cause };
  }
}

export async function readRecord(context: ClientContext, order: DescribedOrder): Promise<FoundRecord> {
  const { workflowId, status, startedAt, attributes, raw } = order;
  const found = await readMemo(context, workflowId, raw.workflowExecutionInfo?.memo);
  if (found.record) return { record: asDelivered(found.record, order) };
  const name = orderOfWorkflowId(workflowId);
  // The order was started without a memo, such as by the Temporal UI, and no worker has written one yet.
  const isNew = status === 'open' && (attributes.phase ?? 'screening') === 'screening';
  if (found.unreadable || !isNew || name === undefined) return found;
  return { record: recordOf(newOrderState(name, startedAt)) };
}

const DELIVERY: keyof BackgroundActivities = 'deliverEvents';

/** Counts waiting events as delivered if no delivery is running or paused: a delivery alone doesn't update the memo. */
function asDelivered(record: OrderRecord, { status, raw }: DescribedOrder): OrderRecord {
  const { paused, ...events } = record.events;
  const { delivered, waiting } = events;
  const underWay =
    paused ||
    raw.pendingWorkflowTask ||
    raw.pendingActivities?.some(({ activityType }) => activityType?.name === DELIVERY);
  if (waiting === 0 || (status !== 'completed' && (status !== 'open' || underWay)))
    return { ...record, events };
  return { ...record, events: { ...events, delivered: delivered + waiting, waiting: 0 } };
}
