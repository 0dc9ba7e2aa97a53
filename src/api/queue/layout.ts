/** What all pages are made of: escaped HTML, the frame, moments in words, links. */
import { type OrderKey, orderWorkflowId } from '../../orders/ids.ts';
import { type Instant, instant } from '../../orders/words.ts';

/** Where the stylesheet is served. */
export const STYLE_PATH = '/queue.css';

/** @returns a whole page; nothing in it but the stylesheet is loaded, and no script runs */
export function page(title: string, content: Shown, nowMs = Date.now()): string {
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
<a class="skip" href="#content">Skip to the content</a>
<header><nav aria-label="Pages"><a href="/">Order queue</a> <a href="/docs/">API documentation</a></nav></header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
</main>
<footer>As of ${clock(instant(nowMs))}. Reload the page for news.</footer>
</body>
</html>
`.markup;
}

/** A link to an order in the Temporal UI; nothing when no UI is known. */
export function temporalAnchor(href: string | undefined, orderId: string): Html | undefined {
  if (href === undefined) return undefined;
  return html`<a href="${href}" aria-label="Temporal UI: order ${orderId}">Temporal UI</a>`;
}

/** One cell of a table; its label stands beside it where the table is shown as cards. */
export function cell(label: string, content: Shown): Html {
  return html`<td role="cell" data-label="${label}">${content}</td>`;
}

/** @param columns the headings, in the order of the cells @param rows of `cell`s */
export function table(caption: string, columns: readonly string[], rows: readonly Shown[]): Html {
  // The roles stay where the style makes cards of it: browsers would drop them.
  return html`<table role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row}</tr>\n`)}</tbody>
</table>`;
}

/** @param facts names with what is known of them; those without are left out */
export function factList(facts: readonly (readonly [name: string, content: Shown])[]): Html {
  const known = facts.filter(([, content]) => content !== undefined && content !== false && content !== '');
  return html`<dl>${known.map(([name, content]) => html`<dt>${name}</dt><dd>${content}</dd>\n`)}</dl>`;
}

// HTML that can't be broken by what it shows: every value is escaped unless it is HTML made here.

/** Markup that is safe as it stands. Only the `html` tag makes it. */
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

/** What may stand in a template; `undefined` and `false` show nothing. */
export type Shown = Html | string | number | undefined | false | readonly Shown[];

/** Tag of a template whose values are escaped. They stand in text, or in attributes between double quotes. */
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

/** Also takes away how text could hide what follows it: controls and marks of writing direction. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/** The one stylesheet of the pages. A table becomes cards on a narrow screen; colours follow the reader's scheme. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: #1b1f24; --quiet: #4d5661; --paper: #fff; --band: #f1f3f6; --line: #c9d0d8;
  --link: #0a4ea3; --button: #0a4ea3; --on-button: #fff; --alarm: #9b1c1c; --alarm-band: #fdecec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8ebef; --quiet: #b3bcc7; --paper: #14171b; --band: #20252b; --line: #444d58;
    --link: #9cc4ff; --button: #9cc4ff; --on-button: #10141a; --alarm: #ffb3b3; --alarm-band: #3b1d1f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--paper); }
header, main, footer { max-width: 90rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { border-bottom: 1px solid var(--line); }
header a { margin-right: 1rem; display: inline-block; padding: 0.4rem 0; }
footer { color: var(--quiet); }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 0.5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.25rem; background: var(--paper); padding: 0.5rem; }
form.filters { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; }
label { display: block; font-weight: 600; }
input, select, textarea, button, .button {
  font: inherit; color: inherit; background: var(--paper); min-height: 2.75rem; max-width: 100%;
  padding: 0.4rem 0.7rem; border: 1px solid var(--quiet); border-radius: 0.3rem;
}
textarea { width: 40rem; min-height: 5rem; }
button, .button {
  display: inline-flex; align-items: center; background: var(--button); color: var(--on-button); border-color: var(--button);
  text-decoration: none; font-weight: 600; cursor: pointer;
}
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.quiet { color: var(--quiet); }
.alarm { color: var(--alarm); background: var(--alarm-band); border-left: 4px solid var(--alarm); padding: 0.4rem 0.7rem; }
.notice { background: var(--band); border-left: 4px solid var(--link); padding: 0.4rem 0.7rem; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td:first-child { overflow-wrap: anywhere; min-width: 6rem; }
thead th { background: var(--band); }
th, td, dd { font-variant-numeric: tabular-nums; }
ol.timeline { padding-left: 1.25rem; }
ol.timeline li { margin-bottom: 0.35rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 60rem) {
  thead { position: absolute; left: -100rem; }
  table, tbody, tr, th, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: 0.3rem; margin-bottom: 0.75rem; }
  th, td { border: 0; padding: 0.2rem 0.7rem; }
  td::before { content: attr(data-label) ": "; font-weight: 600; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: 0.5rem; }
}
`;

// Moments and durations as a person reads them.

const MINUTE_MS = 60_000;

/** @returns a moment with the time until or since it, such as «in 3 h 20 min, 2026-03-06 10:00 UTC» */
export function moment(at: Instant, nowMs: number): Html {
  const inMs = Date.parse(at) - nowMs;
  const distance = inMs >= 0 ? `in ${duration(inMs)}` : `${duration(-inMs)} ago`;
  return html`${distance}, ${clock(at)}`;
}

/** @returns a moment by date and clock, in UTC to the second */
export function clock(at: Instant): Html {
  return html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time>`;
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

/** @returns an order's amount, in the order's own currency, which isn't known here */
export function amount(value: number): string {
  return new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 3 }).format(value);
}

// Addresses of the pages, and of what they link to.

/** The Temporal UI that the pages link to. */
export interface TemporalUi {
  /** Its address, such as `https://temporal.example.com`. */
  url: string;
  namespace: string;
}

/** @returns the address of an order's page, or of one of its actions */
export function orderPath({ orderId, integration }: OrderKey, action?: string, notice?: string): string {
  const query = new URLSearchParams({ integration, ...(notice !== undefined && { notice }) });
  return `/orders/${encodeURIComponent(orderId)}${action === undefined ? '' : `/${action}`}?${query}`;
}

/** @returns the address of an order in the Temporal UI; undefined when none is known */
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
