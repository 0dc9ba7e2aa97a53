/** The page of the last days: orders per day by current decision, how reviews and overrides ended, and what is to be done now. */
import type { Day } from '../../../client/lists/list-orders.ts';
import { type Instant, instant, type OrderDecision } from '../../../contract/words.ts';
import type { Statistics } from '../../../starter.ts';
import { listPath, TAB_NAMES } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import { factList, options, type Page, table } from '../layout.ts';
import { dayOf, duration, HOUR_MS, type Now } from '../words.ts';
import { countTabs, type Snapshot } from './queue-list.ts';

/** What is counted of the shown days. */
export interface Counted {
  /** Newest first. */
  days: readonly Day[];
  statistics: Statistics;
}

export interface DaysView extends Counted {
  queue?: Snapshot | undefined;
  integration?: string | undefined;
  /** Integrations to choose from. */
  stores: readonly string[];
}

/** All decisions, in the sequence of a bar's parts, lowest first. */
const STACKED: OrderDecision[] = ['pass', 'review', 'fail', 'fraudulent', 'error', 'pending', 'skipped'];
const number = (count: number) => count.toLocaleString('en');
const sumOf = (counts: Day['counts']) => Object.values(counts).reduce((sum, count) => sum + count, 0);

export function daysPage(view: DaysView, now: Now): Page {
  const { days, integration, stores } = view;
  const totals = STACKED.map((one) => [one, days.reduce((sum, { counts }) => sum + counts[one], 0)] as const);
  const all = totals.reduce((sum, [, count]) => sum + count, 0);
  const legend = totals.map(
    ([decision, count]) =>
      html`<li class="key ${decision}">${decision} <span class="quiet">${number(count)}</span></li>`,
  );
  const columns = { Day: '', ...Object.fromEntries(STACKED.map((one) => [one, 'number'])), all: 'number' };
  const rows = days.map(({ from, counts }) => [
    nameOf(from, now),
    ...STACKED.map((one) => number(counts[one])),
    html`<b>${number(sumOf(counts))}</b>`,
  ]);
  const content = html`<div class="way"><h1>Last ${days.length} days</h1><span class="quiet">${number(all)} ${all === 1 ? 'order' : 'orders'}, ${integration ?? 'all stores'}</span>
<form class="line end" action="/days"><label class="sr" for="store">Store</label><select id="store" name="integration">${options(stores, integration, 'all stores')}</select><button>Show</button></form></div>
<div class="days">
${toDo(view)}
<section class="card"><h2>Orders per day by current decision</h2>
<ul class="legend" aria-label="Legend">${legend}</ul>
${chart('Orders per day by decision, the same numbers as in the table below', days.toReversed(), now)}
<details><summary>Show as a table</summary>${table('Orders per day', columns, rows)}</details></section>
${endings(view.statistics)}</div>`;
  return { title: 'Days', content, at: '/days' };
}

/** What waits for a person now, with links to it. */
function toDo({ queue, integration }: DaysView): Shown {
  if (queue === undefined) return false;
  const counts = countTabs(queue.entries, { list: 'all', integration });
  const lists = (['overdue', 'soon', 'attention', 'stuck', 'held'] as const).filter(
    (list) => counts[list] > 0,
  );
  const links = lists.map(
    (list) =>
      html`<a href="${listPath({ list, integration })}">${TAB_NAMES[list]} <b>${number(counts[list])}</b></a>`,
  );
  return html`<p class="line todo"><b>To do now</b>${links.length > 0 ? links : 'Nothing is urgent.'}<a href="${listPath({ list: 'all', integration })}">${links.length > 0 && 'of '}<b>${number(counts.all)}</b> in the queue</a></p>`;
}

/** How reviews and overrides turned out, and how many chargebacks there were. */
function endings({ reviews, outcomes }: Statistics): Html {
  const hours = (count: number) => duration(count * HOUR_MS);
  const { count, median, p90 } = reviews;
  const { overridden, 'override-confirmed': confirmed, 'override-contradicted': contradicted } = outcomes;
  const times =
    median !== undefined && p90 !== undefined && ` half within ${hours(median)}, 90% within ${hours(p90)}`;
  return html`<section class="card"><h2>How they ended</h2>${factList([
    ['Reviews decided', html`${number(count)}${times && html`:${times}`}`],
    [
      'Overridden by a person',
      html`${number(overridden)}${overridden > 0 && html`: the screening service later confirmed ${number(confirmed)} and contradicted ${number(contradicted)}`}`,
    ],
    ['Chargebacks submitted', number(outcomes.chargeback)],
  ])}</section>`;
}

function nameOf(from: Instant, now: Now): string {
  const day = dayOf(from, now);
  return day === dayOf(instant(now.ms), now) ? 'today' : day.replace(/ \w+$/, '');
}

const BROAD = { kind: 'broad', width: 1_240, height: 260, left: 36, gap: 0.44 };
const NARROW = { kind: 'narrow', width: 340, height: 240, left: 30, gap: 0.3 };

/** @returns the days in two drawings, of which the stylesheet shows the one that fits. A table has the same data */
function chart(title: string, days: readonly Day[], now: Now): Html {
  return html`${[BROAD, NARROW].map((size) => drawing(title, days, size, now))}`;
}

function drawing(title: string, days: readonly Day[], size: typeof BROAD, now: Now): Html {
  const { kind, width, height, left, gap } = size;
  const most = Math.max(1, ...days.map(({ counts }) => sumOf(counts)));
  const step = tickStep(most);
  const ticks = Math.ceil(most / step);
  const base = height - 24;
  const tall = (count: number) => Math.round((count / (ticks * step)) * (base - 24) * 10) / 10;
  const lines = Array.from({ length: ticks + 1 }, (_, index) => {
    const y = base - tall(index * step);
    return html`<line x1="${left}" x2="${width}" y1="${y}" y2="${y}"/><text x="${left - 6}" y="${y + 4}" text-anchor="end">${number(index * step)}</text>`;
  });
  const each = Math.round((width - left) / days.length);
  const wide = Math.round(each * (1 - gap));
  const drawn = days.map(({ from, counts }, index) => {
    const start = left + index * each;
    const x = start + Math.round((each - wide) / 2);
    const sum = sumOf(counts);
    const day = dayOf(from, now);
    const middle = x + wide / 2;
    const label = kind === 'narrow' ? nameOf(from, now).replace(/^\w+ (?=\d)/, '') : nameOf(from, now);
    const words = STACKED.map((decision) => `${number(counts[decision])} ${decision}`).join(', ');
    let below = 0;
    const parts: Shown[] = STACKED.map((decision) => {
      const count = counts[decision];
      below += count;
      const part = html`<title>${day}: ${number(count)} ${decision} of ${number(sum)}</title>`;
      return (
        count > 0 &&
        html`<rect class="${decision}" x="${x}" y="${base - tall(below)}" width="${wide}" height="${tall(count)}">${part}</rect>`
      );
    });
    return html`<g><rect class="hit" x="${start}" y="0" width="${each}" height="${height}"><title>${day}: ${number(sum)} (${words})</title></rect>${parts}${sum > 0 && html`<text class="total" x="${middle}" y="${base - tall(sum) - 5}" text-anchor="middle">${number(sum)}</text>`}<text x="${middle}" y="${base + 17}" text-anchor="middle">${label}</text></g>`;
  });
  return html`<svg class="chart ${kind}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${lines}${drawn}</svg>`;
}

/** @returns 1, 2, 3 or 5 times a power of ten, so that an axis has about four ticks */
function tickStep(most: number): number {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 3, 5, 10].map((times) => times * power).find((step) => step >= rough) ?? power * 10;
}
