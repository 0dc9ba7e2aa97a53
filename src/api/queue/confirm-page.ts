/** A person confirms what can't be taken back, or costs the service a call, before it is asked. */
import { REASON_LIMIT } from '../../client/read-requests.ts';
import type { Fault } from '../../orders/errors.ts';
import type { ActionRecord } from '../../orders/state.ts';
import { millis } from '../../orders/words.ts';
import type { InspectedOrder } from '../../starter.ts';
import { type Html, html, type Shown } from './html.ts';
import { factList, page } from './layout.ts';
import { orderPath } from './links.ts';
import { amount, clock, duration, moment } from './times.ts';

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
