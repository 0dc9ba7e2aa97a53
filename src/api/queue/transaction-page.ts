/** The page of a transaction: its status at the screening service now, and the order that owns it. */
import type { TransactionStatus } from '../../starter.ts';
import { factList, html, type Now, orderPath, page } from './layout.ts';

/** @returns the page @param now when the status was read */
export function transactionPage({ id, decision, message, order }: TransactionStatus, now: Now): string {
  const owner =
    order === undefined
      ? 'None found.'
      : html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`;
  const facts = [
    ['Decision', decision],
    ['Message to the customer', message],
    ['Order', owner],
  ] as const;
  return page(
    `Transaction ${id}`,
    html`<section><h2>Now</h2>${factList(facts)}</section>
<p><a href="/">Back to the queue</a></p>`,
    now,
  );
}
