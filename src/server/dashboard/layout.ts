/** The frame of every page, and pieces that several pages share. */
import type { OrderKey } from '../../contract/ids.ts';
import { type Action, instant, type OrderDecision } from '../../contract/words.ts';
import { orderPath } from './addresses.ts';
import { type Html, html, type Shown } from './html.ts';
import type { Part } from './queue-store.ts';
import { type Now, shortClock, timeOfDay, zoneName } from './words.ts';

export const STYLE_PATH = '/queue.css';
export const SCRIPT_PATH = '/queue.js';

/** Refresh interval of the wall page, which has no controls. */
export const WALL_SECONDS = 30;

const PAGES = { '/': 'Queue', '/days': 'Days', '/?wall=1': 'Wall', '/docs/': 'API' } as const;

/** What a page shows inside the frame. */
export interface Page {
  title: string;
  content: Html;
  /** The navigation's entry that the page belongs to. A wall has no navigation. */
  at?: keyof typeof PAGES;
  /** Keys that the script accepts on this page, as in `j k: move; x: select`. */
  keys?: string;
  /** When its content was read, if not just now. */
  readMs?: number;
}

/** What the frame shows. Error pages have only a part of it. */
interface Frame {
  now?: Now;
  parts?: readonly Part[];
  who?: string | undefined;
  /** At the provider, so the session can be ended here. */
  signedIn?: boolean;
}

/** @returns the whole document, which loads only resources of this server */
export function document(page: Page, frame: Frame = {}): string {
  const { title, content, at = '/' } = page;
  const isWall = at === '/?wall=1';
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
<body${isWall && html` class="wall"`}>
${isWall ? content : framed(page, at, frame)}
</body>
</html>
`.markup;
}

function framed({ content, keys = '', readMs }: Page, at: string, frame: Frame): Html {
  const { now, parts, who, signedIn } = frame;
  const hints = keys.split('; ').filter(Boolean).map(keyHint);
  const asOf = now && instant(readMs ?? now.ms);
  const links = Object.entries(PAGES).map(
    ([path, name]) =>
      html`<a href="${path}"${path === at && html` aria-current="page"`}${name === 'API' && html` class="desk"`}>${name}</a>`,
  );
  return html`<a class="skip" href="#content">Skip to content</a>
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
${asOf && html`<footer class="foot">${hints}<span class="end"></span><span>Times in ${zoneName(now)}</span><span>As of <time datetime="${asOf}">${timeOfDay(asOf, now, true)}</time></span></footer>`}`;
}

function keyHint(hint: string): Html {
  const [keys = '', effect = ''] = hint.split(': ');
  return html`<span class="desk">${keys.split(' ').map((key) => html`<kbd>${key}</kbd> `)}${effect}</span>`;
}

export function cardPage(title: string, content: Shown): Page {
  return { title, content: html`<section class="card narrow"><h1>${title}</h1>${content}</section>` };
}

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

export function orderLink(order: OrderKey): Html {
  return html`<a href="${orderPath(order)}">${order.orderId}</a> <span class="quiet">${order.integration}</span>`;
}

export type Facts = (readonly [name: string, content: Shown])[];

/** @returns a list of the facts that have a value */
export function factList(facts: Facts): Html {
  const known = facts.filter(([, content]) => content !== undefined && content !== false && content !== '');
  return html`<dl class="facts">${known.map(([name, content]) => html`<div><dt>${name}</dt><dd>${content}</dd></div>\n`)}</dl>`;
}

/** With explicit roles, since browsers drop the implicit ones when the stylesheet turns rows into cards. The columns' values are classes. */
export function table(caption: string, columns: Readonly<Record<string, string>>, rows: Shown[][]): Html {
  const kinds = Object.values(columns).map((kind) => kind !== '' && html` class="${kind}"`);
  const heads = Object.keys(columns).map(
    (name, index) => html`<th role="columnheader" scope="col"${kinds[index]}>${name}</th>`,
  );
  const cells = (row: Shown[]) => row.map((cell, index) => html`<td role="cell"${kinds[index]}>${cell}</td>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table class="plain" role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>\n`)}</tbody>
</table></div>`;
}

/** @returns the options of a select field @param names by value */
export function options(names: Readonly<Record<string, string>>, selected = ''): Html[] {
  return Object.entries(names).map(
    ([value, name]) =>
      html`<option value="${value}"${value === selected && html` selected`}>${name}</option>`,
  );
}

/** @returns a select field's names of these words, and of no choice */
export function anyOf(words: readonly string[], any = 'any'): Record<string, string> {
  return { '': any, ...Object.fromEntries(words.map((word) => [word, word])) };
}
