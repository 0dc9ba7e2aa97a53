/** The cards on the left of an order's page: evidence, customer and items, transactions, ids and events. */
import { orderWorkflowId } from '../../../contract/ids.ts';
import type { Shown as Fields } from '../../../contract/order/shown.ts';
import type { OrderState } from '../../../contract/order/state.ts';
import { numberBeforeEvents } from '../../../order/record.ts';
import { PHASE_WORDS } from '../../../order/view/describe.ts';
import { policyLink, temporalLink, transactionPath } from '../addresses.ts';
import { type Evidence, evidenceOf, insightWords } from '../evidence.ts';
import { type Html, html, type Shown } from '../html.ts';
import { decisionPill, type Facts, factList, table } from '../layout.ts';
import { clock, money, type Now, shortClock } from '../words.ts';
import { foldedForm, type ShownOrder } from './action-forms.ts';
import { lastCheck, ORIGINS } from './timeline.ts';

export function evidence(state: OrderState, view: ShownOrder): Html {
  const all = evidenceOf(state);
  const [strongest] = all;
  const inGroup = (name: Evidence['group']) => all.filter(({ group }) => group === name);
  const last = lastCheck(view);
  const attempt = state.attempts.length;
  const said = html`Decision ${decisionPill(state.decision)}${state.reason !== undefined && ` (${state.reason})`}${attempt > 1 && ` for attempt ${attempt}`}. ${inGroup('recommendation').map((one) => `${insightWords(one).replace(/\.$/, '')}. `)}
${last && html`Last check ${shortClock(last.at, view.now)}, ${ORIGINS[last.source]}${!last.answered && ', without a decision'}.`}`;
  const proofs = html`${proof('Against the order', inGroup('risk'), view.now)}${proof('For the order', inGroup('trust'), view.now)}${inGroup('neutral').length > 0 && proof('Other', inGroup('neutral'), view.now)}`;
  return html`<section class="card pair"><h2>${strongest ? insightWords(strongest) : PHASE_WORDS[state.phase]}</h2><p class="quiet">${said}${!strongest && ' The screening service sent no insights.'}</p>
${strongest && proofs}</section>`;
}

function proof(title: string, found: readonly Evidence[], now: Now): Html {
  const lines = found.map(
    ({ impact, at, source, attempt, isNew, ...one }) =>
      html`<li><span${impact && html` class="weight ${impact}"`}>${impact}</span><span>${insightWords(one)}</span><small>${isNew && html`<b class="flag new">New</b>`}${clock(at, now)}, ${ORIGINS[source]}${attempt > 1 && ` · attempt ${attempt}`}</small></li>`,
  );
  return html`<div><h3>${title}</h3>${lines.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<ul class="proof">${lines}</ul>`}</div>`;
}

export function transactions({ state, summary, portalLink, now }: ShownOrder): Shown {
  const found = state?.transactions ?? [];
  if (found.length === 0) return undefined;
  const rows = found.toReversed().map(({ id, attempt, decision, decidedAt, source, cancelBy }) => {
    const links = html`<a href="${transactionPath(id, summary.integration)}">Status now</a> ${outLink(policyLink(portalLink, '{transactionId}', id), 'Portal')}`;
    const read = decidedAt && html`${clock(decidedAt, now)}${source && `, ${ORIGINS[source]}`}`;
    return [attempt, decision ? decisionPill(decision) : 'unknown', read, clock(cancelBy, now), links];
  });
  const columns = { Attempt: '', Decision: '', Read: '', 'Can be canceled until': '', Links: '' };
  return html`<section class="card"><h2>${found.length === 1 ? 'Transaction' : 'Transactions'}</h2>${table('Transactions', columns, rows)}</section>`;
}

export function technical(view: ShownOrder): Html {
  const { summary, state, may, now } = view;
  const last = state?.events.last ?? [];
  const ids: Facts =
    state?.transactions.map(({ id, attempt, invoiceNumber }) => [
      `Transaction, attempt ${attempt}`,
      html`<code>${id}</code> invoice <code>${invoiceNumber}</code>`,
    ]) ?? summary.transactionIds.map((id) => ['Transaction', html`<code>${id}</code>`]);
  const facts = factList([
    ...ids,
    ['Workflow', html`<code>${orderWorkflowId(summary.integration, summary.orderId)}</code>`],
    ['Integration workflow', state?.workflow],
    ['Events delivered', state && deliveredOf(state)],
  ]);
  const events = last
    .toReversed()
    .map(
      ({ sequence: number, type, occurredAt }) =>
        html`<li>${number}: ${type}, ${clock(occurredAt, now)} ${may.act && foldedForm('redeliver', view, number)}</li>`,
    );
  return html`<details class="card"><summary>Technical ids and events</summary>
${facts}
${events.length > 0 && html`<ul class="ids-events">${events}</ul>`}</details>`;
}

function deliveredOf(state: OrderState): string {
  const { delivered, sequence } = state.events;
  return `${delivered} of ${sequence - numberBeforeEvents(state)}`;
}

/** @returns links to the order in the shop, its transaction in the portal, and its run in the Temporal UI */
export function outLinks({ summary, state, runId, temporalUi, portalLink, shopLink }: ShownOrder): Shown[] {
  const transactionId = state?.transactions.at(-1)?.id ?? summary.transactionIds.at(-1);
  const temporal = temporalUi && temporalLink(temporalUi, summary, runId);
  return [
    outLink(policyLink(shopLink, '{orderId}', summary.orderId), 'Shop'),
    outLink(policyLink(portalLink, '{transactionId}', transactionId), 'Portal'),
    outLink(temporal, 'Temporal', 'Order in the Temporal UI'),
  ];
}

/** @param label says what the link leads to, if the words don't */
function outLink(url: string | undefined, words: string, label?: string): Shown {
  if (!url) return undefined;
  return html`<a href="${url}" rel="noreferrer"${label && html` aria-label="${label}"`}>${words} ↗</a>`;
}

export function customer({ attempt, name, email, billTo, shipTo, avs, cvv }: Fields): Shown {
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

export function items({ items: given = [] }: Fields, currency: string | undefined): Shown {
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
