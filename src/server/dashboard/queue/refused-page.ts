/** The page of the checkouts that were refused for their content: no order was started, so nobody screens them. */
import type { RefusedCheckout } from '../../api/refused-checkouts.ts';
import { html } from '../html.ts';
import { cardPage, type Page, table } from '../layout.ts';
import { clock, type Now } from '../words.ts';

export const REFUSED_PATH = '/refused';

/** @param refused the newest first */
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
