/** Pages that confirm an action on one order or several, and show its results. */
import type { OrderKey } from '../../../contract/ids.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { type From, orderPath } from '../addresses.ts';
import { problemBox, type Why } from '../error-pages.ts';
import { html } from '../html.ts';
import { cardPage, decisionPill, orderLink, type Page, table } from '../layout.ts';
import { distance, money, type Now } from '../words.ts';
import { actionForm, type Typed } from './action-form.ts';
import { actionPath, PAGE_ACTIONS, type PageAction, refusalOf, type Several } from './actions.ts';

/** A form that wasn't accepted: why, and what was typed, so that it isn't lost. */
export interface Again extends From {
  /** The portal action's or event's. */
  number?: number | undefined;
  problem: Why;
  typed: Typed;
}

/** @returns the page of a form on one order that wasn't accepted */
export function confirmPage(action: PageAction, order: OrderKey, again: Again, now: Now): Page {
  const { number, problem, typed } = again;
  const title = `${PAGE_ACTIONS[action].button}: ${number === undefined ? '' : `${number} of `}order ${order.orderId}?`;
  const path = orderPath(order, actionPath(action, number), again);
  const back = html`<a href="${orderPath(order, undefined, again)}">Back to the order</a>`;
  return cardPage(title, html`${problemBox(problem)}${actionForm(action, { path, typed, back }, now)}`);
}

/** The selected orders, what to do with them, and the list that they were selected in. */
export interface Selection {
  action: Several;
  chosen: readonly OrderKey[];
  from: string | undefined;
  /** The path of the list. */
  back: string;
}

/**
 * @param inspected the selected orders, undefined where one couldn't be read
 * @param problem of the submitted form
 * @returns the confirmation page, with the effect on each order
 */
export function severalPage(
  { action, chosen, from, back }: Selection,
  inspected: readonly (InspectedOrder | undefined)[],
  now: Now,
  problem?: Why,
): Page {
  const { button } = PAGE_ACTIONS[action];
  const rows = chosen.map((order, index) => {
    const found = inspected[index];
    const { amount, currency, decision, cancelBy } = found?.summary ?? {};
    const refusal = found && refusalOf(action, found, now.ms);
    return [
      orderLink(order),
      money(amount, currency),
      found === undefined ? 'unknown' : decisionPill(decision, found.summary.action),
      cancelBy === undefined ? 'none' : distance(cancelBy, now),
      refusal === undefined ? button : `Nothing: ${refusal}`,
    ];
  });
  const columns = { Order: '', Amount: 'number', Decision: '', Deadline: '', 'What happens': '' };
  const more = html`${table('Orders', columns, rows)}<input type="hidden" name="do" value="${action}">${from !== undefined && html`<input type="hidden" name="from" value="${from}">`}
${chosen.map(({ integration, orderId }) => html`<input type="hidden" name="order" value="${integration}/${orderId}">`)}`;
  const form = { path: '/several', typed: {}, more, back: html`<a href="${back}">Back to the list</a>` };
  const title = `${button}: ${chosen.length} ${chosen.length === 1 ? 'order' : 'orders'}?`;
  return cardPage(title, html`${problem && problemBox(problem)}${actionForm(action, form, now)}`);
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
