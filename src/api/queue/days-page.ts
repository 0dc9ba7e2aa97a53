/** The page of the last days: orders per day by current decision, and the age of open reviews. */
import type { Day } from '../../client/list-orders.ts';
import { type Instant, instant, millis, type OrderDecision } from '../../contract/words.ts';
import { type Html, html, type Shown } from './html.ts';
import { type Frame, page, table } from './layout.ts';
import type { Snapshot } from './queue-list.ts';
import { dayOf, type Now } from './words.ts';

export interface DaysView {
  /** Newest first. */
  days: readonly Day[];
  queue: Snapshot;
  integration?: string | undefined;
  /** Integrations to choose from. */
  stores: readonly string[];
}

/** All decisions, in the sequence of a bar's parts, lowest first. */
const STACKED = [
  'pass',
  'review',
  'fail',
  'fraudulent',
  'error',
  'pending',
  'skipped',
] as const satisfies readonly OrderDecision[];
const DAY_MS = 24 * 3_600_000;
const number = (count: number) => count.toLocaleString('en');
const sumOf = (counts: Day['counts']) => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** @returns the page */
export function daysPage(
  { days, queue, integration, stores }: DaysView,
  frame: Frame & { now: Now },
): string {
  const { now } = frame;
  const totals = STACKED.map((one) => [one, days.reduce((sum, { counts }) => sum + counts[one], 0)] as const);
  const all = totals.reduce((sum, [, count]) => sum + count, 0);
  const legend = totals.map(
    ([decision, count]) =>
      html`<li class="key ${decision}">${decision} <span class="quiet">${number(count)}</span></li>`,
  );
  const rows = days.map(({ from, counts }) => [
    nameOf(from, now),
    ...STACKED.map((one) => number(counts[one])),
    html`<b>${number(sumOf(counts))}</b>`,
  ]);
  const options = ['', ...stores].map(
    (store) =>
      html`<option value="${store}"${store === (integration ?? '') && html` selected`}>${store === '' ? 'all stores' : store}</option>`,
  );
  const content = html`<div class="way"><h1>Last ${days.length} days</h1><span class="quiet">${number(all)} ${all === 1 ? 'order' : 'orders'}, ${integration ?? 'all stores'}</span>
<form class="line end" action="/days"><label class="sr" for="store">Store</label><select id="store" name="integration">${options}</select><button>Show</button></form></div>
<div class="days">
<section class="card"><h2>Orders per day by current decision</h2>
<ul class="legend" aria-label="Legend">${legend}</ul>
${chart('Orders per day by decision, the same numbers as in the table below', days.toReversed().map(barOf(now)))}
<details><summary>Show as a table</summary><div class="scroll">${table(
    'Orders per day',
    ['Day', ...STACKED.map((one) => [one, 'number'] as const), ['all', 'number']],
    rows,
  )}</div></details></section>
<section class="card"><h2>Age of open reviews</h2>
<div class="scroll">${table(
    'Age of open reviews',
    AGES.map((name) => [name, 'number']),
    [reviewAges(queue, integration, now)],
  )}</div></section></div>`;
  return page('Days', content, { ...frame, at: '/days' });
}

function nameOf(from: Instant, now: Now): string {
  const day = dayOf(from, now);
  return day === dayOf(instant(now.ms), now) ? 'today' : day.replace(/ \w+$/, '');
}

interface Part {
  kind: OrderDecision;
  count: number;
}

/** A bar of a chart: its label, what its title calls it, and its parts, lowest first. */
interface Bar {
  name: string;
  title: string;
  parts: readonly Part[];
}

const barOf =
  (now: Now) =>
  ({ from, counts }: Day): Bar => {
    const parts = STACKED.map((kind) => ({ kind, count: counts[kind] }));
    return { name: nameOf(from, now), title: dayOf(from, now), parts };
  };

const AGES = ['under 1 d', '1 d', '2 d', '3 d', '4 d', '5 d', 'older'];

/** @returns how many open reviews have each age */
function reviewAges({ entries }: Snapshot, integration: string | undefined, now: Now): string[] {
  const open = entries.filter(
    ({ summary }) =>
      summary.phase === 'review' &&
      summary.closedAt === undefined &&
      (integration ?? summary.integration) === summary.integration,
  );
  const days = open.map(({ since }) => Math.floor(Math.max(0, now.ms - millis(since)) / DAY_MS));
  return AGES.map((_, at) => number(days.filter((age) => Math.min(age, AGES.length - 1) === at).length));
}

const BROAD = { kind: 'broad', width: 1_240, height: 260, left: 36, gap: 0.44 };
const NARROW = { kind: 'narrow', width: 340, height: 240, left: 30, gap: 0.3 };

/** @returns the bars in two drawings, of which the stylesheet shows the one that fits. A table has the same data */
function chart(title: string, bars: readonly Bar[]): Html {
  return html`${[BROAD, NARROW].map((size) => drawing(title, bars, size))}`;
}

function drawing(
  title: string,
  bars: readonly Bar[],
  { kind, width, height, left, gap }: typeof BROAD,
): Html {
  const sums = bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0));
  const step = tickStep(Math.max(...sums, 1));
  const ticks = Math.ceil(Math.max(...sums, 1) / step);
  const base = height - 24;
  const tall = (count: number) => Math.round((count / (ticks * step)) * (base - 24) * 10) / 10;
  const lines = Array.from({ length: ticks + 1 }, (_, index) => {
    const y = base - tall(index * step);
    return html`<line x1="${left}" x2="${width}" y1="${y}" y2="${y}"/><text x="${left - 6}" y="${y + 4}" text-anchor="end">${number(index * step)}</text>`;
  });
  const each = (width - left) / bars.length;
  const drawn = bars.map((bar, index) => {
    const x = Math.round(left + index * each);
    const shape = { x: Math.round(x + (each * gap) / 2), wide: Math.round(each * (1 - gap)) };
    const label = kind === 'narrow' ? bar.name.replace(/^\w+ (?=\d)/, '') : bar.name;
    return column(
      { ...bar, name: label },
      { ...shape, base, tall, hit: { x, wide: Math.round(each), height } },
    );
  });
  return html`<svg class="chart ${kind}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">${lines}${drawn}</svg>`;
}

interface Shape {
  x: number;
  wide: number;
  base: number;
  tall: (count: number) => number;
  hit: { x: number; wide: number; height: number };
}

function column({ name, title, parts }: Bar, { x, wide, base, tall, hit }: Shape): Html {
  const sum = parts.reduce((total, { count }) => total + count, 0);
  const words = parts.map(({ kind, count }) => `${number(count)} ${kind}`).join(', ');
  const middle = x + wide / 2;
  let below = 0;
  const rects: Shown[] = parts.map(({ kind, count }) => {
    below += count;
    const of = `${title}: ${number(count)} ${kind} of ${number(sum)}`;
    return (
      count > 0 &&
      html`<rect class="${kind}" x="${x}" y="${base - tall(below)}" width="${wide}" height="${tall(count)}"><title>${of}</title></rect>`
    );
  });
  return html`<g><rect class="hit" x="${hit.x}" y="0" width="${hit.wide}" height="${hit.height}"><title>${title}: ${number(sum)} (${words})</title></rect>${rects}${sum > 0 && html`<text class="total" x="${middle}" y="${base - tall(sum) - 5}" text-anchor="middle">${number(sum)}</text>`}<text x="${middle}" y="${base + 17}" text-anchor="middle">${name}</text></g>`;
}

/** @returns 1, 2, 3 or 5 times a power of ten, so that an axis has about four ticks */
function tickStep(most: number): number {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  return [1, 2, 3, 5, 10].map((times) => times * power).find((step) => step >= rough) ?? power * 10;
}
