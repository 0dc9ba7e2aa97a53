/** The wall at `/?wall=1`: numbers and the ten nearest deadlines, for a screen that nobody touches. */
import { type Instant, instant } from '../../../contract/words.ts';
import { type Filters, orderPath, TAB_NAMES, TABS } from '../addresses.ts';
import { html } from '../html.ts';
import { decisionPill, health, type Page, WALL_SECONDS } from '../layout.ts';
import type { Standing } from '../queue-store.ts';
import { dayOf, duration, money, type Now, timeOfDay } from '../words.ts';
import { countTabs, type Entry, filtered } from './queue-list.ts';
import { deadline, ROW_KINDS, whyWords } from './queue-page.ts';

const ROWS = 10;
/** Older numbers mean that Temporal can't be reached. */
const OLD_AFTER_MS = 90_000;

/** @param standing the queue is the last one that could be read */
export function wallPage({ queue, parts }: Standing, filters: Filters, now: Now): Page {
  const entries = filtered(queue?.entries ?? [], filters);
  const counts = countTabs(queue?.entries ?? [], filters);
  const numbers = TABS.map((tab) => {
    const urgent = (tab === 'overdue' || tab === 'attention') && counts[tab] > 0;
    const shown = queue === undefined ? '–' : `${counts[tab].toLocaleString('en')}${queue.cut ? '+' : ''}`;
    return html`<li${urgent && html` class="red"`}><b>${shown}</b>${TAB_NAMES[tab]}</li>`;
  });
  const oldMs = queue === undefined ? undefined : Math.max(0, now.ms - queue.atMs);
  const old =
    oldMs === undefined || oldMs > OLD_AFTER_MS
      ? [{ name: 'Numbers', problem: oldMs === undefined ? 'unknown' : `${duration(oldMs)} old` }]
      : [];
  const at: Instant = instant(now.ms);
  const rows = entries.slice(0, ROWS);
  const content = html`<header><h1>Queue</h1>${health([...old, ...parts], now)}<time class="end" datetime="${at}">${dayOf(at, now)} <b>${timeOfDay(at, now)}</b></time></header>
<main><ul class="numbers" aria-label="Orders in numbers">${numbers}</ul>
${
  rows.length === 0
    ? html`<p class="clear-wall">${queue === undefined ? 'The queue can’t be read.' : 'Queue is clear.'}</p>`
    : html`<table class="orders" aria-label="The nearest deadlines"><colgroup><col class="c-id"><col class="c-amount"><col><col class="c-when"><col class="c-d"></colgroup>
<thead><tr><th scope="col">Order</th><th scope="col" class="number">Amount</th><th scope="col">Why</th><th scope="col">Deadline</th><th scope="col">Decision → action</th></tr></thead>
<tbody>${rows.map((entry) => row(entry, now))}</tbody></table>`
}</main>
<footer class="line quiet"><span>${rows.length} of ${entries.length.toLocaleString('en')}, nearest deadline first</span><span class="end">${oldMs !== undefined && `Read ${duration(oldMs)} ago · `}Refreshes every ${WALL_SECONDS} s</span></footer>`;
  return { title: 'Wall', content, at: '/?wall=1' };
}

function row({ summary, why, band }: Entry, now: Now) {
  return html`<tr class="${ROW_KINDS[band]}"><td class="id"><a href="${orderPath(summary)}">${summary.orderId}</a></td><td class="number">${money(summary.amount, summary.currency)}</td><td class="why">${whyWords(why)}</td><td class="when-cell">${deadline(summary, now)}</td><td>${decisionPill(summary.decision, summary.action)}</td></tr>
`;
}
