/** Pages that confirm an action on one order or several, and show its results. */
import type { z } from 'zod';
import type { OrderKey } from '../../../contract/ids.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { type From, orderPath } from '../addresses.ts';
import { problemBox, type Why } from '../error-pages.ts';
import { html } from '../html.ts';
import { cardPage, decisionPill, orderLink, type Page, table } from '../layout.ts';
import { distance, money, type Now } from '../words.ts';
import { actionForm, type selectionSchema, type Typed } from './action-form.ts';
import { actionPath, PAGE_ACTIONS, type PageAction, refusalOf } from './actions.ts';

/** Why a form wasn't accepted, and what was typed, so that it isn't lost. */
interface Again {
  problem: Why;
  typed: Typed;
}

/** @returns the page of a form on one order that wasn't accepted @param number of the portal action or event */
export function confirmPage(
  action: PageAction,
  { order, number, place }: { order: OrderKey; number: number | undefined; place: From },
  { problem, typed }: Again,
  now: Now,
): Page {
  const title = `${PAGE_ACTIONS[action].button}: ${number === undefined ? '' : `${number} of `}order ${order.orderId}?`;
  const path = orderPath(order, actionPath(action, number), place);
  const back = html`<a href="${orderPath(order, undefined, place)}">Back to the order</a>`;
  return cardPage(title, html`${problemBox(problem)}${actionForm(action, { path, typed, back }, now)}`);
}

/** The selected orders, what to do with them, and the list that they were selected in with its path. */
export type Selection = z.output<typeof selectionSchema> & { back: string };

/**
 * @param orders the selected ones; `found` is absent if one couldn't be read
 * @returns the confirmation page, with the effect on each order
 */
export function severalPage(
  { action, from, back }: Selection,
  orders: readonly { order: OrderKey; found: InspectedOrder | undefined }[],
  now: Now,
  again?: Again,
): Page {
  const { button } = PAGE_ACTIONS[action];
  const rows = orders.map(({ order, found }) => {
    const { amount, currency, decision, action: does, cancelBy } = found?.summary ?? {};
    const refusal = found && refusalOf(action, found, now.ms);
    return [
      html`${orderLink(order)}<input type="hidden" name="order" value="${order.integration}/${order.orderId}">`,
      money(amount, currency),
      found === undefined ? 'unknown' : decisionPill(decision, does),
      cancelBy === undefined ? 'none' : distance(cancelBy, now),
      refusal === undefined ? button : `Nothing: ${refusal}`,
    ];
  });
  const columns = { Order: '', Amount: 'number', Decision: '', Deadline: '', 'What happens': '' };
  const more = html`${table('Orders', columns, rows)}<input type="hidden" name="do" value="${action}">${from !== undefined && html`<input type="hidden" name="from" value="${from}">`}`;
  const leave = html`<a href="${back}">Back to the list</a>`;
  const form = actionForm(action, { path: '/several', typed: again?.typed ?? {}, more, back: leave }, now);
  const title = `${button}: ${orders.length} ${orders.length === 1 ? 'order' : 'orders'}?`;
  return cardPage(title, html`${again && problemBox(again.problem)}${form}`);
}

/** What happened to an order. `unchanged`: there was nothing to do. */
export interface Result {
  order: OrderKey;
  outcome: 'done' | 'unchanged' | 'failed';
  words: string;
}

const OUTCOMES = { done: 'done', unchanged: 'nothing to do', failed: 'not done' } as const;

/** @param results per order */
export function resultsPage({ action, back }: Selection, results: readonly Result[]): Page {
  const of = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  const failed = of('failed');
  const unchanged = of('unchanged');
  const rows = results.map(({ order, outcome, words }) => [
    orderLink(order),
    html`<b class="flag ${outcome === 'failed' && 'attention'}">${OUTCOMES[outcome]}</b> ${words}`,
  ]);
  return cardPage(
    `${PAGE_ACTIONS[action].button}: ${of('done')} of ${results.length} done`,
    html`<div role="status">${failed > 0 && html`<p class="box red">${failed} ${failed === 1 ? 'order was' : 'orders were'} not changed, or the outcome is unknown: see below.</p>`}${unchanged > 0 && html`<p>For ${unchanged} ${unchanged === 1 ? 'order' : 'orders'} there was nothing to do.</p>`}</div>
${table('Orders', { Order: '', 'What happened': '' }, rows)}
<p><a href="${back}">Back to the list</a></p>`,
  );
}
