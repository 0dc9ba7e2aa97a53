/** Pages between a click and what it does: confirmation, errors, when an order was last read. */
import { REASON_LIMIT } from '../../orders/check-messages.ts';
import { allDeadlines } from '../../orders/deadlines.ts';
import type { Fault } from '../../orders/errors.ts';
import type { ActionRecord } from '../../orders/state.ts';
import { type Instant, millis } from '../../orders/words.ts';
import type { InspectedOrder } from '../../starter.ts';
import type { Problem } from '../problems.ts';
import {
  amount,
  clock,
  duration,
  factList,
  type Html,
  html,
  moment,
  orderPath,
  page,
  type Shown,
} from './layout.ts';

/** What needs to be confirmed. */
export const CONFIRMED = ['recheck', 'cancel', 'withdraw'] as const;
export type Confirmed = (typeof CONFIRMED)[number];

/** @returns the address below the order's own, where it is confirmed @param number of the portal action to withdraw */
export function confirmPath(action: Confirmed, number: number | ':number' | undefined): string {
  return action === 'withdraw' ? `actions/${number}/withdraw` : action;
}

const WORDS: Record<Confirmed, { title: string; about: string; button: string }> = {
  recheck: {
    title: 'Recheck order',
    about:
      'The decision is read from the screening service now. An order whose decision is error is screened again.',
    button: 'Recheck now',
  },
  cancel: {
    title: 'Cancel order',
    about:
      'The transaction is canceled with the screening service, and the order service is told to cancel the order. This can’t be taken back. It doesn’t void or refund the payment: that is the order service’s.',
    button: 'Cancel the order',
  },
  withdraw: {
    title: 'Withdraw a portal action of order',
    about:
      'It is not sent to the screening service any more. What was sent already may still be done: the order then says so.',
    button: 'Withdraw the action',
  },
};

/** @returns the page @param faults of what was sent before @param number of the portal action to withdraw */
export function confirmPage(
  action: Confirmed,
  order: InspectedOrder,
  nowMs: number,
  { faults = [], number }: { faults?: readonly Fault[]; number?: number | undefined } = {},
): string {
  const { summary, state } = order;
  const { title, about, button } = WORDS[action];
  const cancelBy = state?.attempts.at(-1)?.cancelBy ?? summary.cancelBy;
  const withdrawn = state?.actions.find((one) => one.number === number);
  const facts: [name: string, content: Shown][] = [
    ['Portal action', withdrawn ? actionLine(withdrawn) : number && `${number}`],
    ['Integration', summary.integration],
    ['Amount', summary.amount === undefined ? undefined : amount(summary.amount)],
    ['Decision', state?.decision ?? summary.decision],
    ['Phase', state?.phase ?? summary.phase],
    ['Age', duration(Math.max(0, nowMs - millis(state?.startedAt ?? summary.startedAt)))],
    ['Can be canceled until', cancelBy && moment(cancelBy, nowMs)],
  ];
  return page(
    `${title} ${summary.orderId}?`,
    html`${faults.length > 0 && html`<p class="alarm" role="alert">${faults.map(({ path, message }) => `${path} ${message}. `)}</p>`}
<p>${about}</p>
${factList(facts)}
<form method="post" action="${orderPath(summary, confirmPath(action, number))}">
${action === 'cancel' && reasonField()}
<p class="actions"><button>${button}</button> <a href="${orderPath(summary)}">Back to the order</a></p>
</form>`,
    nowMs,
  );
}

/** @returns a portal action in one line: its number, what it is, where it is, since when */
export function actionLine({ number, kind, status, requestedAt }: ActionRecord): Html {
  return html`${number}: ${kind}, ${status}, asked ${clock(requestedAt)}`;
}

function reasonField() {
  return html`<p><label for="reason">Reason (optional)</label>
<textarea id="reason" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="reason-hint"></textarea>
<span id="reason-hint" class="quiet">It is kept with the order. Write no personal data and no card data.</span></p>`;
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

/** @returns what is shown when the key is missing, wrong, or valid no more */
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

// When an order's decision was last read from the service, by whom, and when it is read next.

export interface Checks {
  last?: { at: Instant; source: string; answered: boolean };
  next?: { at: Instant; source: string };
}

/** The poll's readings stand in the order's state only when they are news, so both are looked at. */
export function checksOf({ state, poll }: Pick<InspectedOrder, 'state' | 'poll'>, nowMs: number): Checks {
  const read = state?.lastRead && { ...state.lastRead, answered: true };
  const polled =
    poll?.lastAt === undefined
      ? undefined
      : { at: poll.lastAt, source: 'poll', answered: poll.answered === true };
  const last = read && polled && read.at > polled.at ? read : (polled ?? read);
  const next = [...(poll?.nextAt === undefined ? [] : [{ at: poll.nextAt, source: 'poll' }]), ...due()].sort(
    byTime,
  )[0];
  return { ...(last && { last }), ...(next && { next }) };

  function due(): { at: Instant; source: string }[] {
    if (state === undefined) return [];
    return allDeadlines(state)
      .filter(({ kind, at }) => kind in READS && !state.passed.includes(kind) && Date.parse(at) > nowMs)
      .map(({ kind, at }) => ({ at, source: READS[kind] ?? kind }));
  }
}

/** Orders things by their moment, the earliest first. */
export function byTime(a: { at: Instant }, b: { at: Instant }): number {
  return a.at < b.at ? -1 : a.at > b.at ? 1 : 0;
}

/** The deadlines at which the service is asked, as a check's source. */
const READS: Readonly<Record<string, string>> = {
  recheck: 'recheck',
  rescreen: 'rescreen',
  'hint-spacing': 'webhook',
};
