/** The page of one order: on the left why it needs a person, the evidence and its timeline; on the right what to do. */
import { orderWorkflowId } from '../../../contract/ids.ts';
import type { OrderState } from '../../../contract/order/state.ts';
import { millis } from '../../../contract/words.ts';
import { describePhase } from '../../../order/view/describe.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { policyLink, type TemporalUi, temporalLink, transactionPath } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import { decisionPill, type Facts, factList, type Page, table } from '../layout.ts';
import { cameAt, type Evidence, evidenceOf, insightWords } from '../queue/queue-list.ts';
import { clock, dayOf, duration, type Now, shortClock, timeOfDay } from '../words.ts';
import { type ActingView, aside, foldedForm } from './order-aside.ts';
import { shownCards } from './shown-cards.ts';
import { lastCheck, ORIGINS, timeline } from './timeline.ts';

export interface OrderView extends ActingView {
  /** The result of the last action. */
  notice: string | undefined;
  temporalUi: TemporalUi | undefined;
  /** Of the integration's policy. */
  portalLink: string | undefined;
  shopLink: string | undefined;
  list: ListAround;
}

/** The list that an order's page was opened from, and the orders before and after it there. */
export interface ListAround {
  path: string;
  name: string;
  total?: number;
  previous?: string | undefined;
  next?: string | undefined;
}

const KEYS = [
  'j k: next, previous',
  'a: approve',
  'r: reject',
  'z: snooze',
  'n: note',
  'u: back to the list',
  '?: all keys',
] as const;

export function orderPage(view: OrderView): Page {
  const { summary, state, missing, notice, afterEnd, now } = view;
  const content = html`${way(view)}
${notice && html`<p class="box notice" role="status">${notice}</p>`}
<div class="order">
${aside(view)}
<div class="left">
${missing && html`<div class="box red" role="status"><b>The record can’t be shown</b><p>${MISSING[missing]} This page shows only Temporal’s own data.</p></div>`}
${attention(view)}
${state && evidence(state, view)}
${shownCards(state)}
${transactions(view)}
<section class="card time"><h2>Timeline</h2>${afterEnd?.incomplete && html`<p class="box amber">Not everything after the order’s end could be read this time: reload the page.</p>`}${timeline(view, now)}</section>
${technical(view)}
</div>
</div>`;
  return { title: `Order ${summary.orderId}`, content, keys: KEYS };
}

const MISSING: Record<NonNullable<InspectedOrder['missing']>, string> = {
  undecryptable: 'The API’s PAYLOAD_KEYS can’t decrypt the order’s data: see docs/encryption.md.',
  'no-record': 'The workflow ended without a record because it was terminated or failed.',
};

/** The line above the page: the way back, next and previous, the order's id, and where else it can be seen. */
function way(view: OrderView): Html {
  const { summary, state, runId, list, place, temporalUi, portalLink, shopLink, now } = view;
  const { orderId, integration, transactionIds } = summary;
  const came = cameAt({ summary, ...(state && { state }) });
  const attempts = state?.attempts.length ?? 1;
  const verb = state?.adopted === undefined ? 'received' : 'screened';
  const transactionId = state?.transactions.at(-1)?.id ?? transactionIds.at(-1);
  const step = (rel: string, name: string, to: string | undefined, key: string, words: Html) =>
    to &&
    html`<a class="button" href="${to}" rel="${rel}" aria-keyshortcuts="${key}" aria-label="${name} order">${words}</a>`;
  const previous = step('prev', 'Previous', list.previous, 'k', html`‹ <span class="word">Previous</span>`);
  const next = step('next', 'Next', list.next, 'j', html`<span class="word">Next</span> ›`);
  return html`<div class="way">
<nav class="steps" aria-label="Place in the list"><span><a href="${list.path}" aria-keyshortcuts="u">‹ ${list.name}</a>${list.total !== undefined && html` <span class="quiet">${place.pos} of ${list.total}</span>`}</span>${(previous ?? next) && html`<span class="line">${previous}${next}</span>`}</nav>
<h1>${orderId}</h1><span class="quiet meta">${integration} · ${verb} ${dayOf(came, now)} ${timeOfDay(came, now)}, ${duration(now.ms - millis(came))} ago${attempts > 1 && ` · attempt ${attempts}`}</span>
<span class="end line">${outLink(policyLink(shopLink, '{orderId}', orderId), 'Shop')}${outLink(policyLink(portalLink, '{transactionId}', transactionId), 'Portal')}${temporalUi && outLink(temporalLink(temporalUi, summary, runId), 'Temporal', 'Order in the Temporal UI')}</span>
</div>`;
}

/** A link to another service. @param label says what it leads to, if the words don't */
function outLink(url: string | undefined, words: string, label?: string): Shown {
  return (
    url && html`<a href="${url}" rel="noreferrer"${label && html` aria-label="${label}"`}>${words} ↗</a>`
  );
}

/** What needs attention and what to do, with a form to resolve it. */
function attention(view: OrderView): Shown {
  const { state, summary, may, now } = view;
  const open = state?.attention ?? [];
  if (open.length === 0 && !summary.needsAttention) return undefined;
  const each = open.map(
    ({ words, since }) => html`<b>Attention: ${words}</b><p>Since ${clock(since, now)}.</p>`,
  );
  return html`<div class="box red" id="attention">${open.length > 0 ? each : html`<b>The order needs attention</b>`}${may.act && foldedForm('acknowledge', view)}</div>`;
}

/** What the screening service found, for and against the order. */
function evidence(state: OrderState, view: OrderView): Html {
  const { now } = view;
  const all = evidenceOf(state);
  const [strongest] = all;
  const inGroup = (name: Evidence['group']) => all.filter(({ group }) => group === name);
  const last = lastCheck(view);
  const attempt = state.attempts.length;
  const said = html`Decision ${decisionPill(state.decision)}${state.reason !== undefined && ` (${state.reason})`}${attempt > 1 && ` for attempt ${attempt}`}. ${inGroup('recommendation').map((one) => `${insightWords(one).replace(/\.$/, '')}. `)}
${last && html`Last check ${shortClock(last.at, now)}, ${ORIGINS[last.source]}${!last.answered && ', without an answer'}.`}`;
  if (strongest === undefined) {
    return html`<section class="card pair"><h2>${describePhase(state.phase)}</h2><p class="quiet">${said} The screening service sent no insights.</p></section>`;
  }
  return html`<section class="card pair"><h2>${insightWords(strongest)}</h2><p class="quiet">${said}</p>
${proof('Against the order', inGroup('risk'), now)}${proof('For the order', inGroup('trust'), now)}${inGroup('neutral').length > 0 && proof('Other', inGroup('neutral'), now)}</section>`;
}

function proof(title: string, found: readonly Evidence[], now: Now): Html {
  const lines = found.map(
    ({ impact, at, source, attempt, isNew, ...one }) =>
      html`<li><span${impact && html` class="weight ${impact}"`}>${impact}</span><span>${insightWords(one)}</span><small>${isNew && html`<b class="flag new">New</b>`}${clock(at, now)}, ${ORIGINS[source]}${attempt > 1 && ` · attempt ${attempt}`}</small></li>`,
  );
  return html`<div><h3>${title}</h3>${lines.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<ul class="proof">${lines}</ul>`}</div>`;
}

function transactions({ state, summary, portalLink, now }: OrderView): Shown {
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

/** Ids and events, folded. */
function technical(view: OrderView): Html {
  const { summary, state, may, now } = view;
  const { delivered, sequence, last = [] } = state?.events ?? { delivered: 0, sequence: 0 };
  const ids: Facts =
    state?.transactions.map(({ id, attempt, invoiceNumber }) => [
      `Transaction, attempt ${attempt}`,
      html`<code>${id}</code> invoice <code>${invoiceNumber}</code>`,
    ]) ?? summary.transactionIds.map((id) => ['Transaction', html`<code>${id}</code>`]);
  const facts: Facts = [
    ...ids,
    ['Workflow', html`<code>${orderWorkflowId(summary.integration, summary.orderId)}</code>`],
    ['Integration workflow', state?.workflow],
    ['Events delivered', state && `${delivered} of ${sequence}`],
  ];
  const events = last
    .toReversed()
    .map(
      ({ sequence: number, type, occurredAt }) =>
        html`<li>${number}: ${type}, ${clock(occurredAt, now)} ${may.act && foldedForm('redeliver', view, number)}</li>`,
    );
  return html`<details class="card"><summary>Technical ids and events</summary>
${factList(facts)}
${events.length > 0 && html`<ul class="ids-events">${events}</ul>`}</details>`;
}
