/** The cards with the fields of the order's own transaction that the policy key `shown` names. */
import type { Shown as Fields } from '../../../contract/order/shown.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { html, type Shown } from '../html.ts';
import { type Facts, factList, table } from '../layout.ts';
import { money } from '../words.ts';

/** @returns the customer's data and the items; nothing if the policy shows none */
export function shownCards(state: InspectedOrder['state']): Shown {
  return state?.shown && html`${customer(state.shown)}${items(state.shown, state.currency)}`;
}

function customer({ attempt, name, email, billTo, shipTo, avs, cvv }: Fields): Shown {
  const [billed, shipped] = [billTo, shipTo].map(address);
  const differs = billed && shipped && billed !== shipped && html` <b class="flag">differs</b>`;
  const facts: Facts = [
    ['Name', name],
    ['E-mail', email],
    ['Phone', billTo?.phoneNumber],
    ['Billing address', billed && html`<span class="lines">${billed}</span>`],
    ['Shipping address', shipped && html`<span class="lines">${shipped}</span>${differs}`],
    ['AVS', avs && `${AVS[avs] ?? 'Other result'} (${avs})`],
    ['CVV', cvv && `${CVV[cvv] ?? 'Other result'} (${cvv})`],
  ];
  if (facts.every(([, content]) => !content)) return undefined;
  const title = attempt > 1 ? `Customer, attempt ${attempt}` : 'Customer';
  return html`<section class="card"><h2>${title}</h2>${factList(facts)}</section>`;
}

function address(given: Fields['billTo'] = {}): string {
  const { firstName, lastName, company, address, city, state, zip, country } = given;
  const lines = [[firstName, lastName], [company], [address], [zip, city, state], [country]];
  const known = lines.map((words) => words.filter(Boolean).join(' '));
  return known.filter(Boolean).join('\n');
}

function items({ items: given = [] }: Fields, currency: string | undefined): Shown {
  if (given.length === 0) return undefined;
  const rows = given.map(({ name, sku, category, price, quantity }) => [
    html`${name ?? 'no name'} <span class="quiet">${sku ?? category}</span>`,
    quantity,
    price !== undefined && money(price, currency),
  ]);
  const columns = { Item: '', Quantity: 'number', Price: 'number' };
  return html`<section class="card"><h2>Items</h2>${table('Items', columns, rows)}</section>`;
}

const AVS: Record<string, string> = {
  Y: 'Street and postcode match',
  X: 'Street and postcode match',
  A: 'Street matches, postcode does not',
  Z: 'Postcode matches, street does not',
  W: 'Postcode matches, street does not',
  N: 'Neither street nor postcode matches',
  U: 'Not available',
  G: 'Not supported by the bank',
  R: 'Not available, try again',
  S: 'Not supported by the bank',
};
const CVV: Record<string, string> = {
  M: 'Matches',
  N: 'Does not match',
  P: 'Not checked',
  S: 'Missing on the card',
  U: 'Not supported by the bank',
};
