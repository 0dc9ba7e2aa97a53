/** Times, durations and amounts as the pages show them. */
import { type Instant, instant, millis } from '../../contract/words.ts';
import { type Html, html } from './html.ts';

/** The time at which a page is rendered, and its time zone. */
export interface Now {
  ms: number;
  zone: string;
}

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** @returns a duration in its largest units, rounded down: «45 s», «3 min», «3 h 20 min», «2 d 4 h»; none is negative */
export function duration(ms: number, most = 2): string {
  if (ms < MINUTE_MS) return `${Math.floor(Math.max(0, ms) / 1_000)} s`;
  const minutes = Math.floor(ms / MINUTE_MS);
  const units = { d: Math.floor(minutes / 1_440), h: Math.floor(minutes / 60) % 24, min: minutes % 60 };
  const parts = Object.entries(units).map(([unit, count]) => ({ count, words: `${count} ${unit}` }));
  const first = parts.findIndex(({ count }) => count > 0);
  const shown = parts.slice(first, first + most).filter(({ count }) => count > 0);
  return shown.map(({ words }) => words).join(' ');
}

/** @returns the time since `at` in its largest unit */
export function age(at: Instant, { ms }: Now): string {
  return duration(ms - millis(at), 1);
}

/** @returns the time until `at`, or since it with «ago» */
export function distance(at: Instant, { ms }: Now): string {
  const inMs = millis(at) - ms;
  return inMs >= 0 ? duration(inMs) : `${duration(-inMs)} ago`;
}

const FIELDS = {
  ...({ hourCycle: 'h23', weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' } as const),
  ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
};
/** Creating a format takes longer than a whole row of a table, and a time longer than the rest of its row, so each is created once. */
const times = new Map<string, Intl.DateTimeFormat>();
const numbers = new Map<string, Intl.NumberFormat>();
const known = new Map<string, Partial<Record<Intl.DateTimeFormatPartTypes, string>>>();

function partsOf(ms: number, zone: string) {
  const format = times.get(zone) ?? new Intl.DateTimeFormat('en-GB', { ...FIELDS, timeZone: zone });
  times.set(zone, format);
  const key = `${ms} ${zone}`;
  const made = () => Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const parts = known.get(key) ?? made();
  if (known.size >= 2_000) known.clear();
  known.set(key, parts);
  return parts;
}

/** @returns the day of a time, such as «Thu 19 Nov», with the year if it isn't this one */
export function dayOf(at: Instant, now: Now): string {
  const { weekday, day, month, year } = partsOf(millis(at), now.zone);
  const isThisYear = year === partsOf(now.ms, now.zone).year;
  return `${weekday} ${day} ${month}${isThisYear ? '' : ` ${year}`}`;
}

/** @returns the time of a day, such as «10:39», with `seconds` «10:39:05» */
export function timeOfDay(at: Instant, { zone }: Now, seconds = false): string {
  const { hour, minute, second } = partsOf(millis(at), zone);
  return `${hour}:${minute}${seconds ? `:${second}` : ''}`;
}

/** @returns «10:39» today, «Thu 10:39» within a few days, otherwise «Thu 19 Nov 10:39» */
export function shortClock(at: Instant, now: Now): string {
  const day = dayOf(at, now);
  if (day === dayOf(instant(now.ms), now)) return timeOfDay(at, now);
  const isNear = Math.abs(millis(at) - now.ms) < 6 * DAY_MS;
  return `${isNear ? day.slice(0, 3) : day} ${timeOfDay(at, now)}`;
}

/** @returns `shortClock` as an element that has the exact time */
export function clock(at: Instant, now: Now): Html {
  const exact = `${dayOf(at, now)} ${timeOfDay(at, now, true)}`;
  return html`<time datetime="${at}" title="${exact}">${shortClock(at, now)}</time>`;
}

/** @returns the zone and its offset now, such as «Europe/Berlin (UTC+1)» */
export function zoneName({ ms, zone }: Now): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'shortOffset' });
  const offset = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return zone === 'UTC' ? 'UTC' : `${zone} (${offset.replace('GMT', 'UTC')})`;
}

/** @returns when the days that end with today began, newest first */
export function dayStarts(count: number, { ms, zone }: Now): Instant[] {
  const starts: Instant[] = [];
  for (let at = ms; starts.length < count; at -= MINUTE_MS) {
    at = startOfDay(at, zone);
    starts.push(instant(at));
  }
  return starts;
}

/** Searches the first minute of the day, which isn't midnight if the clock is changed then. */
function startOfDay(ms: number, zone: string): number {
  const { day } = partsOf(ms, zone);
  let found = Math.floor(ms / MINUTE_MS);
  let before = found - 26 * 60;
  while (found - before > 1) {
    const middle = Math.floor((found + before) / 2);
    if (partsOf(middle * MINUTE_MS, zone).day === day) found = middle;
    else before = middle;
  }
  return found * MINUTE_MS;
}

/** @returns the amount with the code behind it. A currency sets the number of decimals; without one there are as many as the amount has */
export function money(amount: number | undefined, currency?: string): Html {
  if (amount === undefined) return html`<span class="quiet">–</span>`;
  const least = currency === undefined && !Number.isInteger(amount) ? 2 : undefined;
  const kind = currency ?? `${least}`;
  const style = currency === undefined ? 'decimal' : 'currency';
  const digits = { style, currency, minimumFractionDigits: least } as const;
  const format = numbers.get(kind) ?? new Intl.NumberFormat('en', digits);
  numbers.set(kind, format);
  const parts = format.formatToParts(amount).filter(({ type }) => type !== 'currency' && type !== 'literal');
  return html`${parts.map(({ value }) => value)}${currency !== undefined && html` <span class="cur">${currency}</span>`}`;
}
