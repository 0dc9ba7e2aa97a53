/** Pages between a click and what it does, for one order or several: confirmation, results, errors. */
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

/** @returns the page @param errors of what was sent before @param number of the portal action or event */
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

/** @returns a portal action in one line: its number, what it is, where it is, since when */
export function actionLine({ number, kind, status, requestedAt }: ActionRecord, now: Now): Html {
  return html`${number}: ${kind}, ${status}, asked ${clock(requestedAt, now)}`;
}

function reasonField(reason: 'required' | 'optional') {
  return html`<p><label for="reason">Reason${reason === 'optional' && ' (optional)'}</label>
<textarea id="reason" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="reason-hint"${reason === 'required' && html` required`}></textarea>
<span id="reason-hint" class="quiet">It is kept with the order. Write no personal data and no card data.</span></p>`;
}

// The same for several orders: one page that says what would happen to each, and one with what did.

/** An order that was chosen; `inspected` is absent when it couldn't be read. */
export interface Chosen {
  integration: string;
  orderId: string;
  inspected?: InspectedOrder | undefined;
}

/** @returns the page that asks for a confirmation @param errors of what was sent before */
export function severalPage(
  action: Several,
  chosen: readonly Chosen[],
  now: Now,
  fieldErrors: readonly FieldError[] = [],
): string {
  const { about, button, reason } = wordsOf(action);
  const rows = chosen.map(({ inspected, ...order }) => {
    const { summary } = inspected ?? {};
    const refusal = inspected === undefined ? 'it can’t be read now' : refusalOf(action, inspected, now.ms);
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

/** @param results of each order, in words */
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
    html`<div role="status">${failed > 0 && html`<p class="alarm">${failed} ${failed === 1 ? 'order was' : 'orders were'} not changed, or nobody knows: see below.</p>`}</div>
${table('Orders', ['Order', 'What happened'], rows)}
<p><a href="/">Back to the queue</a></p>`,
    now,
  );
}

// What goes wrong, as a page: what happened, and what to do. No value that was sent is in it.

/** @param tried whether something was to be done, not only shown @param back where to go on */
export function errorPage(code: string, problem: Problem, tried: boolean, back: string): string {
  const { title, detail } = tried ? problem : (READING[code] ?? problem);
  const { errors = [], serviceMessage } = problem;
  return page(
    title,
    html`<p class="alarm" role="alert">${detail}</p>
${serviceMessage && html`<p>The service said: ${serviceMessage}</p>`}
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li>${path} ${message}</li>`)}</ul>`}
<p><a href="${back}">${back === '/' ? 'Go to the order queue' : 'Go to the order'}</a></p>`,
  );
}

/** @returns what is shown when the key is missing, wrong, or no longer valid */
export function signInPage(): string {
  return page(
    'Sign in with an API key',
    html`<p class="alarm" role="alert">No valid API key was sent. It may have been replaced since.</p>
<p>Reload the page, and when the browser asks, type your name as the user name, which is noted with what you do, and an API key (with the scope <code>read</code>) as the password. The browser forgets it when it is closed.</p>
<p><a href="/">Sign in</a></p>`,
  );
}

/** Where nothing was to be done, what the API says about sending a request again would mislead. */
const READING: Readonly<Record<string, { title: string; detail: string }>> = {
  'temporal-unavailable': {
    title: 'Temporal can’t be reached',
    detail:
      'The orders are safe where they are. Nothing was changed. Try again in a moment; if it lasts, see whether Temporal runs.',
  },
  'unknown-order': {
    title: 'No such order',
    detail:
      'There is no such order in this integration, or none any more: closed orders are kept for 90 days. Check the id and the integration in the address.',
  },
};
