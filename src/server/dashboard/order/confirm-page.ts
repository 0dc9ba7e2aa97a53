/** Pages that confirm an action on one order or several, and show its results and errors. */
import type { FieldError } from '../../../contract/errors.ts';
import type { OrderKey } from '../../../contract/ids.ts';
import type { InspectedOrder } from '../../../starter.ts';
import type { Problem } from '../../api/problems.ts';
import { type From, orderPath } from '../addresses.ts';
import { type Html, html } from '../html.ts';
import { cardPage, decisionPill, type Frame, table } from '../layout.ts';
import { distance, money, type Now } from '../words.ts';
import { confirmPath, type PageAction, type Several, wordsOf } from './action-words.ts';
import { refusalOf } from './actions.ts';
import { fieldsOf, type Typed } from './form-fields.ts';

type Timed = Frame & { now: Now };

/** What a confirmation page shows besides the order: what was sent before, and why it wasn't accepted. */
export interface Again extends From {
  /** The portal action's or event's. */
  number?: number | undefined;
  problem?: Why;
  /** What was typed, so that it isn't lost. */
  typed: Typed;
}

type Why = Pick<Problem, 'title' | 'detail' | 'errors' | 'serviceMessage'>;

/** @returns the confirmation page of an action on one order */
export function confirmPage(action: PageAction, key: OrderKey, again: Again, frame: Timed): string {
  const { about, button, danger } = wordsOf(action);
  const { number, problem, typed } = again;
  const title = `${button}: ${number === undefined ? '' : `${number} of `}order ${key.orderId}?`;
  return cardPage(
    title,
    html`${problem && problemBox(problem)}
<p>${about}</p>
<form method="post" action="${orderPath(key, confirmPath(action, number), again)}">
${fieldsOf(action, { id: action, typed }, frame.now.ms)}
<p class="line"><button class="${danger ? 'danger' : 'primary'}">${button}</button> <a href="${orderPath(key, undefined, again)}">Back to the order</a></p>
</form>`,
    frame,
  );
}

function problemBox(problem: Why): Html {
  return html`<div class="box red" role="alert"><b>${problem.title}</b>${explained(problem)}</div>`;
}

/** What is wrong, what the screening service answered, and which fields were not accepted. */
function explained({ detail, serviceMessage, errors = [] }: Why): Html {
  return html`<p>${detail}${serviceMessage && ` The screening service answered: ${serviceMessage}`}</p>
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li>${path} ${message}</li>`)}</ul>`}`;
}

/** @returns why a form was not accepted */
export function notAccepted(errors: FieldError[]): Why {
  return { title: 'Not done', detail: 'The form was not accepted.', errors };
}

// For several orders: a confirmation page with the effect on each order, and a results page.

/** A selected order. `inspected` is absent if it couldn't be read. */
export interface Chosen {
  integration: string;
  orderId: string;
  inspected?: InspectedOrder | undefined;
}

/** The selection, and the path of the list that it was made in. */
export interface Selection {
  action: Several;
  from: string | undefined;
  back: string;
}

/** @returns the confirmation page @param problem of the submitted form */
export function severalPage(
  { action, from, back }: Selection,
  chosen: readonly Chosen[],
  frame: Timed,
  problem?: Why,
): string {
  const { about, button, danger } = wordsOf(action);
  const { now } = frame;
  const rows = chosen.map(({ inspected, ...order }) => {
    const summary = inspected?.summary;
    const refusal = inspected && refusalOf(action, inspected, now.ms);
    return [
      orderLink(order),
      money(summary?.amount, summary?.currency),
      summary === undefined ? 'unknown' : decisionPill(summary.decision, summary.action),
      summary?.cancelBy === undefined ? 'none' : distance(summary.cancelBy, now),
      refusal === undefined ? button : `Nothing: ${refusal}`,
    ];
  });
  const title = `${button}: ${chosen.length} ${chosen.length === 1 ? 'order' : 'orders'}?`;
  const columns = ['Order', ['Amount', 'number'] as const, 'Decision', 'Deadline', 'What happens'];
  return cardPage(
    title,
    html`${problem && problemBox(problem)}
<p>${about}</p>
<div class="scroll">${table('Orders', columns, rows)}</div>
<form method="post" action="/several">
<input type="hidden" name="do" value="${action}">${from !== undefined && html`<input type="hidden" name="from" value="${from}">`}
${chosen.map(({ integration, orderId }) => html`<input type="hidden" name="order" value="${integration}/${orderId}">`)}
${fieldsOf(action, { id: action, typed: {} }, now.ms)}
<p class="line"><button class="${danger ? 'danger' : 'primary'}">${button}</button> <a href="${back}">Back to the list</a></p>
</form>`,
    frame,
  );
}

const orderLink = (order: Chosen) =>
  html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`;

/** What happened to an order. `unchanged`: there was nothing to do. */
export interface Result {
  order: Chosen;
  outcome: 'done' | 'unchanged' | 'failed';
  words: string;
}

const OUTCOMES = { done: 'done', unchanged: 'nothing to do', failed: 'not done' } as const;

/** @param results per order */
export function resultsPage({ action, back }: Selection, results: readonly Result[], frame: Timed): string {
  const of = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  const failed = of('failed');
  const unchanged = of('unchanged');
  const rows = results.map(({ order, outcome, words }) => [
    orderLink(order),
    html`<b class="flag ${outcome === 'failed' && 'attention'}">${OUTCOMES[outcome]}</b> ${words}`,
  ]);
  const title = `${wordsOf(action).button}: ${of('done')} of ${results.length} done`;
  return cardPage(
    title,
    html`<div role="status">${failed > 0 && html`<p class="box red">${failed} ${failed === 1 ? 'order was' : 'orders were'} not changed, or the outcome is unknown: see below.</p>`}${unchanged > 0 && html`<p>For ${unchanged} ${unchanged === 1 ? 'order' : 'orders'} there was nothing to do.</p>`}</div>
<div class="scroll">${table('Orders', ['Order', 'What happened'], rows)}</div>
<p><a href="${back}">Back to the list</a></p>`,
    frame,
  );
}

// Error pages. They never contain a value from the request.

/** @param tried whether the request was an action, not only a page view @param back where the link on the page leads */
export function errorPage(
  code: string,
  problem: Problem,
  tried: boolean,
  back: string,
  frame: Frame,
): string {
  const shown = tried ? problem : { ...problem, ...READING[code] };
  return cardPage(
    shown.title,
    html`<div class="box red" role="alert">${explained(shown)}</div>
<p><a href="${back}">${back === '/' ? 'Go to the queue' : 'Go to the order'}</a></p>`,
    frame,
  );
}

/** @returns the page for a missing, wrong or revoked API key */
export function signInPage(): string {
  return cardPage(
    'Sign in with an API key',
    html`<p class="box red" role="alert">The request had no valid API key. The key may have been replaced.</p>
<p>Reload the page. When the browser asks, enter your name as the user name and an API key with the scope <code>read</code> as the password. Your name is recorded with your actions. The browser forgets the key when you close it.</p>
<p><a href="/">Sign in</a></p>`,
  );
}

/** The answer to a form after the session's end. The browser sends the form again when this page is reloaded. */
export function sessionEndedPage(): string {
  return cardPage(
    'Your session has ended',
    html`<p class="box red" role="alert">Nothing was done yet.</p>
<p><a href="/sign-in" target="_blank">Sign in again</a> in a new tab. Then come back to this tab and reload it: the browser sends what you typed.</p>`,
  );
}

export function signedOutPage(): string {
  return cardPage('You are signed out', html`<p><a href="/">Sign in again</a></p>`, {});
}

/** Texts for page views. The API's advice about retrying a request would be misleading there. */
const READING: Readonly<Record<string, { title: string; detail: string }>> = {
  'temporal-unavailable': {
    title: 'Temporal can’t be reached',
    detail:
      'No orders were lost or changed. Try again in a moment. If the problem persists, check whether Temporal is running.',
  },
  'unknown-order': {
    title: 'Order not found',
    detail:
      'This integration has no such order. Closed orders are deleted after 90 days. Check the id and the integration in the address.',
  },
};
