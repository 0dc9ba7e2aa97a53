/** The frame of every page, and pieces that several pages share. */
import type { Action, OrderDecision } from '../../contract/words.ts';
import { instant } from '../../contract/words.ts';
import { isRecord } from '../../order/messages/shapes.ts';
import { type Html, html, type Shown } from './html.ts';
import type { Part } from './queue-store.ts';
import { type Now, shortClock, timeOfDay, zoneName } from './words.ts';

/** Where the stylesheet and the script are served. */
export const STYLE_PATH = '/queue.css';
export const SCRIPT_PATH = '/queue.js';

/** Refresh interval of the wall page, which has no controls. */
export const WALL_SECONDS = 30;
/** @returns the `refresh` header of a wall page, also for its error pages */
export function refreshOf(query: unknown): { refresh?: number } {
  return isRecord(query) && query.wall !== undefined ? { refresh: WALL_SECONDS } : {};
}

const PAGES = { '/': 'Queue', '/days': 'Days', '/?wall=1': 'Wall', '/docs/': 'API' } as const;

/** What the frame of a page shows. Error pages have only a part of it. */
export interface Frame {
  now?: Now;
  /** The navigation's entry that the page belongs to. */
  at?: keyof typeof PAGES;
  parts?: readonly Part[] | undefined;
  /** The viewer's name. */
  who?: string | undefined;
  /** At the provider, so the session can be ended here. */
  signedIn?: boolean;
  /** Keys that the script accepts on this page. */
  keys?: readonly `${string}: ${string}`[];
}

/** @returns a complete HTML page. It loads only resources of this server */
export function page(title: string, content: Shown, frame: Frame = {}): string {
  const { now, at, parts, who, signedIn = false, keys = [] } = frame;
  const links = Object.entries(PAGES).map(
    ([path, name]) =>
      html`<a href="${path}"${path === at && html` aria-current="page"`}${name === 'API' && html` class="desk"`}>${name}</a>`,
  );
  return document(
    title,
    html`<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/">order screening</a>
<nav aria-label="Pages">${links}</nav>
${parts && now && health(parts, now)}
${who && html`<span class="who">${who}</span>`}
${signedIn && html`<form method="post" action="/sign-out"><button class="plain">Sign out</button></form>`}
</header>
<main id="content" tabindex="-1">
${content}
</main>
${now && html`<footer class="foot">${keys.map(keyHint)}<span class="end"></span><span>Times in ${zoneName(now)}</span><span>As of <time datetime="${instant(now.ms)}">${timeOfDay(instant(now.ms), now, true)}</time></span></footer>`}`,
  );
}

function keyHint(hint: string): Html {
  const [keys = '', effect = ''] = hint.split(': ');
  return html`<span class="desk">${keys.split(' ').map((key) => html`<kbd>${key}</kbd> `)}${effect}</span>`;
}

/** @returns a page with one card, whose heading is the title */
export function cardPage(title: string, content: Shown, frame: Frame = {}): string {
  const card = html`<section class="card narrow"><h1>${title}</h1>${content}</section>`;
  return page(title, card, { ...frame, at: '/' });
}

/** @returns a page without the frame, for a wall */
export function document(title: string, body: Html, kind?: 'wall'): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – order screening</title>
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
</head>
<body${kind && html` class="${kind}"`}>
${body}
</body>
</html>
`.markup;
}

/** @returns the strip with the state of each part */
export function health(parts: readonly Part[], now: Now): Html {
  return html`<ul class="health" aria-label="Health">
<li class="sum">All running</li>
${parts.map(({ name, problem, since }) =>
  problem === undefined
    ? html`<li>${name}<span class="sr"> running</span></li>`
    : html`<li class="bad">${name}: ${problem}${since !== undefined && ` since ${shortClock(since, now)}`}</li>`,
)}</ul>`;
}

/** @returns the decision as a pill, with shape, word and color, and the action that follows from it */
export function decisionPill(decision: OrderDecision = 'pending', action?: Action): Html {
  return html`<span class="d ${decision}">${decision}</span>${action && html` <span class="then">→ ${action}</span>`}`;
}

/** @param facts names and values; those without a value are left out */
export function factList(facts: readonly (readonly [name: string, content: Shown])[]): Html {
  const known = facts.filter(([, content]) => content !== undefined && content !== false && content !== '');
  return html`<dl class="facts">${known.map(([name, content]) => html`<div><dt>${name}</dt><dd>${content}</dd></div>\n`)}</dl>`;
}

/** A column of a table: its name, or the name with a class. */
export type Column = string | readonly [name: string, kind: string];

/** @returns a table. Explicit roles, since browsers drop the implicit ones when the stylesheet turns rows into cards */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Shown[])[],
): Html {
  const named = columns.map((column) => (typeof column === 'string' ? ([column, ''] as const) : column));
  const classOf = (index: number) => {
    const kind = named[index]?.[1] ?? '';
    return kind !== '' && html` class="${kind}"`;
  };
  return html`<table class="plain" role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${named.map(([name], index) => html`<th role="columnheader" scope="col"${classOf(index)}>${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row.map((cell, index) => html`<td role="cell"${classOf(index)}>${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;
}
