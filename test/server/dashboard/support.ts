/** What tests of the pages share. */
import type { FastifyInstance } from 'fastify';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { InspectedOrder, OrderSummary, QueuedOrder } from '../../../src/starter.ts';
import { anOrder, fromNow, HOUR } from '../../fixtures/orders.ts';
import { anApi, anOrderSummary, RUN_ID, type TestedApi } from '../api/fake-order-screening.ts';

/** A value that would be markup, and how a page shows it. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'&`;
export const SHOWN = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';

export const inHours = (hours: number) => fromNow(hours * HOUR);

/** Returns the text of a page, without its markup. */
export const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** An order in review, as the queue has it. */
export function aQueuedOrder(
  overrides: Partial<OrderSummary> = {},
  changes: Partial<OrderState> = {},
): QueuedOrder {
  const summary = anOrderSummary({ cancelBy: inHours(5.5), startedAt: inHours(-30), ...overrides });
  return { summary, state: { ...anOrder('review'), startedAt: summary.startedAt, ...changes } };
}

/** The API whose queue has these orders; `setQueue` replaces them. */
export async function queued(orders: QueuedOrder[] = [aQueuedOrder()], options: TestedApi = {}) {
  const api = await anApi(options);
  const setQueue = (...other: QueuedOrder[]) =>
    void api.orderScreening.queue.mockResolvedValue({ orders: other, cut: false });
  setQueue(...orders);
  return { ...api, setQueue };
}

/** The page of an order. */
export async function pageOf(order: Partial<InspectedOrder>, options: TestedApi = {}) {
  const { app, orderScreening } = await anApi(options);
  orderScreening.inspect.mockResolvedValue({ summary: anOrderSummary(), runId: RUN_ID, ...order });
  const headers = { authorization: 'Bearer a-key-of-mine' };
  const { statusCode, body } = await app.inject({ url: '/orders/order-1', headers });
  return { statusCode, body, text: textOf(body) };
}

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** Sends a form as a browser does; from these pages, unless the headers say otherwise. */
export const sendForm = (
  app: FastifyInstance,
  url: string,
  payload = '',
  headers: Record<string, string> = SAME_ORIGIN,
) =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload,
  });
