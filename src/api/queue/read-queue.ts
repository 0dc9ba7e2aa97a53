/**
 * The queue of orders, nearest deadline first. Temporal's visibility on SQL can't sort. So the queue is read in windows of the
 * deadline; each window is narrowed until its orders fit one answer, and is then sorted here.
 */
import { invalidRequest } from '../../client/read-requests.ts';
import { type Instant, instant, millis, type OrderDecision, type Phase } from '../../contract/words.ts';
import {
  type ListRequest,
  type OrderList,
  type OrderScreening,
  OrderScreeningError,
  type OrderSummary,
} from '../../starter.ts';

/** The values of the filter `show`. */
export const SHOWN = ['all', 'review', 'attention', 'any'] as const;
export type Show = (typeof SHOWN)[number];

/** The values of the deadline filter, in hours. */
export const WITHIN = ['6', '12', '24', '48'] as const;

/** The filters of the page. */
export interface QueueFilters {
  show: Show;
  /** An order id, invoice number or transaction id. Searches all orders and ignores `show`. */
  q?: string | undefined;
  integration?: string | undefined;
  decision?: OrderDecision | undefined;
  phase?: Phase | undefined;
  /** Maximum hours until the deadline. */
  within?: number | undefined;
  amountFrom?: number | undefined;
  amountTo?: number | undefined;
}

export interface QueueRequest extends QueueFilters {
  /** Only these integrations. */
  integrations?: readonly string[] | undefined;
  /** From the previous page. */
  cursor?: string | undefined;
}

export interface QueuePage {
  orders: OrderSummary[];
  /** Absent on the last page. */
  cursor?: string;
}

/** A page is longer if it would otherwise split orders with the same deadline. */
const PAGE_SIZE = 25;
const LIST_LIMIT = 100;
/** Maximum queries per page. Narrowing a window from all time to a millisecond takes about 80. */
const MAX_QUESTIONS = 200;
const HOUR_MS = 3_600_000;
/** Later than any deadline. */
const THE_END = instant(Date.UTC(9_999, 0));
/** Ends of the windows, in hours from now. */
const WINDOWS = [0, 12, 48, 120];

/** The position of the next page: at a deadline, in the open orders without a deadline, or in the closed orders. */
type Place = { at: 'deadline'; from: Instant } | { at: 'none' | 'closed'; token?: string };

/** @throws OrderScreeningError `invalid-request` for an invalid cursor, `temporal-unavailable` */
export async function readQueue(
  orderScreening: Pick<OrderScreening, 'list' | 'count'>,
  { cursor, ...request }: QueueRequest,
  nowMs: number,
): Promise<QueuePage> {
  const filters = listRequestOf(request);
  if (request.q !== undefined) return orderScreening.list({ ...filters, limit: PAGE_SIZE, cursor });
  // With a deadline filter, orders without a deadline are left out.
  const afterDeadlines: Place | undefined = request.within === undefined ? { at: 'none' } : undefined;
  const orders: OrderSummary[] = [];
  let questions = 0;
  let counted = false;
  // Ends of the windows, ascending. A window that begins at `from` ends at the first end after `from`.
  const theEnd = request.within === undefined ? THE_END : instant(nowMs + request.within * HOUR_MS);
  let ends = [
    ...WINDOWS.map((hours) => instant(nowMs + hours * HOUR_MS)).filter((end) => end < theEnd),
    theEnd,
  ];
  let place: Place | undefined =
    cursor === undefined ? { at: 'deadline', from: instant(0) } : placeOf(cursor);
  while (place !== undefined && orders.length < PAGE_SIZE) {
    const room = PAGE_SIZE - orders.length;
    const found: Found =
      place.at === 'deadline' ? await byDeadline(place.from, room) : await rest(place, room);
    orders.push(...found.orders);
    place = found.next;
  }
  return { orders, ...(place !== undefined && { cursor: cursorOf(place) }) };

  async function list(asked: ListRequest): Promise<OrderList> {
    questions += 1;
    if (questions > MAX_QUESTIONS) throw new Error('the list of orders has no end');
    return orderScreening.list(asked);
  }

  async function byDeadline(from: Instant, room: number): Promise<Found> {
    let until = ends.find((end) => end > from) ?? theEnd;
    for (;;) {
      const request: ListRequest = { ...filters, open: true, cancelBy: { from, until }, limit: LIST_LIMIT };
      const page = await list(request);
      const narrower = await narrowed(from, until, page.cursor !== undefined);
      if (narrower !== undefined) {
        until = narrower;
        ends = [until, ...ends];
        continue;
      }
      const inWindow = [...page.orders];
      for (let more = page.cursor; more !== undefined; ) {
        const another = await list({ ...request, cursor: more });
        inWindow.push(...another.orders);
        more = another.cursor;
      }
      return cut(inWindow.sort(byCancelBy), until, room);
    }
  }

  /** Returns a nearer end for a window with too many orders: by their count the first time per page, then by halving. */
  async function narrowed(from: Instant, until: Instant, full: boolean): Promise<Instant | undefined> {
    const wide = millis(until) - millis(from);
    if (!full || wide < 2) return undefined;
    const window = { ...filters, open: true, cancelBy: { from, until } };
    const part = counted ? 1 / 2 : Math.min(1 / 2, LIST_LIMIT / 2 / (await orderScreening.count(window)));
    counted = true;
    return instant(millis(from) + Math.max(1, Math.floor(wide * part)));
  }

  function cut(sorted: OrderSummary[], until: Instant, room: number): Found {
    const last = sorted[room - 1]?.cancelBy;
    const left = last === undefined ? undefined : sorted.find(({ cancelBy = '' }) => cancelBy > last);
    if (left?.cancelBy !== undefined) {
      const shown = sorted.slice(0, sorted.indexOf(left));
      return { orders: shown, next: { at: 'deadline', from: left.cancelBy } };
    }
    return { orders: sorted, next: until < theEnd ? { at: 'deadline', from: until } : afterDeadlines };
  }

  async function rest(
    { at, token }: Extract<Place, { at: 'none' | 'closed' }>,
    room: number,
  ): Promise<Found> {
    const page = await list({
      ...filters,
      ...(at === 'none' ? ({ open: true, cancelBy: 'none' } as const) : { open: false }),
      ...(token !== undefined && { cursor: token }),
      limit: room,
    });
    const next: Place | undefined =
      page.cursor === undefined ? (at === 'none' ? { at: 'closed' } : undefined) : { at, token: page.cursor };
    return { orders: page.orders, next };
  }
}

interface Found {
  orders: OrderSummary[];
  next: Place | undefined;
}

function byCancelBy(a: OrderSummary, b: OrderSummary): number {
  const [first = '', second = ''] = [a.cancelBy, b.cancelBy];
  return first < second ? -1 : first > second ? 1 : 0;
}

function cursorOf(place: Place): string {
  return place.at === 'deadline' ? place.from : `${place.at}~${place.token ?? ''}`;
}

function placeOf(cursor: string): Place {
  const [, at, token = ''] = /^(none|closed)~([\w-]*)$/.exec(cursor) ?? [];
  if (at === 'none' || at === 'closed') return { at, ...(token !== '' && { token }) };
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(cursor) && !Number.isNaN(millis(cursor))) {
    return { at: 'deadline', from: cursor };
  }
  throw invalidRequest([{ path: 'cursor', message: 'must be the cursor of the previous page' }]);
}

/** @returns the list request for the filters */
function listRequestOf(request: QueueRequest): ListRequest {
  const { show, q, integration, integrations, decision, phase, amountFrom, amountTo } = request;
  return {
    integration,
    integrations,
    decision,
    phase,
    find: q,
    amount: { from: amountFrom, until: amountTo },
    ...(q === undefined && show === 'all' && { queued: true }),
    ...(q === undefined && show === 'review' && phase === undefined && { phase: 'review' }),
    ...(q === undefined && show === 'attention' && { attention: true }),
  };
}

/** The numbers of orders at the top of the page. `attention` includes closed orders. */
export interface Counts {
  review: number;
  attention: number;
  /** In review, with less than twelve hours left. */
  soon: number;
  open: number;
}

export async function countQueue(
  { count }: Pick<OrderScreening, 'count'>,
  of: Pick<ListRequest, 'integration' | 'integrations'>,
  nowMs: number,
): Promise<Counts> {
  const until = instant(nowMs + 12 * HOUR_MS);
  const [review, attention, soon, open] = await Promise.all([
    count({ ...of, phase: 'review', open: true }),
    count({ ...of, attention: true }),
    count({ ...of, phase: 'review', open: true, cancelBy: { from: instant(nowMs), until } }),
    count({ ...of, open: true }),
  ]);
  return { review, attention, soon, open };
}

/** Ignores an `OrderScreeningError`. @throws any other error */
export function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}
