/** The page of the last days: orders per day by current decision, how reviews and overrides ended, and what is to be done now. */
import type { Day } from '../../../client/lists/count-orders.ts';
import { type Instant, instant, type OrderDecision } from '../../../contract/words.ts';
import type { Statistics } from '../../../starter.ts';
import { listPath, TAB_NAMES, TABS } from '../addresses.ts';
import { type Html, html, type Shown } from '../html.ts';
import { anyOf, factList, options, type Page, table } from '../layout.ts';
import { dayOf, duration, HOUR_MS, type Now } from '../words.ts';
import { countTabs, type Snapshot } from './queue-list.ts';

export interface DaysView {
  /** Newest first. */
  days: readonly Day[];
  statistics: Statistics;
  queue: Snapshot | undefined;
  integration: string | undefined;
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
<form class="line end" action="/days"><label class="sr" for="store">Store</label><select id="store" name="integration">${options(anyOf(stores, 'all stores'), integration)}</select><button>Show</button></form></div>
<div class="days">
${toDo(view)}
<section class="card"><h2>Orders per day by current decision</h2>
<ul class="legend" aria-label="Legend">${legend}</ul>
${chart(days.toReversed(), now)}
<details><summary>Show as a table</summary>${table('Orders per day', columns, rows)}</details></section>
${endings(view.statistics)}</div>`;
  return { title: 'Days', content, at: '/days' };
}

function toDo({ queue, integration }: DaysView): Shown {
  if (queue === undefined) return false;
  const counts = countTabs(queue.entries, { list: 'all', integration });
  const urgent = TABS.filter((list) => list !== 'all' && counts[list] > 0);
  const links = urgent.map(
    (list) =>
      html`<a href="${listPath({ list, integration })}">${TAB_NAMES[list]} <b>${number(counts[list])}</b></a>`,
  );
  return html`<p class="line todo"><b>To do now</b>${links.length > 0 ? links : 'Nothing is urgent.'}<a href="${listPath({ list: 'all', integration })}">${links.length > 0 && 'of '}<b>${number(counts.all)}</b> in the queue</a></p>`;
}

function endings({ reviews, outcomes }: Statistics): Html {
  const hours = (count: number) => duration(count * HOUR_MS);
  const { count, timed, median, p90 } = reviews;
  const { overridden, 'override-confirmed': confirmed, 'override-contradicted': contradicted } = outcomes;
  const times = median !== undefined && p90 !== undefined;
  const overrides = `: the screening service later confirmed ${number(confirmed)} and contradicted ${number(contradicted)}`;
  return html`<section class="card"><h2>How they ended</h2>${factList([
    [
      'Reviews decided',
      [
        number(count),
        times &&
          `: ${timed === undefined ? '' : `of the newest ${number(timed)}, `}half within ${hours(median)}, 90% within ${hours(p90)}`,
      ],
    ],
    ['Overridden by a person', [number(overridden), overridden > 0 && overrides]],
    ['Chargebacks submitted', number(outcomes.chargeback)],
  ])}</section>`;
}

function nameOf(from: Instant, now: Now): string {
  const day = dayOf(from, now);
  return day === dayOf(instant(now.ms), now) ? 'today' : day.replace(/ \w+$/, '');
}

/** The days as stacked bars. A table has the same data. */
function chart(days: readonly Day[], now: Now): Html {
  const most = Math.max(1, ...days.map(({ counts }) => sumOf(counts)));
  const step = tickStep(most);
  const top = Math.ceil(most / step) * step;
  const ticks = Array.from({ length: top / step + 1 }, (_, index) => number(top - index * step));
  const bars = days.map(({ from, counts }) => {
    const sum = sumOf(counts);
    const day = dayOf(from, now);
    const words = STACKED.map((decision) => `${number(counts[decision])} ${decision}`).join(', ');
    let above = sum;
    const parts = STACKED.filter((decision) => counts[decision] > 0).map((decision) => {
      const count = counts[decision];
      above -= count;
      return html`<rect class="${decision}" y="${above}" width="1" height="${count}"><title>${day}: ${number(count)} ${decision} of ${number(sum)}</title></rect>`;
    });
    const bar = html`<b class="total">${number(sum)}</b><svg viewBox="0 0 1 ${sum}" height="${(100 * sum) / top}%" preserveAspectRatio="none">${parts}</svg>`;
    return html`<div title="${day}: ${number(sum)} (${words})"><div class="bar-of-day">${sum > 0 && bar}</div>${nameOf(from, now)}</div>`;
  });
  return html`<div class="chart" role="img" aria-label="Orders per day by decision, the same numbers as in the table below"><div class="ticks">${ticks.map((tick) => html`<span>${tick}</span>`)}</div><div class="bars">${bars}</div></div>`;
}

/** @returns 1, 2, 3 or 5 times a power of ten, so that an axis has about four ticks */
function tickStep(most: number): number {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 3, 5, 10].map((times) => times * power).find((step) => step >= rough) ?? power * 10;
}
