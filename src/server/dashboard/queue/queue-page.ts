/** The queue at `/`: tabs, search, filters, the table with its bands, and the bar for selected orders. */
import { instant, ORDER_DECISIONS, PHASES } from '../../../contract/words.ts';
import type { Filters } from '../addresses.ts';
import { listPath, listQuery, orderPath, TAB_NAMES, TABS, transactionPath } from '../addresses.ts';
import { REFUSED_PATH } from '../card-pages.ts';
import { type Html, html, type Shown } from '../html.ts';
import { anyOf, decisionPill, options, type Page } from '../layout.ts';
import { age, distance, duration, money, type Now, shortClock } from '../words.ts';
import { BANDS, countTabs, type Entry, filtered, markOf, type Snapshot } from './queue-list.ts';

/** Rows per page of a list of the queue. */
export const ROWS = 100;
/** A queue that can be read is never older. */
const OLD_MS = 30_000;

interface QueueView {
  filters: Filters;
  queue: Snapshot;
  /** The orders of the list: of the queue, or as the search or the list of every order found them. */
  entries: readonly Entry[];
  /** Of a list of the queue, from 1. */
  page: number;
  /** The cursor of this and of the next page, of a search or of every order. */
  cursor?: string | undefined;
  next?: string | undefined;
  selected: boolean;
  /** Integrations to choose from, and those whose account can be searched for a transaction. */
  stores: readonly string[];
  several: boolean;
  refused: number;
}

const KEYS = 'j k: move; Enter: open; x: select; /: search; ?: all keys';

export function queuePage(view: QueueView, now: Now): Page {
  const { filters, queue, entries, several, selected, page: at, cursor } = view;
  const rows = entries.slice((at - 1) * ROWS, at * ROWS);
  const oldMs = now.ms - queue.atMs;
  const isQueue = filters.list !== 'every';
  const pathOf = (entry: Entry) => {
    const pos = isQueue ? entries.indexOf(entry) + 1 : undefined;
    return orderPath(entry.summary, undefined, { from: listQuery(filters, { cursor }), pos });
  };
  const banded = isQueue ? entries : undefined;
  const pick = several ? selectAll(view, 'All') : undefined;
  const orders = orderTable({ label: 'Orders', rows, pathOf, banded, pick, selected }, now);
  const chips = chosen(filters).map(
    ([words, without]) =>
      html`<span class="chip">${words}<a href="${listPath(without)}" aria-label="Remove filter: ${words}">×</a></span>`,
  );
  // The script asks every 15 s whether the list has changed; the answer is a link to the same list.
  const seen = `seen=${rows.map(markOf).join('')}`;
  const poll = [listQuery(filters, { page: at }), seen].filter(Boolean).join('&');
  const news = html`<span id="news" role="status" data-poll="/news?${poll}" data-seconds="15"></span>`;
  const content = html`<h1 class="sr">${filters.q === undefined ? 'Queue' : 'Search'}</h1>
${tabs(view)}
<div class="tools" id="tools"><form class="find" role="search" action="/"><label class="sr" for="q">Search order, invoice or transaction</label><input type="search" id="q" name="q" value="${filters.q}" placeholder="Order, invoice or transaction" autocapitalize="none" spellcheck="false" maxlength="128" aria-keyshortcuts="/"><kbd aria-hidden="true">/</kbd></form>
${fold(view)}${chips}<div class="line end">${isQueue && news}<a class="desk" href="${listPath(filters, undefined, '/queue.csv')}">CSV</a></div></div>
${oldMs > OLD_MS && html`<p class="box amber"><b>The list is ${duration(oldMs)} old.</b> Temporal can’t be reached.</p>`}
${queue.cut && html`<p class="box">The queue has more orders than are shown here: open ones with the nearest deadlines ahead are in it.</p>`}
${rows.length === 0 ? nothing(view, now) : several ? html`<form class="many" action="/several" method="get"><input type="hidden" name="from" value="${listQuery(filters, { page: at, cursor })}">${orders}${bar(view, rows)}</form>` : orders}
${paging(view)}
${view.refused > 0 && html`<p class="quiet refused"><a href="${REFUSED_PATH}">Refused checkouts</a>: no order was started for the last ${view.refused}.</p>`}`;
  return { title: TAB_NAMES[filters.list], content, keys: KEYS, ...(isQueue && { readMs: queue.atMs }) };
}

function tabs({ filters, queue }: QueueView): Html {
  const counts = countTabs(queue.entries, filters);
  const snoozed = counts.snoozed > 0 || filters.list === 'snoozed';
  const links = [...TABS, ...(snoozed ? (['snoozed'] as const) : [])].map((tab) => {
    const urgent = (tab === 'overdue' || tab === 'attention') && counts[tab] > 0;
    return html`<a href="${listPath({ ...filters, q: undefined, list: tab })}"${tab === filters.list && html` aria-current="true"`}>${TAB_NAMES[tab]} <b${urgent && html` class="red"`}>${counts[tab].toLocaleString('en')}${queue.cut && '+'}</b></a>`;
  });
  return html`<nav class="tabs" aria-label="Lists">${links}</nav>`;
}

/** The filters besides the list, each with its field's name in the form. */
const FILTERS = [
  { key: 'decision', name: 'decision', label: 'Decision' },
  { key: 'phase', name: 'phase', label: 'Phase' },
  { key: 'integration', name: 'integration', label: 'Store' },
  { key: 'amountFrom', name: 'amount-from', label: 'Amount from' },
  { key: 'amountTo', name: 'amount-to', label: 'Amount below' },
] as const;

/** The form has no page and no search, so that changed filters start at the first page of a list. */
function fold({ filters, stores }: QueueView): Html {
  const { list } = filters;
  const lists = { [list]: TAB_NAMES[list], all: 'The whole queue', every: 'Every order, also closed' };
  const choices = { decision: ORDER_DECISIONS, phase: PHASES, integration: stores };
  const count = chosen(filters).length;
  const fields = FILTERS.map(({ key, name, label }) => {
    const field =
      key === 'amountFrom' || key === 'amountTo'
        ? html`<input id="f-${name}" name="${name}" inputmode="decimal" value="${filters[key]}">`
        : html`<select id="f-${name}" name="${name}">${options(anyOf(choices[key]), filters[key])}</select>`;
    return html`<div><label for="f-${name}">${label}</label>${field}</div>\n`;
  });
  return html`<details class="fold"><summary class="button">Filters${count > 0 && html` <span class="quiet">${count}</span>`}</summary>
<form action="/">
<div><label for="f-list">Look in</label><select id="f-list" name="list">${options(lists, list)}</select></div>
${fields}<div class="line"><button class="primary">Apply</button></div>
</form></details>`;
}

/** The active filters, each with the filters that are left without it. */
function chosen(filters: Filters): [words: string, without: Filters][] {
  if (filters.q !== undefined) return [[`“${filters.q}” in every order`, { list: 'all' }]];
  const active = FILTERS.filter(({ key }) => filters[key] !== undefined).map(
    ({ key, label }): [string, Filters] => [`${label} ${filters[key]}`, { ...filters, [key]: undefined }],
  );
  if (filters.list !== 'every') return active;
  return [['Every order, also closed', { ...filters, list: 'all' }], ...active];
}

/** @param seen the marks of the orders on the page @returns the link that announces changes; nothing without changes */
export function newsLink(filters: Filters, at: number, entries: readonly Entry[], seen: string): Shown {
  const before: readonly string[] = seen.match(/.{5}/g) ?? [];
  const rows = filtered(entries, filters).slice((at - 1) * ROWS, at * ROWS);
  const now = rows.map(markOf);
  const came = now.filter((mark) => !before.includes(mark)).length;
  const left = before.filter((mark) => !now.includes(mark)).length;
  const changed = Math.max(came, left);
  if (changed === 0) return undefined;
  return html`<a class="button news" href="${listPath(filters, { page: at })}">${changed} changed, show</a>`;
}

interface OrderTable {
  label: string;
  rows: readonly Entry[];
  pathOf: (entry: Entry) => string;
  /** The orders of all pages of a list that has bands. */
  banded?: readonly Entry[] | undefined;
  /** The head of the column of check boxes. Absent: no such column. */
  pick?: Html | undefined;
  selected?: boolean;
}

export function orderTable({ label, rows, pathOf, banded, pick, selected }: OrderTable, now: Now): Html {
  const row = (entry: Entry): Html => {
    const { summary, why, band, since } = entry;
    const { orderId, integration, assignee, amount, currency, decision, action } = summary;
    const kind = band === 'overdue' ? 'late' : band === 'now' ? 'near' : 'far';
    return html`<tr role="row" class="${kind}">
${pick && html`<td role="cell" class="pick"><label><input type="checkbox" name="order" value="${integration}/${orderId}"${selected && html` checked`}><span class="sr">Select ${orderId}</span></label></td>`}
<td role="cell" class="id" title="${orderId}"><a href="${pathOf(entry)}">${orderId}</a> <span class="store quiet">${integration}${assignee !== undefined && ` · ${assignee}`}</span></td>
<td role="cell" class="number amount">${money(amount, currency)}</td>
<td role="cell" class="why" title="${why.words}">${why.flag && html`<b class="flag ${why.flag.toLowerCase()}">${why.flag}</b>`}${why.words}</td>
<td role="cell" class="when-cell">${deadline(summary, now)}</td>
<td role="cell" class="age quiet">${age(since, now)}</td>
<td role="cell" class="d-cell">${decisionPill(decision, action)}</td>
</tr>
`;
  };
  const inBands = BANDS.map(({ band, name }) => {
    const [those, total] = [rows, banded ?? []].map((list) => list.filter((one) => one.band === band));
    const isOver = band === 'overdue';
    const title = html`<b${isOver && html` class="late-text"`}>${name}</b> <span>${total?.length.toLocaleString('en')}${isOver && ' · cancel window closed'}</span>`;
    if (!those?.length) return undefined;
    return html`<tbody role="rowgroup">
<tr role="row" class="band"><th role="rowheader" scope="rowgroup" colspan="${pick ? 7 : 6}">${title}</th></tr>
${those.map(row)}</tbody>`;
  });
  return html`<table class="orders" role="table" aria-label="${label}"><colgroup>${pick && html`<col class="c-pick">`}<col class="c-id"><col class="c-amount"><col><col class="c-when"><col class="c-age"><col class="c-d"></colgroup>
<thead role="rowgroup"><tr role="row">${pick && html`<th role="columnheader" scope="col" class="pick">${pick}</th>`}<th role="columnheader" scope="col">Order</th><th role="columnheader" scope="col" class="number">Amount</th><th role="columnheader" scope="col">Why</th><th role="columnheader" scope="col"${banded && html` aria-sort="ascending"`}>Deadline</th><th role="columnheader" scope="col">Age</th><th role="columnheader" scope="col">Decision → action</th></tr></thead>
${banded ? inBands : html`<tbody role="rowgroup">${rows.map(row)}</tbody>`}
</table>`;
}

/** The end of the cancel window, as the time that is left and the clock. */
function deadline({ cancelBy, closedAt }: Entry['summary'], now: Now): Html {
  if (cancelBy === undefined || (closedAt !== undefined && cancelBy > instant(now.ms)))
    return html`<span class="quiet">${closedAt === undefined ? 'none' : 'closed'}</span>`;
  return html`<time class="when" datetime="${cancelBy}">${distance(cancelBy, now)}</time> <span class="at quiet">${shortClock(cancelBy, now)}</span>`;
}

function selectAll({ filters, page: at, entries, cursor }: QueueView, words: string): Html {
  const path = listPath(filters, { page: at, cursor, select: 'all' });
  return html`<a href="${path}" class="all" aria-label="Select all ${Math.min(ROWS, entries.length)}">${words}</a>`;
}

function bar(view: QueueView, rows: readonly Entry[]): Html {
  return html`<div class="bar" role="group" aria-label="With the selected orders">
<span class="n" role="status">selected</span>
<button name="do" value="proceed" class="primary">Approve…</button>
<button name="do" value="decide-cancel" class="danger">Reject…</button>
<button name="do" value="acknowledge">Resolve…</button>
<button name="do" value="snooze">Snooze…</button>
<button name="do" value="note">Add note…</button>
<button name="do" value="recheck">Recheck…</button>
<span class="end line">${selectAll(view, `Select all ${rows.length}`)}<button type="reset" class="plain">Clear</button></span>
</div>`;
}

function nothing({ filters, queue, stores, page: at, cursor }: QueueView, now: Now): Html {
  const { q, list } = filters;
  const { next } = queue;
  const section = (title: string, words?: Shown, sign?: Html) =>
    html`<section class="clear">${sign}<h2>${title}</h2><p>${words}</p></section>`;
  if (q !== undefined) {
    const others = stores.map(
      (name) => html`<br><a href="${transactionPath(q, name)}">Search at the screening service (${name})</a>`,
    );
    return section('No order found', ['No order has this id, invoice number or transaction.', ...others]);
  }
  if (at > 1 || cursor !== undefined) return section('No more orders');
  if (list === 'every') return section('No order matches', 'Of every order, none matches these filters.');
  if (chosen(filters).length > 0) {
    const every = html`<br><a href="${listPath({ ...filters, list: 'every' })}">Look in every order</a>`;
    const where = `In “${TAB_NAMES[list]}” no order matches these filters.`;
    return section('No order matches', [where, every]);
  }
  const title = list === 'all' ? 'Queue is clear' : `Nothing in “${TAB_NAMES[list]}”`;
  const sign = html`<svg viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="20"/><path d="M15 25l6 6 12-13"/></svg>`;
  if (next?.cancelBy === undefined) return section(title, 'No deadline is ahead.', sign);
  const ahead = html`Next deadline in ${distance(next.cancelBy, now)}: <a href="${orderPath(next)}">${next.orderId}</a>.`;
  return section(title, ahead, sign);
}

function paging({ filters, entries, page: at, cursor, next }: QueueView): Shown {
  const first = at > 1 || cursor !== undefined;
  const place =
    next !== undefined ? { cursor: next } : entries.length > at * ROWS ? { page: at + 1 } : undefined;
  if (!first && place === undefined) return undefined;
  return html`<nav class="line paging" aria-label="Pages of the list">
${first && html`<a class="button" href="${listPath(filters)}">First page</a>`}
${place && html`<a class="button" href="${listPath(filters, place)}">Next page</a>`}
</nav>`;
}
