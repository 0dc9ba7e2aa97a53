/** The pages of many orders: the queue at `/`, its wall display, its CSV file, and the last days. */
import { DAY_DECISIONS, type Days } from '../../client/list-orders.ts';
import { instant, millis, ORDER_DECISIONS, PHASES } from '../../contract/words.ts';
import type { OrderSummary } from '../../starter.ts';
import {
  amount,
  cell,
  distance,
  duration,
  type Html,
  html,
  type Now,
  orderPath,
  page,
  picture,
  type Shown,
  table,
  transactionPath,
} from './layout.ts';
import { type Counts, type QueueFilters, SHOWN, type Show, WITHIN } from './read-queue.ts';

export interface QueueView extends QueueFilters {
  orders: readonly OrderSummary[];
  counts: Counts;
  /** Whether this isn't the first page. */
  continued: boolean;
  /** The cursor of the next page. */
  cursor?: string | undefined;
  /** Integrations whose account can be searched for the transaction if no order is found. */
  readable: readonly string[];
  /** Whether to show the wall display: no controls, and refreshed automatically. */
  wall: boolean;
  /** Whether the viewer may act on several orders at once. */
  several: boolean;
}

const HOUR_MS = 3_600_000;
const COLUMNS = ['Order', 'Amount', 'Decision', 'Deadline', 'Age', 'Phase', 'Needs attention'];

/** @returns the page @param now the time that ages and distances are relative to */
export function queuePage(view: QueueView, now: Now): string {
  const { orders, wall, several } = view;
  const columns = several && !wall ? ['Select', ...COLUMNS] : COLUMNS;
  const tables = sections(orders, now.ms).map(([title, those]) => {
    const rows = those.map((order) => row(order, columns, now));
    const kinds = those.map((order) => urgency(order, now.ms));
    return html`<section><h2>${title} <span class="quiet">${those.length}</span></h2>
${table(title, columns, rows, kinds)}</section>
`;
  });
  const content = html`${countsOf(view.counts, !wall && !view.continued && daysLink(view))}
${!wall && filters(view)}
${several && !wall && orders.length > 0 ? html`<form action="/several" method="get">${tables}${severalButtons()}</form>` : tables}
${orders.length === 0 && html`<p class="notice">${nothing(view)}</p>`}
${!wall && paging(view)}`;
  return page('Order queue', wall ? html`<div class="wall">${content}</div>` : content, now, wall);
}

function nothing(view: QueueView): Shown {
  const { q, readable } = view;
  if (q !== undefined) {
    return html`No order has this id, invoice number or transaction.${readable.map(
      (name) => html` <a href="${transactionPath(q, name)}">Search at the screening service (${name})</a>`,
    )}`;
  }
  if (view.continued) return 'No more orders.';
  const isFiltered = filterQuery({ ...view, cursor: undefined }) !== filterQuery({ show: 'all' });
  return isFiltered ? 'No orders match these filters.' : 'No orders need a person.';
}

function countsOf({ review, soon, attention, open }: Counts, last: Shown): Html {
  const counted: [count: number, words: string, urgent: boolean][] = [
    [review, 'in review', false],
    [soon, 'of them within 12 hours', soon > 0],
    [attention, 'need attention', attention > 0],
    [open, 'open in all', false],
  ];
  return html`<ul class="counts" aria-label="Orders in numbers">${counted.map(
    ([count, words, urgent]) =>
      html`<li${urgent && html` class="now"`}><strong>${count.toLocaleString('en')}</strong> ${words}</li>`,
  )}${last}</ul>`;
}

/** The picture loads after the page, since its counts take longer than the rest. */
function daysLink({ integration }: QueueView): Html {
  const query = integration === undefined ? '' : `?integration=${integration}`;
  return html`<li><a href="/days${query}"><img src="${DAYS_PICTURE_PATH}${query}" alt="" width="108" height="31" loading="lazy">orders per day</a></li>`;
}

/** The form has no cursor, so that changed filters start at the first page. */
function filters(view: QueueView): Html {
  const { show, q, integration, decision, phase, within, amountFrom, amountTo } = view;
  const chosen = (words: readonly string[], value: string | undefined) =>
    ['', ...words].map(
      (one) =>
        html`<option value="${one}"${one === (value ?? '') && html` selected`}>${one === '' ? 'any' : one}</option>`,
    );
  return html`<form class="filters" action="/" method="get" role="search">
<div><label for="q">Order, invoice or transaction</label>
<input type="search" id="q" name="q" value="${q ?? ''}" autocapitalize="none" spellcheck="false"></div>
<div><label for="show">Show</label>
<select id="show" name="show">${SHOWN.map((one) => html`<option value="${one}"${one === show && html` selected`}>${NAMES[one]}</option>`)}</select></div>
<div><label for="within">Deadline</label>
<select id="within" name="within">${['', ...WITHIN].map((one) => html`<option value="${one}"${one === String(within ?? '') && html` selected`}>${one === '' ? 'any' : `within ${one} h`}</option>`)}</select></div>
<div><label for="decision">Decision</label><select id="decision" name="decision">${chosen(ORDER_DECISIONS, decision)}</select></div>
<div><label for="phase">Phase</label><select id="phase" name="phase">${chosen(PHASES, phase)}</select></div>
<div><label for="amount-from">Amount from</label><input class="short" id="amount-from" name="amount-from" inputmode="decimal" value="${amountFrom ?? ''}"></div>
<div><label for="amount-to">below</label><input class="short" id="amount-to" name="amount-to" inputmode="decimal" value="${amountTo ?? ''}"></div>
<div><label for="integration">Integration</label>
<input class="short" id="integration" name="integration" value="${integration ?? ''}" placeholder="all" autocapitalize="none" spellcheck="false"></div>
<button>Show</button>
</form>`;
}

const NAMES: Record<Show, string> = {
  all: 'in review or needing attention',
  review: 'in review',
  attention: 'needing attention',
  any: 'every order',
};

function sections(orders: readonly OrderSummary[], nowMs: number): [title: string, those: OrderSummary[]][] {
  const byTitle = new Map<string, OrderSummary[]>();
  for (const order of orders) {
    const title = SECTIONS[urgency(order, nowMs)];
    byTitle.set(title, [...(byTitle.get(title) ?? []), order]);
  }
  return [...byTitle];
}

type Urgency = 'closed' | 'none' | 'over' | 'now' | 'soon' | 'later';
const SECTIONS: Record<Urgency, string> = {
  closed: 'Closed',
  none: 'Without a cancel window',
  over: 'Cancel window over',
  now: 'Within 12 hours',
  soon: 'Within 48 hours',
  later: 'Later',
};

function urgency({ cancelBy, closedAt }: OrderSummary, nowMs: number): Urgency {
  if (closedAt !== undefined) return 'closed';
  if (cancelBy === undefined) return 'none';
  const leftMs = millis(cancelBy) - nowMs;
  if (leftMs < 0) return 'over';
  return leftMs < 12 * HOUR_MS ? 'now' : leftMs < 48 * HOUR_MS ? 'soon' : 'later';
}

function row(summary: OrderSummary, columns: readonly string[], now: Now): Html {
  const { orderId, integration, cancelBy, startedAt, phase } = summary;
  const cells: Record<string, Shown> = {
    Select: html`<input type="checkbox" name="order" value="${integration}/${orderId}" aria-label="Select order ${orderId}">`,
    Order: html`<span class="line" title="${orderId}"><a href="${orderPath(summary)}">${orderId}</a> <span class="quiet">${integration}</span></span>`,
    Amount: summary.amount === undefined ? '–' : amount(summary.amount),
    Decision: decisionTag(summary),
    Deadline:
      cancelBy === undefined ? 'none' : html`<span class="deadline">${distance(cancelBy, now)}</span>`,
    Age: html`<time datetime="${startedAt}">${duration(Math.max(0, now.ms - millis(startedAt)))}</time>`,
    Phase: phase ?? 'unknown',
    'Needs attention': attention(summary),
  };
  return html`${columns.map((name) => cell(name, cells[name], name === 'Amount' ? 'number' : undefined))}`;
}

/** @returns the decision with a color for its severity, and the action */
function decisionTag({ decision = 'pending', action }: Pick<OrderSummary, 'decision' | 'action'>): Html {
  const kinds: Partial<Record<typeof decision, string>> = {
    pass: 'good',
    skipped: 'good',
    review: 'wait',
    pending: 'wait',
  };
  return html`<span class="tag ${kinds[decision] ?? 'bad'}">${decision}</span> ${action ?? 'unknown'}`;
}

function attention({ needsAttention, attention: open = [], problem }: OrderSummary): Shown {
  if (problem !== undefined) return html`<span class="tag bad">${problem}</span>`;
  const words = open.map((one) => one.words);
  if (words.length === 0) return needsAttention ? html`<span class="tag bad">yes</span>` : 'no';
  const [first] = words;
  const more = words.length > 1 && ` (and ${words.length - 1} more)`;
  return html`<span class="line" title="${words.join('\n')}">${first}${more}</span>`;
}

function severalButtons(): Html {
  return html`<p class="actions"><label for="do">Selected</label>
<select id="do" name="do"><option value="recheck">recheck</option><option value="acknowledge">acknowledge</option><option value="proceed">approve</option><option value="decide-cancel">reject</option></select>
<button>Review selection</button></p>`;
}

/** @returns the filters as a query, for the page, the next page, the CSV file and the wall display */
function filterQuery(view: QueueFilters & { cursor?: string | undefined }): string {
  const given = {
    q: view.q,
    show: view.show,
    within: view.within,
    decision: view.decision,
    phase: view.phase,
    'amount-from': view.amountFrom,
    'amount-to': view.amountTo,
    integration: view.integration,
    cursor: view.cursor,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, `${value}`);
  return query.toString();
}

function paging({ cursor, continued, ...view }: QueueView): Html {
  return html`<nav class="actions" aria-label="Paging">
${continued && html`<a class="button" href="/?${filterQuery(view)}">First page</a>`}
${cursor !== undefined && html`<a class="button" href="/?${filterQuery({ ...view, cursor })}">Next page</a>`}
<a href="/queue.csv?${filterQuery(view)}">As CSV</a> <a href="/?${filterQuery(view)}&amp;wall=1">Wall display</a>
</nav>`;
}

// The chart of the last days.

/** Path of the small chart. */
export const DAYS_PICTURE_PATH = '/days.svg';

const dayName = (index: number) => (index === 0 ? 'last 24 h' : `${index} d ago`);

/** @returns the chart of orders per day, oldest first @param named whether to label the columns */
export function daysPicture({ days }: Days, named = false): Html {
  const columns = days.map(({ counts }, index) => ({
    name: named ? dayName(index) : undefined,
    bars: DAY_DECISIONS.map((kind) => ({ kind, count: counts[kind] })),
  }));
  const title = named ? 'Orders per day, same data as in the table below' : 'Orders per day';
  return picture(title, columns.toReversed());
}

/** @returns the page */
export function daysPage(of: Days, now: Now): string {
  const { days, older } = of;
  const rows = days.map(
    ({ counts }, index) =>
      html`${cell('Day', dayName(index))}${DAY_DECISIONS.map((one) => cell(one, counts[one].toLocaleString('en'), 'number'))}`,
  );
  const aged = [...days.map(({ openReviews }) => openReviews), older].map((count, index) => ({
    name: index === days.length ? 'older' : index === 0 ? 'under 1 d' : `${index} d`,
    count,
  }));
  const content = html`<section><h2>Orders per day by current decision</h2>
${daysPicture(of, true)}
${table('Orders per day', ['Day', ...DAY_DECISIONS], rows)}</section>
<section><h2>Age of open reviews</h2>
${picture(
  'Age of open reviews, same data as in the table below',
  aged.map(({ name, count }) => ({ name, bars: [{ kind: 'review', count }] })),
)}
${table(
  'Age of open reviews',
  ['Age', 'Reviews'],
  aged.map(({ name, count }) => html`${cell('Age', name)}${cell('Reviews', count, 'number')}`),
)}</section>`;
  return page('Last days', content, now);
}

/** @returns the name of the CSV file */
export function csvName(now: Now): string {
  return `orders-${instant(now.ms).slice(0, 16).replace(':', '')}.csv`;
}
