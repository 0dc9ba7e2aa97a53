/** Pages that confirm an action on one order or several, and show its results and errors. */
import type { FieldError } from '../../contract/errors.ts';
import type { ActionRecord } from '../../contract/state.ts';
import { millis, REASON_LIMIT } from '../../contract/words.ts';
import { currentAttempt } from '../../orders/record.ts';
import { cancelByOf } from '../../orders/transactions.ts';
import type { InspectedOrder } from '../../starter.ts';
import type { Problem } from '../problems.ts';
import { confirmPath, type PageAction, refusalOf, type Several, wordsOf } from './actions.ts';
import {
  amount,
  cell,
  clock,
  distance,
  duration,
  factList,
  type Html,
  html,
  moment,
  type Now,
  orderPath,
  page,
  type Shown,
  table,
} from './layout.ts';

/** @returns the confirmation page. `fieldErrors` belong to the submitted form; `number` is the portal action's or event's */
export function confirmPage(
  action: PageAction,
  order: InspectedOrder,
  now: Now,
  { fieldErrors = [], number }: { fieldErrors?: readonly FieldError[]; number?: number | undefined } = {},
): string {
  const { summary, state } = order;
  const { title, about, button, reason } = wordsOf(action);
  const cancelBy = (state && cancelByOf(state, currentAttempt(state))) ?? summary.cancelBy;
  const withdrawn = action === 'withdraw' && state?.actions.find((one) => one.number === number);
  const facts: [name: string, content: Shown][] = [
    [
      'Portal action',
      action === 'withdraw' && (withdrawn ? actionLine(withdrawn, now) : number && `${number}`),
    ],
    ['Event', action === 'redeliver' && number && `${number}`],
    ['Integration', summary.integration],
    ['Amount', summary.amount === undefined ? undefined : amount(summary.amount)],
    ['Decision', state?.decision ?? summary.decision],
    ['Phase', state?.phase ?? summary.phase],
    ['Age', duration(Math.max(0, now.ms - millis(state?.startedAt ?? summary.startedAt)))],
    ['Can be canceled until', cancelBy && moment(cancelBy, now)],
  ];
  return page(
    `${title} ${summary.orderId}?`,
    html`${errorLines(fieldErrors)}
<p>${about}</p>
${factList(facts)}
<form method="post" action="${orderPath(summary, confirmPath(action, number))}">
${reason && reasonField(reason)}
<p class="actions"><button>${button}</button> <a href="${orderPath(summary)}">Back to the order</a></p>
</form>`,
    now,
  );
}

function errorLines(fieldErrors: readonly FieldError[]): Shown {
  return (
    fieldErrors.length > 0 &&
    html`<p class="alarm" role="alert">${fieldErrors.map(({ path, message }) => `${path} ${message}. `)}</p>`
  );
}

/** @returns a portal action in one line: number, kind, status and time of the request */
export function actionLine({ number, kind, status, requestedAt }: ActionRecord, now: Now): Html {
  return html`${number}: ${kind}, ${status}, requested ${clock(requestedAt, now)}`;
}

function reasonField(reason: 'required' | 'optional') {
  return html`<p><label for="reason">Reason${reason === 'optional' && ' (optional)'}</label>
<textarea id="reason" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="reason-hint"${reason === 'required' && html` required`}></textarea>
<span id="reason-hint" class="quiet">The reason is stored with the order. Don’t enter personal data or card data.</span></p>`;
}

// For several orders: a confirmation page with the effect on each order, and a results page.

/** A selected order. `inspected` is absent if it couldn't be read. */
export interface Chosen {
  integration: string;
  orderId: string;
  inspected?: InspectedOrder | undefined;
}

/** @returns the confirmation page @param fieldErrors of the submitted form */
export function severalPage(
  action: Several,
  chosen: readonly Chosen[],
  now: Now,
  fieldErrors: readonly FieldError[] = [],
): string {
  const { about, button, reason } = wordsOf(action);
  const rows = chosen.map(({ inspected, ...order }) => {
    const { summary } = inspected ?? {};
    const refusal =
      inspected === undefined ? 'the order can’t be read now' : refusalOf(action, inspected, now.ms);
    return html`${cell('Order', html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`)}
${cell('Amount', summary?.amount === undefined ? '–' : amount(summary.amount), 'number')}
${cell('Decision', summary?.decision ?? 'unknown')}
${cell('Deadline', summary?.cancelBy === undefined ? 'none' : distance(summary.cancelBy, now))}
${cell('What happens', refusal === undefined ? button : `Nothing: ${refusal}`)}`;
  });
  return page(
    `${button}: ${chosen.length} ${chosen.length === 1 ? 'order' : 'orders'}?`,
    html`${errorLines(fieldErrors)}
<p>${about}</p>
${table('Orders', ['Order', 'Amount', 'Decision', 'Deadline', 'What happens'], rows)}
<form method="post" action="/several">
<input type="hidden" name="do" value="${action}">
${chosen.map(({ integration, orderId }) => html`<input type="hidden" name="order" value="${integration}/${orderId}">`)}
${reason && reasonField(reason)}
<p class="actions"><button>${button}</button> <a href="/">Back to the queue</a></p>
</form>`,
    now,
  );
}

/** @param results per order */
export function resultsPage(
  action: Several,
  results: readonly { order: Chosen; done: boolean; words: string }[],
  now: Now,
): string {
  const failed = results.filter(({ done }) => !done).length;
  const rows = results.map(
    ({
      order,
      done,
      words,
    }) => html`${cell('Order', html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`)}
${cell('What happened', html`<span class="tag ${done ? 'good' : 'bad'}">${done ? 'done' : 'not done'}</span> ${words}`)}`,
  );
  return page(
    `${wordsOf(action).button}: ${results.length - failed} of ${results.length} done`,
    html`<div role="status">${failed > 0 && html`<p class="alarm">${failed} ${failed === 1 ? 'order was' : 'orders were'} not changed, or the outcome is unknown: see below.</p>`}</div>
${table('Orders', ['Order', 'What happened'], rows)}
<p><a href="/">Back to the queue</a></p>`,
    now,
  );
}

// Error pages. They never contain a value from the request.

/** @param tried whether the request was an action, not only a page view @param back where the link on the page leads */
export function errorPage(code: string, problem: Problem, tried: boolean, back: string): string {
  const { title, detail } = tried ? problem : (READING[code] ?? problem);
  const { errors = [], serviceMessage } = problem;
  return page(
    title,
    html`<p class="alarm" role="alert">${detail}</p>
${serviceMessage && html`<p>The screening service answered: ${serviceMessage}</p>`}
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li>${path} ${message}</li>`)}</ul>`}
<p><a href="${back}">${back === '/' ? 'Go to the order queue' : 'Go to the order'}</a></p>`,
  );
}

/** @returns the page for a missing, wrong or revoked API key */
export function signInPage(): string {
  return page(
    'Sign in with an API key',
    html`<p class="alarm" role="alert">The request had no valid API key. The key may have been replaced.</p>
<p>Reload the page. When the browser asks, enter your name as the user name and an API key with the scope <code>read</code> as the password. Your name is recorded with your actions. The browser forgets the key when you close it.</p>
<p><a href="/">Sign in</a></p>`,
  );
}

export function signedOutPage(): string {
  return page('You are signed out', html`<p><a href="/">Sign in again</a></p>`);
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
