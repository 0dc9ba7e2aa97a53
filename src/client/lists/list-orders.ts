/** Lists orders by Temporal's visibility, with their records. It lags by up to 2 s. Needs no worker. */
import { orderOfWorkflowId, orderWorkflowId } from '../../contract/ids.ts';
import type { OrderList } from '../../contract/order/order.ts';
import { type Instant, instant, latest } from '../../contract/words.ts';
import { defined } from '../../order/defined.ts';
import { checked } from '../read-requests.ts';
import { isNewestRun, type Run, runOf } from '../reading/describe-order.ts';
import { withFailedTriesInList } from '../reading/failed-tries.ts';
import { readMemo } from '../reading/order-record.ts';
import { summaryOf } from '../reading/read-orders.ts';
import type { ClientContext, OrderRows, Queue, QueuedOrder } from '../types.ts';
import { inBatches } from './in-batches.ts';
import { type ListRequest, listRequestSchema, queryOf } from './list-request.ts';
import type { OpenOrders } from './open-orders.ts';
import { listWorkflows, PAGE } from './visibility.ts';

/** More orders than people can work through; reading them takes about a second. */
const MOST_ORDERS = 2_000;
const HOUR_MS = 3_600_000;
/** Visibility on SQL can't sort: a larger queue is read in windows of the deadline, whose ends are this many hours from now. */
const WINDOW_ENDS = [12, 48, 120];

/** Reads the orders that may need a person; of too many, open ones with the nearest deadlines ahead. */
export async function listQueue(
  context: ClientContext,
  of: Pick<ListRequest, 'integration' | 'integrations'>,
): Promise<Queue> {
  if (of.integrations?.length === 0) return { orders: [], cut: false };
  const all = await queueWithin(context, of, MOST_ORDERS);
  if (!all.cut) return all;
  const now = instant(Date.now());
  const ends = WINDOW_ENDS.map((hours) => instant(Date.now() + hours * HOUR_MS));
  const ofOpen: ListRequest['cancelBy'][] = [
    ...ends.map((until, index) => ({ from: ends[index - 1] ?? now, until })),
    { from: ends.at(-1) },
    { until: now },
    'none',
  ];
  const parts = [...ofOpen.map((cancelBy) => ({ open: true, cancelBy })), { open: false }];
  const orders: QueuedOrder[] = [];
  for (const part of parts) {
    const room = MOST_ORDERS - orders.length;
    if (room > 0) orders.push(...(await queueWithin(context, { ...of, ...part }, room)).orders);
  }
  return { orders, cut: orders.length === MOST_ORDERS };
}

async function queueWithin(context: ClientContext, of: ListRequest, room: number): Promise<Queue> {
  const query = queryOf(checked(listRequestSchema, { ...of, queued: true }));
  const orders: QueuedOrder[] = [];
  let place: Uint8Array | undefined;
  do {
    const page = await rowsOf(context, query, Math.min(PAGE, room - orders.length), place);
    orders.push(...page.orders);
    place = page.place;
  } while (place !== undefined && orders.length < room);
  return { orders, cut: place !== undefined };
}

export async function listOrders(context: ClientContext, request: ListRequest = {}): Promise<OrderList> {
  const { orders, ...place } = await listRows(context, request);
  return { orders: orders.map(({ summary }) => summary), ...place };
}

const DEFAULT_LIMIT = 50;

/** Lists orders, newest first. @param openOrders also finds those of whose id `find` is a part; they come last, beyond the limit */
export async function listRows(
  context: ClientContext,
  raw: ListRequest = {},
  openOrders?: Pick<OpenOrders, 'find'>,
): Promise<OrderRows> {
  const request = checked(listRequestSchema, raw);
  if (request.integrations?.length === 0) return { orders: [] };
  const { find, cursor, limit = DEFAULT_LIMIT } = request;
  const partly = find && cursor === undefined ? ((await openOrders?.find(find, request)) ?? []) : [];
  const from = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url');
  const { orders, place } = await rowsOf(context, queryOf(request, partly), limit + partly.length, from);
  const isPart = ({ summary: { integration, orderId } }: QueuedOrder) =>
    orderId !== find && partly.includes(orderWorkflowId(integration, orderId));
  orders.sort((a, b) => Number(isPart(a)) - Number(isPart(b)));
  return defined({ orders, cursor: place && Buffer.from(place).toString('base64url') });
}

/** Returns the orders of a visibility query, with the place of the next ones. */
async function rowsOf(
  context: ClientContext,
  query: string,
  limit: number,
  from?: Uint8Array,
): Promise<{ orders: QueuedOrder[]; place: Uint8Array | undefined }> {
  const { executions, place } = await listWorkflows(context.client, query, limit, from);
  const runs = executions.map(runOf);
  // A reset of an ended order, or its start again, leaves the earlier run completed.
  const starts = new Map<string, Instant>();
  for (const { workflowId, startedAt } of runs)
    starts.set(workflowId, latest(startedAt, starts.get(workflowId) ?? startedAt));
  const newest = runs.filter(({ workflowId, startedAt }) => starts.get(workflowId) === startedAt);
  const orders = (await inBatches(newest, (run) => rowOf(context, run))).flat();
  // A page that only loses rows would look like the end.
  if (orders.length === 0 && runs.length > 0 && place) return rowsOf(context, query, limit, place);
  return { orders, place };
}

/**
 * Returns an order of visibility; empty for a workflow with a different id, and for a run that a later one replaced. Each is read alone, so
 * that one can't fail the list.
 */
async function rowOf(context: ClientContext, run: Run): Promise<QueuedOrder[]> {
  const key = orderOfWorkflowId(run.workflowId);
  if (key === undefined || (await isReplaced(context, run))) return [];
  const { record, problem } = await readMemo(context, run).then(
    (record) => ({ record, problem: undefined }),
    () => ({ record: undefined, problem: 'record-unreadable' as const }),
  );
  const isOpen = run.closedAt === undefined;
  const state = record && isOpen ? await withFailedTriesInList(context, run.workflowId, record) : record;
  return [defined({ summary: summaryOf(key, run, state, problem), state })];
}

/** A reset leaves the previous run terminated. Whatever can't be read stays in the list. */
async function isReplaced(context: ClientContext, run: Run): Promise<boolean> {
  if (run.status === 'open' || run.status === 'completed') return false;
  return !(await isNewestRun(context, run).catch(() => true));
}
