/** A person confirms what can't be taken back, or costs the service a call, before it is asked. */
import { REASON_LIMIT } from '../../client/read-requests.ts';
import type { Fault } from '../../orders/errors.ts';
import { millis } from '../../orders/words.ts';
import type { InspectedOrder } from '../../starter.ts';
import { html, type Shown } from './html.ts';
import { factList, page } from './layout.ts';
import { orderPath } from './links.ts';
import { amount, duration, moment } from './times.ts';

/** What needs to be confirmed. */
export const CONFIRMED = ['recheck', 'cancel'] as const;
export type Confirmed = (typeof CONFIRMED)[number];

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
};

/** @returns the page @param faults of what was sent before */
export function confirmPage(
  action: Confirmed,
  order: InspectedOrder,
  nowMs: number,
  faults: readonly Fault[] = [],
): string {
  const { summary, state } = order;
  const { title, about, button } = WORDS[action];
  const cancelBy = state?.attempts.at(-1)?.cancelBy ?? summary.cancelBy;
  const facts: [name: string, content: Shown][] = [
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
<form method="post" action="${orderPath(summary, action)}">
${action === 'cancel' && reasonField()}
<p class="actions"><button>${button}</button> <a href="${orderPath(summary)}">Back to the order</a></p>
</form>`,
    nowMs,
  );
}

function reasonField() {
  return html`<p><label for="reason">Reason (optional)</label>
<textarea id="reason" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="reason-hint"></textarea>
<span id="reason-hint" class="quiet">It is kept with the order. Write no personal data and no card data.</span></p>`;
}
