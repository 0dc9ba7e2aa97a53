/** Reads an order from Temporal's server; needs no worker. */
import { WorkflowFailedError } from '@temporalio/client';
import { POLL_UNCHANGED, type PollActivities } from '../../contract/activity-contract.ts';
import { hasCode, type OrderErrorCode, OrderScreeningError } from '../../contract/errors.ts';
import { type OrderKey, orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderSummary } from '../../contract/order/order.ts';
import type { OrderRecord } from '../../contract/order/order-record.ts';
import type { OrderState } from '../../contract/order/state.ts';
import { type Instant, millis } from '../../contract/words.ts';
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
import type { ClientContext, InspectedOrder, PollTimes, View } from '../types.ts';
import type { Attributes } from './decode.ts';
import { type DescribedOrder, describeOrder, instantOf } from './describe-order.ts';
import { withFailedTries } from './failed-tries.ts';
import { tracesOf } from './full-order.ts';
import { mergedRecords } from './merged-records.ts';
import { type FoundRecord, readRecord } from './order-record.ts';
import { withShown } from './shown-fields.ts';

/** @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `record-unreadable`, and the error that refused the order's start */
export async function readOrder(
  context: ClientContext,
  workflowId: string,
  view: View = 'record',
): Promise<OrderRecord> {
  const description = await describeOrder(context, workflowId);
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
    if (view === 'record') return boundedRecord(context, description);
    const record =
      description.status === 'completed'
        ? await finalRecord(context, description.workflowId)
        : mergedRecords(await boundedRecord(context, description), await tracesOf(context, description));
    return withShown(context, description, record);
  });
}

async function boundedRecord(context: ClientContext, description: DescribedOrder): Promise<OrderRecord> {
  const { status, workflowId } = description;
  // An order whose start was refused has only a failure.
  if (status === 'failed') return finalRecord(context, workflowId);
  const { record, unreadable, cause } = await readRecord(context, description);
  if (record) return status === 'open' ? withFailedTries(context, description, record) : record;
  if (!unreadable && status === 'closed') throw orderClosed();
  throw recordUnreadable(cause);
}

/** Returns the result of a closed order's workflow. @throws OrderScreeningError if it has none */
export async function finalRecord({ client }: ClientContext, workflowId: string): Promise<OrderState> {
  try {
    const read = () => client.workflow.getHandle<() => Promise<OrderState>>(workflowId).result();
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
const NOTHING_ADOPTED: readonly OrderErrorCode[] = [
  'unknown-transaction',
  'transaction-without-decision',
  'invoice-mismatch',
  'screening-service-unavailable',
];

/**
 * Returns the record of an order that no longer accepts updates.
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `order-closed` for an order without a record
 */
export async function closedOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  try {
    return await finalRecord(context, workflowId);
  } catch (error) {
    // These refuse a start before anything is sent, so the order id is still free for a valid start.
    if (hasCode(error, 'invalid-request', 'card-data-in-request')) throw unknownOrder();
    if (hasCode(error, 'temporal-unavailable', 'unknown-order', 'record-unreadable')) throw error;
    // The error of the start says nothing about the current request.
    throw error instanceof OrderScreeningError ? orderClosed() : error;
  }
}

// Inspection: an order as the server has it.

/** A poll and a last read are one activity each, which the server retries after each pause: the first attempt that reads. */
const FIRST_THAT_READS: Record<keyof PollActivities | 'readStatusLast', number> = {
  pollStatus: 2,
  readStatusLast: 1,
};

export async function inspectOrder(
  context: ClientContext,
  workflowId: string,
  view: View,
): Promise<InspectedOrder> {
  const description = await describeOrder(context, workflowId);
  const name = orderOfWorkflowId(workflowId);
  if (description === undefined || name === undefined) throw unknownOrder();
  const { attributes, startedAt, closedAt, runId, raw } = description;
  const { state, missing } = await stateOf(context, description, view);
  const read = { record: state, unreadable: missing === 'undecryptable' };
  const summary = summaryOf(name, attributes, startedAt, closedAt, read);
  return defined({ summary, runId, state, missing, poll: pollTimes(raw) });
}

async function stateOf(
  context: ClientContext,
  description: DescribedOrder,
  view: View,
): Promise<Pick<InspectedOrder, 'state' | 'missing'>> {
  try {
    return { state: await recordOfOrder(context, description, view) };
  } catch (error) {
    if (!(error instanceof OrderScreeningError)) throw error;
    const unavailable = error.code === 'temporal-unavailable';
    // The history was too slow; the memo is already here.
    if (unavailable && view === 'full') return stateOf(context, description, 'record');
    if (error.code === 'record-unreadable') return { missing: 'undecryptable' };
    // The start was refused: the error has the reason's code.
    if (description.status !== 'open' && !unavailable) return { missing: 'no-record' };
    throw error;
  }
}

function pollTimes({ pendingActivities }: DescribedOrder['raw']): PollTimes | undefined {
  for (const [name, first] of Object.entries(FIRST_THAT_READS)) {
    const poll = pendingActivities?.find(({ activityType }) => activityType?.name === name);
    if (poll === undefined) continue;
    // While the activity waits, `attempt` is the number of the next attempt.
    const hasRead = (poll.attempt ?? 1) > first;
    const lastAt = hasRead ? instantOf(poll.lastAttemptCompleteTime) : undefined;
    const unchanged = poll.lastFailure?.applicationFailureInfo?.type === POLL_UNCHANGED;
    // A last read without news is not repeated within the order's life.
    const isOver = name === 'readStatusLast' && unchanged;
    return defined({
      lastAt,
      answered: lastAt === undefined ? undefined : unchanged,
      nextAt: isOver ? undefined : instantOf(poll.nextAttemptScheduleTime),
    });
  }
  return undefined;
}

/** Returns the list entry of an order, from its search attributes and its record. */
export function summaryOf(
  name: OrderKey,
  attributes: Attributes,
  startedAt: Instant,
  closedAt: Instant | undefined,
  { record, unreadable }: FoundRecord = {},
): OrderSummary {
  const newest = record?.attempts.at(-1);
  const counts = closedAt === undefined || Date.now() - millis(closedAt) < CLOSED_ATTENTION_MS;
  return defined({
    ...name,
    startedAt,
    closedAt,
    needsAttention: counts && (attributes.needsAttention ?? (record?.attention ?? []).length > 0),
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
    snoozedUntil: record?.snoozedUntil,
    problem: unreadable ? 'record-unreadable' : undefined,
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
