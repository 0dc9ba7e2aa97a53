/** The wall at `/?wall=1`: numbers and the ten nearest deadlines, for a screen without a user. */
import { instant } from '../../../contract/words.ts';
import { type Filters, orderPath, TAB_NAMES, TABS } from '../addresses.ts';
import { html } from '../html.ts';
import { health, type Page, WALL_SECONDS } from '../layout.ts';
import type { Standing } from '../queue-store.ts';
import { dayOf, duration, type Now, timeOfDay } from '../words.ts';
import { countTabs, filtered } from './queue-list.ts';
import { orderTable } from './queue-page.ts';

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
  const age = queue && duration(now.ms - queue.atMs);
  const isOld = queue === undefined || now.ms - queue.atMs > OLD_AFTER_MS;
  const old = isOld ? [{ name: 'Numbers', problem: age === undefined ? 'unknown' : `${age} old` }] : [];
  const at = instant(now.ms);
  const rows = entries.slice(0, ROWS);
  const empty = queue === undefined ? 'The queue can’t be read.' : 'Queue is clear.';
  const content = html`<header><h1>Queue</h1>${health([...old, ...parts], now)}<time class="end" datetime="${at}">${dayOf(at, now)} <b>${timeOfDay(at, now)}</b></time></header>
<main><ul class="numbers" aria-label="Orders in numbers">${numbers}</ul>
${rows.length === 0 ? html`<p class="clear-wall">${empty}</p>` : orderTable({ label: 'The nearest deadlines', rows, pathOf: ({ summary }) => orderPath(summary) }, now)}</main>
<footer class="line quiet"><span>${rows.length} of ${entries.length.toLocaleString('en')}, nearest deadline first</span><span class="end">${age !== undefined && `Read ${age} ago · `}Refreshes every ${WALL_SECONDS} s</span></footer>`;
  return { title: 'Wall', content, at: '/?wall=1' };
}
