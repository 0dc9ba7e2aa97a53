/** Reads an order from Temporal's server; needs no worker. */
import { WorkflowFailedError } from '@temporalio/client';
import { hasCode, type OrderErrorCode, OrderScreeningError } from '../../contract/errors.ts';
import type { OrderKey } from '../../contract/ids.ts';
import type { OrderSummary } from '../../contract/order/order.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { millis } from '../../contract/words.ts';
import { CLOSED_ATTENTION_MS } from '../../order/attention.ts';
import { defined } from '../../order/defined.ts';
import { whyUnread } from '../../order/messages/check-messages.ts';
import { cancelByOf } from '../../order/transactions.ts';
import {
  callTemporal,
  endingBy,
  orderClosed,
  READ_WITHIN_MS,
  recordUnreadable,
  unknownOrder,
} from '../temporal-errors.ts';
import type { ClientContext, View } from '../types.ts';
import { type DescribedOrder, isRefusedStart, newestStarted, type Run } from './describe-order.ts';
import { withFailedTries } from './failed-tries.ts';
import { withHistory } from './full-order.ts';
import { readRecord } from './order-record.ts';
import { withShown } from './shown-fields.ts';

/** @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `record-unreadable`, and the error that refused the order's start */
export async function readOrder(
  context: ClientContext,
  workflowId: string,
  view: View = 'record',
): Promise<OrderRecord> {
  const description = await newestStarted(context, workflowId);
  if (description === undefined) throw unknownOrder();
  return recordOfOrder(context, description, view);
}

/** Reads the record of a described order, in the full view with the fields that its policy shows. @throws OrderScreeningError as `readOrder` */
export function recordOfOrder(
  context: ClientContext,
  description: DescribedOrder,
  view: View = 'record',
): Promise<OrderRecord> {
  return endingBy(Date.now() + READ_WITHIN_MS, async () => {
    const { status, closedAt } = description;
    if (view === 'full' && status === 'completed')
      return withShown(context, description, await finalRecord(context, description));
    const bounded = await boundedRecord(context, description);
    const isLost = status === 'closed' && bounded.endedAt === undefined;
    const record = isLost ? { ...bounded, ...defined({ closedAt }) } : bounded;
    if (view === 'record') return record;
    return withShown(context, description, await withHistory(context, description, record));
  });
}

async function boundedRecord(context: ClientContext, description: DescribedOrder): Promise<OrderRecord> {
  const { status } = description;
  // An order whose start was refused has only a failure.
  if (status === 'failed') return finalRecord(context, description);
  const record = await readRecord(context, description);
  if (record === undefined) throw status === 'closed' ? orderClosed() : recordUnreadable();
  return status === 'open' ? withFailedTries(context, description, record) : record;
}

/** Returns the result of a closed order's run. @throws OrderScreeningError if it has none */
export async function finalRecord(
  { client }: ClientContext,
  { workflowId, runId }: Run,
): Promise<OrderState> {
  try {
    const read = () => client.workflow.getHandle<() => Promise<OrderState>>(workflowId, runId).result();
    const record = await callTemporal(client, READ_WITHIN_MS, read);
    const why = whyUnread(record);
    if (why !== undefined) throw recordUnreadable(new Error(why));
    return record;
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw orderClosed();
    throw hasCode(error, ...NOTHING_ADOPTED) ? unknownOrder() : error;
  }
}

/** Errors that end an adoption before there is an order. */
export const NOTHING_ADOPTED: readonly OrderErrorCode[] = [
  'unknown-transaction',
  'transaction-without-decision',
  'invoice-mismatch',
  'screening-service-unavailable',
];

/** Errors that refuse a start before anything is sent, so the order id is still free for a valid start. */
export const NOTHING_STARTED: readonly OrderErrorCode[] = [
  'invalid-request',
  'card-data-in-request',
  'unknown-integration',
];

/**
 * Returns the record of an order that no longer accepts updates.
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `order-closed` for an order without a record
 */
export async function closedOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const description = await newestStarted(context, workflowId);
  if (description === undefined) throw unknownOrder();
  try {
    return await finalRecord(context, description);
  } catch (error) {
    // A failed run without a window has only the refusal of its start. A worker with a wrong payload key encrypts even that with it.
    const isUnread = isRefusedStart(description) && hasCode(error, 'record-unreadable');
    if (isUnread || hasCode(error, ...NOTHING_STARTED)) throw unknownOrder();
    if (hasCode(error, 'temporal-unavailable', 'unknown-order', 'record-unreadable')) throw error;
    // The error of the start says nothing about the current request.
    throw error instanceof OrderScreeningError ? orderClosed() : error;
  }
}

/** Returns the list entry of an order, from its search attributes and its record. */
export function summaryOf(
  key: OrderKey,
  { attributes, startedAt, closedAt }: Run,
  record: OrderRecord | undefined,
  problem: OrderSummary['problem'],
): OrderSummary {
  const newest = record?.attempts.at(-1);
  const nowMs = Date.now();
  const counts = closedAt === undefined || nowMs - millis(closedAt) < CLOSED_ATTENTION_MS;
  // Only a worker ends a snooze in the record and the search attributes.
  const snooze = record?.snoozedUntil;
  const isSnoozed = snooze !== undefined && closedAt === undefined && millis(snooze) > nowMs;
  const isOver = snooze !== undefined && !isSnoozed;
  const needed = isOver ? undefined : attributes.needsAttention;
  return defined({
    ...key,
    startedAt,
    closedAt,
    needsAttention: counts && (needed ?? (record?.attention ?? []).length > 0),
    transactionIds: attributes.transactionId,
    phase: attributes.phase ?? record?.phase,
    decision: attributes.decision ?? record?.decision,
    action: attributes.action ?? record?.action,
    cancelBy: attributes.cancelBy ?? (record && newest && cancelByOf(record, newest)),
    amount: attributes.amount,
    currency: record?.currency,
    reason: record?.reason,
    attention: record?.attention.length ? record.attention : undefined,
    actions: pendingActions(record),
    held: record?.held,
    assignee: record?.assignee,
    snoozedUntil: isSnoozed ? snooze : undefined,
    problem,
  });
}

function pendingActions(record: OrderRecord | undefined): OrderSummary['actions'] {
  const pending = (record?.actions ?? []).flatMap(({ number, kind, status, requestedAt, ...one }) => {
    if (status !== 'queued' && status !== 'running') return [];
    const { tries, lastError, nextTryAt } = one;
    return [{ number, kind, status, requestedAt, ...defined({ tries, lastError, nextTryAt }) }];
  });
  return pending.length > 0 ? pending : undefined;
}
