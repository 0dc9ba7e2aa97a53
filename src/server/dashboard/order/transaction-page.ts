/** The page of a transaction: its status at the screening service now, and the order that owns it. */
import type { TransactionStatus } from '../../../starter.ts';
import { orderPath } from '../addresses.ts';
import { html } from '../html.ts';
import { cardPage, decisionPill, type Frame, factList } from '../layout.ts';

/** @returns the page; its frame's time is when the status was read */
export function transactionPage({ id, decision, message, order }: TransactionStatus, frame: Frame): string {
  const owner =
    order === undefined
      ? 'None found.'
      : html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`;
  const facts = [
    ['Decision', decisionPill(decision)],
    ['Message', message],
    ['Order', owner],
  ] as const;
  return cardPage(
    `Transaction ${id}`,
    html`<p class="quiet">As the screening service has it now.</p>${factList(facts)}
<p><a href="/">Back to the queue</a></p>`,
    frame,
  );
}
