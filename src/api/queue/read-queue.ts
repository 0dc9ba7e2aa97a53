/**
 * The orders that a person may want to look at, the nearest deadline first. Temporal's visibility can't sort on SQL, so it is
 * asked in windows of the deadline, each narrowed until its orders fit one answer, which is sorted here.
 */
import { invalidRequest } from '../../client/read-requests.ts';
import { type Instant, instant, millis } from '../../orders/words.ts';
import {
  type InspectedOrder,
  type ListRequest,
  type OrderList,
  type OrderScreening,
  OrderScreeningError,
  type OrderSummary,
} from '../../starter.ts';

/** What is shown of the queue. */
export const SHOWN = ['all', 'review', 'attention'] as const;
export type Show = (typeof SHOWN)[number];

export interface QueueRequest {
  show: Show;
  integration?: string | undefined;
  /** Only these integrations. */
  integrations?: readonly string[] | undefined;
  /** From the page before. */
  cursor?: string | undefined;
}

export interface QueuePage {
  orders: OrderSummary[];
  /** Absent on the last page. */
  cursor?: string;
}

/** A page goes on to the last of several orders with the same deadline. */
const PAGE_SIZE = 25;
const LIST_LIMIT = 100;
/** Narrowing a window from all time to a millisecond takes some eighty. */
const MAX_QUESTIONS = 200;
const HOUR_MS = 3_600_000;
/** No deadline is that far away. */
const THE_END = instant(Date.UTC(9_999, 0));
/** Where the windows end, in hours from now. */
const WINDOWS = [0, 12, 48, 120];

/** Where to go on: at a deadline, among the open orders without one, or among those that are closed. */
type Place = { at: 'deadline'; from: Instant } | { at: 'none' | 'closed'; token?: string };

/** @throws OrderScreeningError `invalid-request` for a cursor that is none, `temporal-unavailable` */
export async function readQueue(
  orderScreening: Pick<OrderScreening, 'list'>,
  { show, integration, integrations, cursor }: QueueRequest,
  nowMs: number,
): Promise<QueuePage> {
  const filters: ListRequest = {
    integration,
    integrations,
    ...(show === 'all' && { queued: true }),
    ...(show === 'review' && { phase: 'review' }),
    ...(show === 'attention' && { attention: true }),
  };
  const orders: OrderSummary[] = [];
  let questions = 0;
  // Where a window ends that is asked next: the first one after its beginning.
  let ends = [...WINDOWS.map((hours) => instant(nowMs + hours * HOUR_MS)), THE_END];
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
    let until = ends.find((end) => end > from) ?? THE_END;
    for (;;) {
      const request: ListRequest = { ...filters, open: true, cancelBy: { from, until }, limit: LIST_LIMIT };
      const page = await list(request);
      const middle = (millis(from) + millis(until)) / 2;
      if (page.cursor !== undefined && middle - millis(from) >= 1) {
        until = instant(Math.floor(middle));
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

  function cut(sorted: OrderSummary[], until: Instant, room: number): Found {
    const last = sorted[room - 1]?.cancelBy;
    const left = last === undefined ? undefined : sorted.find(({ cancelBy = '' }) => cancelBy > last);
    if (left?.cancelBy !== undefined) {
      const shown = sorted.slice(0, sorted.indexOf(left));
      return { orders: shown, next: { at: 'deadline', from: left.cancelBy } };
    }
    return { orders: sorted, next: until === THE_END ? { at: 'none' } : { at: 'deadline', from: until } };
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
  throw invalidRequest([{ path: 'cursor', message: 'must be the cursor of the page before' }]);
}

/** For all orders of a page together: without a worker the page comes this late, and says so. In milliseconds. */
const WITHIN_MS = 2_000;

/** An order of the queue; `inspected` is absent when Temporal didn't tell in time, or knows it no more. */
export interface QueuedOrder {
  summary: OrderSummary;
  inspected: InspectedOrder | undefined;
}

/** Looks into the orders of one page, all at once, so that their number bounds the questions. */
export async function inspectOrders(
  { inspect }: Pick<OrderScreening, 'inspect'>,
  orders: readonly OrderSummary[],
): Promise<QueuedOrder[]> {
  return Promise.all(
    orders.map(async (summary) => {
      const { orderId, integration } = summary;
      const inspected = await inspect({ orderId, integration }, { withinMs: WITHIN_MS }).catch(unlessOurs);
      return { summary, inspected };
    }),
  );
}

function unlessOurs(error: unknown): undefined {
  if (!(error instanceof OrderScreeningError)) throw error;
}
