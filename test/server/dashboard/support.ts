/** What tests of the pages share. */
import type { FastifyInstance } from 'fastify';
import type { OrderState } from '../../../src/contract/order/state.ts';
import type { OrderSummary, QueuedOrder } from '../../../src/starter.ts';
import { anOrder, HOUR } from '../../fixtures/orders.ts';
import { anOrderSummary } from '../api/fake-order-screening.ts';

/** A value that would be markup, and how a page shows it. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'&`;
export const SHOWN = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';

export const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();

/** Returns the text of a page, without its markup. */
export const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

/** An order in review, as the queue has it. */
export function aQueuedOrder(
  overrides: Partial<OrderSummary> = {},
  change: (state: OrderState) => void = () => {},
): QueuedOrder {
  const summary = anOrderSummary({ cancelBy: inHours(5.5), startedAt: inHours(-30), ...overrides });
  const state = anOrder('review');
  state.startedAt = summary.startedAt;
  change(state);
  return { summary, state };
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
