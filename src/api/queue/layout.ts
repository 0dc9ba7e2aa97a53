/** Shared parts of the pages: escaped HTML, page frame, formatted times, links. */
import { type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import { type Instant, instant } from '../../contract/words.ts';
import { isRecord } from '../../orders/shapes.ts';

/** Where the stylesheet is served. */
export const STYLE_PATH = '/queue.css';

/** The time at which a page is rendered, and its time zone. */
export interface Now {
  ms: number;
  zone: string;
}

/** Refresh interval of the wall page, which has no controls. */
const WALL_SECONDS = 30;
/** @returns the `refresh` header of a wall page, also for its error pages */
export function refreshOf(query: unknown): { refresh?: number } {
  return isRecord(query) && query.wall !== undefined ? { refresh: WALL_SECONDS } : {};
}

/** @returns a complete HTML page. It loads only resources of this server, and no scripts */
export function page(title: string, content: Shown, now?: Now, wall = false): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – order screening</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${!wall && html`<header><nav aria-label="Pages"><a href="/">Order queue</a> <a href="/days">Last days</a> <a href="/?wall=1">Wall display</a> <a href="/docs/">API documentation</a></nav></header>`}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
${now && html`<footer>Updated ${clock(instant(now.ms), now)}. ${wall ? `Refreshes every ${WALL_SECONDS} s.` : 'Reload the page to update it.'}</footer>`}
</body>
</html>
`.markup;
}

/** A link to an order in the Temporal UI; undefined without a configured UI. */
export function temporalAnchor(href: string | undefined, orderId: string): Html | undefined {
  if (href === undefined) return undefined;
  return html`<a href="${href}" aria-label="Temporal UI: order ${orderId}">Temporal UI</a>`;
}

/** A table cell. Its label is shown where the layout turns rows into cards. */
export function cell(label: string, content: Shown, kind?: 'number' | 'alarm'): Html {
  return html`<td role="cell" data-label="${label}"${kind && html` class="${kind}"`}>${content}</td>`;
}

/** @param columns the headings, in the order of the cells @param rows of `cell`s @param kinds of the rows */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly Shown[],
  kinds: readonly string[] = [],
): Html {
  // Explicit roles: browsers drop the implicit ones when the stylesheet turns rows into cards.
  return html`<table role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col" data-label="${name}">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row, index) => html`<tr role="row"${kinds[index] !== undefined && html` class="${kinds[index]}"`}>${row}</tr>\n`)}</tbody>
</table>`;
}

/** The color of each kind of bar, for light and dark mode: a separately loaded picture has no stylesheet. */
export const FILLS = { pass: '#2f8f57', review: '#c98613', fail: '#c23b3b', fraudulent: '#7b8794' } as const;

/** A column of a chart: its label, and its stacked bars, lowest first. */
export interface Column {
  name?: string | undefined;
  bars: readonly { kind: keyof typeof FILLS; count: number }[];
}

/** @returns the columns as an SVG chart, for a page or a file. A table shows the same data accessibly */
export function picture(title: string, columns: readonly Column[]): Html {
  const [height, width, step] = [160, 640, 640 / columns.length];
  const most = Math.max(1, ...columns.map(({ bars }) => bars.reduce((sum, { count }) => sum + count, 0)));
  const drawn = columns.map(({ name, bars }, index) => {
    let top = height;
    const x = Math.round(index * step + 8);
    const rects = bars.map(({ kind, count }) => {
      const tall = Math.round((count / most) * (height - 20));
      top -= tall;
      return html`<rect fill="${FILLS[kind]}" x="${x}" y="${top}" width="${Math.round(step - 16)}" height="${tall}"></rect>`;
    });
    return html`${rects}${name !== undefined && html`<text x="${x}" y="${height + 16}">${name}</text>`}`;
  });
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" aria-label="${title}" viewBox="0 0 ${width} ${height + 24}" width="${width}" height="${height + 24}">${drawn}</svg>`;
}

/** @param facts names and values; those without a value are left out */
export function factList(facts: readonly (readonly [name: string, content: Shown])[]): Html {
  const known = facts.filter(([, content]) => content !== undefined && content !== false && content !== '');
  return html`<dl>${known.map(([name, content]) => html`<dt>${name}</dt><dd>${content}</dd>\n`)}</dl>`;
}

// HTML templates. Every value is escaped unless it is an `Html`.

/** Safe markup. Only the `html` tag creates it. */
export class Html {
  readonly markup: string;

  private constructor(markup: string) {
    this.markup = markup;
  }

  /** @see html */
  static from(parts: TemplateStringsArray, values: readonly Shown[]): Html {
    return new Html(parts.map((part, at) => part + (at < values.length ? write(values[at]) : '')).join(''));
  }
}

/** Values allowed in a template; `undefined` and `false` render nothing. */
export type Shown = Html | string | number | undefined | false | readonly Shown[];

/** Template tag that escapes its values. Use them in text, or in attributes between double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return Html.from(parts, values);
}

function write(value: Shown): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(write).join('');
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Also replaces control characters and bidirectional marks, which could hide or reorder the text that follows. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

// Formatting of times and durations.

const MINUTE_MS = 60_000;

/** @returns the time until or since `at`, with the exact time as the title */
export function distance(at: Instant, now: Now): Html {
  return html`<time datetime="${at}" title="${exactly(at, now)}">${distanceInWords(at, now)}</time>`;
}

/** @returns the time until or since `at` and the exact time, such as «in 3 h 20 min, 2026-03-06 10:00:00 UTC» */
export function moment(at: Instant, now: Now): Html {
  return html`${distanceInWords(at, now)}, ${clock(at, now)}`;
}

function distanceInWords(at: Instant, { ms }: Now): string {
  const inMs = Date.parse(at) - ms;
  return inMs >= 0 ? `in ${duration(inMs)}` : `${duration(-inMs)} ago`;
}

/** @returns date and time to the second, with the time zone */
export function clock(at: Instant, now: Now): Html {
  return html`<time datetime="${at}">${exactly(at, now)}</time>`;
}

function exactly(at: Instant, { zone }: Now): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).formatToParts(new Date(at));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('year')}-${of('month')}-${of('day')} ${of('hour')}:${of('minute')}:${of('second')} ${of('timeZoneName')}`;
}

/** @returns a duration in its two largest units, rounded down: «45 s», «3 min», «3 h 20 min», «2 d 4 h» */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (ms < MINUTE_MS) return `${seconds} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return withRest(hours, 'h', minutes % 60, 'min');
  return withRest(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${restUnit}`;
}

/** @returns an order's formatted amount, without its currency, which isn't known here */
export function amount(value: number): string {
  return new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 3 }).format(value);
}

// URLs of the pages and of their links.

/** The Temporal UI that the pages link to. */
export interface TemporalUi {
  /** Such as `https://temporal.example.com`. */
  url: string;
  namespace: string;
}

/** @returns the transaction's URL in the screening service's portal; undefined without `portalLink` in the policy */
export function portalAddress(
  link: string | undefined,
  transactionId: string | undefined,
): string | undefined {
  if (link === undefined || transactionId === undefined) return undefined;
  return link.replaceAll('{transactionId}', encodeURIComponent(transactionId));
}

/** @returns the path of an order's page, or of one of its actions */
export function orderPath({ orderId, integration }: OrderKey, action?: string, notice?: string): string {
  const query = new URLSearchParams({ integration, ...(notice !== undefined && { notice }) });
  return `/orders/${encodeURIComponent(orderId)}${action === undefined ? '' : `/${action}`}?${query}`;
}

/** @returns the path of the page that reads a transaction from the screening service */
export function transactionPath(idOrInvoice: string, integration: string): string {
  return `/transactions/${encodeURIComponent(idOrInvoice)}?${new URLSearchParams({ integration })}`;
}

/** @returns the URL of an order in the Temporal UI; undefined without a configured UI */
export function temporalLink(
  ui: TemporalUi | undefined,
  { orderId, integration }: OrderKey,
  runId: string | undefined,
): string | undefined {
  if (ui === undefined) return undefined;
  const segments = ['namespaces', ui.namespace, 'workflows', orderWorkflowId(integration, orderId)];
  const run = runId === undefined ? [] : [runId, 'history'];
  return `${ui.url.replace(/\/+$/, '')}/${[...segments, ...run].map(encodeURIComponent).join('/')}`;
}
