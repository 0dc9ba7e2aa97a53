/** The page at `/`: orders in review and orders that need attention, the nearest deadline first. */
import { millis } from '../../orders/words.ts';
import type { OrderSummary } from '../../starter.ts';
import { type Checks, checksOf } from './confirm-page.ts';
import {
  amount,
  cell,
  duration,
  type Html,
  html,
  moment,
  orderPath,
  page,
  type Shown,
  type TemporalUi,
  table,
  temporalAnchor,
  temporalLink,
} from './layout.ts';
import { type QueuedOrder, SHOWN, type Show } from './read-queue.ts';

export interface QueueView {
  orders: readonly QueuedOrder[];
  show: Show;
  integration?: string | undefined;
  /** This isn't the first page. */
  continued: boolean;
  /** Of the next page. */
  cursor?: string | undefined;
  temporalUi: TemporalUi | undefined;
}

const HOUR_MS = 3_600_000;
const COLUMNS = [
  'Order',
  'Amount',
  'Decision',
  'Needs attention',
  'Age',
  'Deadline',
  'Last check',
  'Next check',
  'Temporal',
];

/** @returns the page @param nowMs the moment that ages and distances are counted from */
export function queuePage(view: QueueView, nowMs: number): string {
  const { orders } = view;
  const content = html`${filters(view)}
${warning(orders)}
${sections(orders, nowMs).map(
  ([title, those]) => html`<section><h2>${title}</h2>
${table(
  title,
  COLUMNS,
  those.map((order) => row(order, view.temporalUi, nowMs)),
)}</section>
`,
)}
${orders.length === 0 && html`<p class="notice">${view.continued ? 'No more orders.' : 'No order waits for anybody.'}</p>`}
${paging(view)}`;
  return page('Order queue', content, nowMs);
}

/** A cursor belongs to its filters, so that a change of them begins at the first page. */
function filters({ show, integration }: QueueView): Html {
  return html`<form class="filters" action="/" method="get">
<div><label for="show">Show</label>
<select id="show" name="show">${SHOWN.map((one) => html`<option value="${one}"${one === show && html` selected`}>${NAMES[one]}</option>`)}</select></div>
<div><label for="integration">Integration</label>
<input id="integration" name="integration" value="${integration ?? ''}" placeholder="all" autocapitalize="none" spellcheck="false"></div>
<button>Show</button>
</form>`;
}

const NAMES: Record<Show, string> = {
  all: 'in review or needing attention',
  review: 'in review',
  attention: 'needing attention',
};

function warning(orders: readonly QueuedOrder[]): Html | undefined {
  const unknown = orders.filter(
    ({ inspected }) => inspected === undefined || inspected.missing === 'no-worker',
  );
  if (unknown.length === 0) return undefined;
  return html`<p class="alarm" role="status">No worker answered in time for ${unknown.length} of these orders: their last and next check may be missing. Is a worker running?</p>`;
}

function sections(orders: readonly QueuedOrder[], nowMs: number): [title: string, those: QueuedOrder[]][] {
  const byTitle = new Map<string, QueuedOrder[]>();
  for (const order of orders) {
    const title = sectionOf(order.summary, nowMs);
    byTitle.set(title, [...(byTitle.get(title) ?? []), order]);
  }
  return [...byTitle];
}

function sectionOf({ cancelBy, closedAt }: OrderSummary, nowMs: number): string {
  if (closedAt !== undefined) return 'Closed, with a matter left open';
  if (cancelBy === undefined) return 'Without a cancel window';
  const leftMs = millis(cancelBy) - nowMs;
  if (leftMs < 0) return 'Cancel window over';
  if (leftMs < 12 * HOUR_MS) return 'Within 12 hours';
  return leftMs < 48 * HOUR_MS ? 'Within 48 hours' : 'Later';
}

function row({ summary, inspected }: QueuedOrder, ui: TemporalUi | undefined, nowMs: number): Html {
  const { orderId, integration, cancelBy } = summary;
  const state = inspected?.state;
  const { last, next }: Checks = inspected === undefined ? {} : checksOf(inspected, nowMs);
  const age = duration(Math.max(0, nowMs - millis(state?.startedAt ?? summary.startedAt)));
  const cells: [name: string, content: Shown][] = [
    [
      'Order',
      html`<div><a href="${orderPath(summary)}">${orderId}</a> <span class="quiet">${integration}</span></div>`,
    ],
    ['Amount', summary.amount === undefined ? '–' : amount(summary.amount)],
    ['Decision', html`${summary.decision ?? 'unknown'}, ${summary.action ?? 'unknown'}`],
    [
      'Needs attention',
      attention(
        summary,
        state?.attention.map(({ words }) => words),
      ),
    ],
    ['Age', age],
    ['Deadline', cancelBy === undefined ? 'none' : moment(cancelBy, nowMs)],
    ['Last check', lastCheck(last, nowMs)],
    ['Next check', next === undefined ? '–' : html`${moment(next.at, nowMs)}, ${next.source}`],
    ['Temporal', temporalAnchor(temporalLink(ui, summary, inspected?.runId), orderId) ?? '–'],
  ];
  return html`${cells.map(([name, content]) => cell(name, content))}`;
}

function attention({ needsAttention }: OrderSummary, words: readonly string[] = []): Shown {
  if (words.length > 0) return words.map((one) => html`<div>${one}</div>`);
  return needsAttention ? 'yes' : 'no';
}

/** @returns the last check with its source, and whether the service answered it */
export function lastCheck(last: Checks['last'], nowMs: number): Shown {
  if (last === undefined) return '–';
  return html`${moment(last.at, nowMs)}, ${last.source}${!last.answered && ' (no answer)'}`;
}

function paging({ continued, cursor, show, integration }: QueueView): Html {
  const at = (more: Record<string, string>) =>
    `/?${new URLSearchParams({ show, ...(integration !== undefined && { integration }), ...more })}`;
  return html`<nav class="actions" aria-label="Paging">
${continued && html`<a class="button" href="${at({})}">First page</a>`}
${cursor !== undefined && html`<a class="button" href="${at({ cursor })}">Next page</a>`}
</nav>`;
}
