/** The page of a transaction: its status at the screening service now, and the order that owns it. */
import type { TransactionStatus } from '../../../starter.ts';
import { html } from '../html.ts';
import { cardPage, decisionPill, factList, orderLink, type Page } from '../layout.ts';

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
