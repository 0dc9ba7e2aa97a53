/** Pages of one card: errors, signing in, refused checkouts, and a transaction. Those of errors contain no value from the request. */
import type { TransactionStatus } from '../../starter.ts';
import type { Problem } from '../api/problems.ts';
import type { RefusedCheckout } from '../api/refused-checkouts.ts';
import { type Html, html } from './html.ts';
import { cardPage, decisionPill, factList, orderLink, type Page, table } from './layout.ts';
import { clock, type Now } from './words.ts';

export type Why = Partial<Pick<Problem, 'title' | 'detail' | 'errors' | 'serviceMessage'>>;

/** What is wrong, what the screening service answered, and which fields were not accepted. */
export function problemBox({ title, detail, serviceMessage, errors = [] }: Why): Html {
  return html`<div class="box red" role="alert">${title && html`<b>${title}</b>`}<p>${detail}${serviceMessage && ` The screening service answered: ${serviceMessage}`}</p>
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li>${path} ${message}</li>`)}</ul>`}</div>`;
}

/** @param tried the route of a form, unless the request was a page view. The address of an order's form leads to the order */
export function errorPage(code: string, problem: Problem, tried?: string): Page {
  const { title, ...why } = tried !== undefined || code !== 'temporal-unavailable' ? problem : UNREACHABLE;
  const [path, name] = tried?.startsWith('/orders/') ? ['', 'order'] : ['/', 'queue'];
  return cardPage(title, html`${problemBox(why)}<p><a href="${path}">Go to the ${name}</a></p>`);
}

/** For page views. The API's advice about retrying a request would be misleading there. */
const UNREACHABLE = {
  title: 'Temporal can’t be reached',
  detail:
    'No orders were lost or changed. Try again in a moment. If the problem persists, check whether Temporal is running.',
};

/** @returns the page for a missing, wrong or revoked API key */
export function signInPage(): Page {
  return cardPage(
    'Sign in with an API key',
    html`<p class="box red" role="alert">The request had no valid API key. The key may have been replaced.</p>
<p>Reload the page. When the browser asks, enter your name as the user name and an API key with the scope <code>read</code> as the password. Your name is recorded with your actions. The browser forgets the key when you close it.</p>
<p><a href="/">Sign in</a></p>`,
  );
}

/** The answer to a form after the session's end. The browser sends the form again when this page is reloaded. */
export function sessionEndedPage(): Page {
  return cardPage(
    'Your session has ended',
    html`<p class="box red" role="alert">Nothing was done yet.</p>
<p><a href="/sign-in" target="_blank">Sign in again</a> in a new tab. Then come back to this tab and reload it: the browser sends what you typed.</p>`,
  );
}

export const REFUSED_PATH = '/refused';

/** The checkouts that were refused for their content: no order was started, so nobody screens them. @param refused the newest first */
export function refusedPage(refused: readonly RefusedCheckout[], now: Now): Page {
  const rows = refused.map(({ at, orderId = 'not valid', integration, fields }) => [
    clock(at, now),
    orderId,
    integration,
    fields.join(', '),
  ]);
  const title = 'Refused checkouts';
  return cardPage(
    title,
    html`<p>These checkouts had fields that are not accepted. No order was started, and nobody screens them: correct the fields in the shop, and send the orders again. Only this API process’s newest are listed, since it started.</p>
${rows.length === 0 ? html`<p>None.</p>` : table(title, { When: '', Order: '', Store: '', Fields: '' }, rows)}`,
  );
}

/** A transaction's status at the screening service now, and the order that owns it. */
export function transactionPage({ id, decision, message, order }: TransactionStatus): Page {
  const facts = factList([
    ['Decision', decisionPill(decision)],
    ['Message', message],
    ['Order', order === undefined ? 'None found.' : orderLink(order)],
  ]);
  return cardPage(
    `Transaction ${id}`,
    html`<p class="quiet">As the screening service has it now.</p>${facts}
<p><a href="/">Back to the queue</a></p>`,
  );
}
