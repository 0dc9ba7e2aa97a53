/** Reads one order from Temporal: from its query, from its result, and from what the server itself knows. Writes many as CSV. */
import {
  QueryNotRegisteredError,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Timestamp, TypedSearchAttributes } from '@temporalio/common';
import { z } from 'zod';
import { PayloadCodecError } from '../codec/payload-codec.ts';
import { POLL_UNCHANGED, type PollActivities } from '../orders/activity-contract.ts';
import { orderAttributes } from '../orders/describe.ts';
import { type OrderErrorCode, OrderScreeningError } from '../orders/errors.ts';
import { type OrderKey, orderOfWorkflowId } from '../orders/ids.ts';
import { orderQuery } from '../orders/messages.ts';
import type { OrderState } from '../orders/state.ts';
import { ACTIONS, type Instant, instant, ORDER_DECISIONS, PHASES } from '../orders/words.ts';
import {
  asOrderError,
  orderClosed,
  READ_WITHIN_MS,
  readable,
  toOrderError,
  unknownOrder,
  within,
} from './temporal-errors.ts';
import type { ClientContext, InspectedOrder, OrderList, OrderSummary, PollTimes } from './types.ts';

/** @returns the whole state @throws OrderScreeningError `unknown-order`, `temporal-unavailable` */
export async function readOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const found = await findOrder(context, workflowId);
  if (found === undefined) throw unknownOrder();
  return found;
}

/** @returns the whole state; undefined when Temporal knows no such order */
export async function findOrder(context: ClientContext, workflowId: string): Promise<OrderState | undefined> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) return undefined;
  return isOpen(description) ? openState(context, workflowId) : finalRecord(context, workflowId);
}

/** @returns whether an order goes on; also one that an operator has paused, or is in a state of newer servers */
export function isOpen({ closeTime }: WorkflowExecutionDescription): boolean {
  return closeTime === undefined;
}

/** @returns the state of an open order, from a worker @throws OrderScreeningError `temporal-unavailable` without one */
export async function openState(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  const read = () => client.workflow.getHandle(workflowId).query(orderQuery);
  return readable(await asOrderError(() => within(client, Date.now() + withinMs, read)));
}

/** @returns what the server knows of an order, which takes no worker; undefined when it knows none */
export async function describeOrder(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await within(client, Date.now() + withinMs, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw toOrderError(error);
  }
}

/** @returns the state that a closed order's workflow returned @throws OrderScreeningError when it has none */
export async function finalRecord(
  { client }: ClientContext,
  workflowId: string,
  withinMs: number = READ_WITHIN_MS,
): Promise<OrderState> {
  try {
    const read = () => client.workflow.getHandle<() => Promise<OrderState>>(workflowId).result();
    return readable(await within(client, Date.now() + withinMs, read));
  } catch (error) {
    const known = toOrderError(error);
    if (known instanceof OrderScreeningError && NOTHING_ADOPTED.includes(known.code)) throw unknownOrder();
    if (error instanceof WorkflowFailedError && !(known instanceof OrderScreeningError)) throw orderClosed();
    throw known;
  }
}

/** With these an adoption fails before it is an order: there is none then. */
const NOTHING_ADOPTED: readonly OrderErrorCode[] = [
  'unknown-transaction',
  'transaction-without-decision',
  'invoice-mismatch',
  'screening-service-unavailable',
];

/**
 * Says what it means that an order no longer took an update.
 * @returns the record of the closed order
 * @throws OrderScreeningError `unknown-order`, `temporal-unavailable`, `order-closed` for one that has no record
 */
export async function closedOrder(context: ClientContext, workflowId: string): Promise<OrderState> {
  const description = await describeOrder(context, workflowId);
  if (description === undefined) throw unknownOrder();
  try {
    return await finalRecord(context, workflowId);
  } catch (error) {
    // Nothing was sent for it, so its id is free for a start that can be read.
    if (error instanceof OrderScreeningError && NEVER_BEGAN.includes(error.code)) throw unknownOrder();
    // What was wrong when the order was started isn't wrong with what is asked of it now.
    const other = error instanceof OrderScreeningError && !TOLD_AS_IT_IS.includes(error.code);
    throw other ? orderClosed() : error;
  }
}

/** With these a start is refused before anything is sent. */
const NEVER_BEGAN: readonly OrderErrorCode[] = ['invalid-request', 'card-data-in-request'];
const TOLD_AS_IT_IS: readonly OrderErrorCode[] = ['temporal-unavailable', 'unknown-order'];

// All that can be known of an order: from the server alone, and from a worker where one answers.

/** The poll is one activity, which the server tries again after each pause. */
const POLL: keyof PollActivities = 'pollStatus';
/** The first attempt only waits for the first pause; reading begins with the second. */
const FIRST_THAT_READS = 2;

/** @see OrderScreening.inspect */
export async function inspectOrder(
  context: ClientContext,
  workflowId: string,
  { withinMs = READ_WITHIN_MS }: { withinMs?: number } = {},
): Promise<InspectedOrder> {
  const deadline = Date.now() + withinMs;
  const description = await describeOrder(context, workflowId, withinMs);
  const name = orderOfWorkflowId(workflowId);
  if (description === undefined || name === undefined) throw unknownOrder();
  const { typedSearchAttributes, startTime, closeTime, runId } = description;
  const poll = pollTimes(description);
  return {
    summary: summaryOf(name, typedSearchAttributes, startTime.toISOString(), closeTime?.toISOString()),
    runId,
    ...(await stateOf(context, description, deadline - Date.now())),
    ...(poll && { poll }),
  };
}

async function stateOf(
  context: ClientContext,
  description: WorkflowExecutionDescription,
  withinMs: number,
): Promise<{ state: OrderState } | Pick<Required<InspectedOrder>, 'missing'>> {
  const open = isOpen(description);
  try {
    return { state: await (open ? openState : finalRecord)(context, description.workflowId, withinMs) };
  } catch (error) {
    // The client's name for every query that a worker took and failed, such as a history that it can't replay.
    if (error instanceof QueryNotRegisteredError) return { missing: 'unreadable' };
    if (error instanceof PayloadCodecError) return { missing: 'undecryptable' };
    if (!(error instanceof OrderScreeningError)) throw error;
    if (error.code === 'temporal-unavailable') return { missing: 'no-worker' };
    // Closed, or refused when it was started: with the code of what was wrong.
    if (!open) return { missing: 'no-record' };
    throw error;
  }
}

function pollTimes({ raw }: WorkflowExecutionDescription): PollTimes | undefined {
  const poll = raw.pendingActivities?.find(({ activityType }) => activityType?.name === POLL);
  if (poll === undefined) return undefined;
  const nextAt = instantOf(poll.nextAttemptScheduleTime);
  // While it waits, `attempt` counts the next one.
  const done = (poll.attempt ?? 1) - 1;
  const lastAt = done >= FIRST_THAT_READS ? instantOf(poll.lastAttemptCompleteTime) : undefined;
  return {
    ...(lastAt !== undefined && {
      lastAt,
      answered: poll.lastFailure?.applicationFailureInfo?.type === POLL_UNCHANGED,
    }),
    ...(nextAt !== undefined && { nextAt }),
  };
}

const phases = z.enum(PHASES);
const decisions = z.enum(ORDER_DECISIONS);
const actions = z.enum(ACTIONS);

/** @returns an order as Temporal's server shows it, without a worker */
export function summaryOf(
  name: OrderKey,
  attributes: TypedSearchAttributes,
  startedAt: Instant,
  closedAt: Instant | undefined,
): OrderSummary {
  const phase = phases.safeParse(attributes.get(orderAttributes.phase));
  const decision = decisions.safeParse(attributes.get(orderAttributes.decision));
  const action = actions.safeParse(attributes.get(orderAttributes.action));
  const until = attributes.get(orderAttributes.cancelBy);
  const amount = attributes.get(orderAttributes.amount);
  return {
    ...name,
    startedAt,
    ...(closedAt !== undefined && { closedAt }),
    needsAttention: attributes.get(orderAttributes.needsAttention) ?? false,
    transactionIds: attributes.get(orderAttributes.transactionId) ?? [],
    ...(phase.success && { phase: phase.data }),
    ...(decision.success && { decision: decision.data }),
    ...(action.success && { action: action.data }),
    ...(until !== undefined && { cancelBy: until.toISOString() }),
    ...(amount !== undefined && { amount }),
  };
}

/** @returns a moment of Temporal's API as the product writes it, to the millisecond; undefined when it is none */
export function instantOf(at: Timestamp | null | undefined): Instant | undefined {
  const ms = msOf(at);
  return ms === undefined ? undefined : instant(ms);
}

/** @returns milliseconds of a moment or a duration of Temporal's API; undefined when it is none */
export function msOf(time: Timestamp | null | undefined): number | undefined {
  if (time === null || time === undefined) return undefined;
  return Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1_000_000);
}

// Summaries as a file.

/** At most so many orders are in one file. */
const CSV_ROWS = 2_000;
const CSV_COLUMNS: Record<string, (order: OrderSummary) => string | number | undefined> = {
  order: ({ orderId }) => orderId,
  integration: ({ integration }) => integration,
  phase: ({ phase }) => phase,
  decision: ({ decision }) => decision,
  action: ({ action }) => action,
  attention: ({ needsAttention }) => (needsAttention ? 'yes' : 'no'),
  amount: ({ amount }) => amount,
  'cancel by': ({ cancelBy }) => cancelBy,
  came: ({ startedAt }) => startedAt,
  closed: ({ closedAt }) => closedAt,
  transactions: ({ transactionIds }) => transactionIds.join(' '),
};

/**
 * Writes all pages of a list as one file for spreadsheets; a last line says when it was cut.
 * @param read reads a page: the first one, then the one at each cursor
 */
export async function csvOf(read: (cursor?: string) => Promise<OrderList>): Promise<string> {
  const orders: OrderSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    orders.push(...page.orders);
    cursor = page.cursor;
  } while (cursor !== undefined && orders.length < CSV_ROWS);
  const rows = orders.map((order) => Object.values(CSV_COLUMNS).map((of) => of(order)));
  const cut = cursor !== undefined || orders.length > CSV_ROWS;
  const last = cut ? [[`Cut: these are the first ${CSV_ROWS} orders. Choose narrower filters.`]] : [];
  const lines = [Object.keys(CSV_COLUMNS), ...rows.slice(0, CSV_ROWS), ...last];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/** Against formula injection: a spreadsheet takes text that begins like these for a formula; a control character would move the cursor of a terminal. */
function csvCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return value === undefined ? '' : `${value}`;
  const plain = value.replace(/\p{Cc}+/gu, ' ');
  const text = /^\s*[=+\-@]/.test(plain) ? `'${plain}` : plain;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
