import { instant } from '../../orders/words.ts';
import { type Html, html, type Shown } from './html.ts';
import { clock } from './times.ts';

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
