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

/** @returns the time since `at` in its largest unit */
export function age(at: Instant, { ms }: Now): string {
  const [, largest = ''] = /^(\d+ \w+)/.exec(duration(Math.max(0, ms - millis(at)))) ?? [];
  return largest;
}

/** @returns the time until `at`, or since it with «ago» */
export function distance(at: Instant, { ms }: Now): string {
  const inMs = millis(at) - ms;
  return inMs >= 0 ? duration(inMs) : `${duration(-inMs)} ago`;
}

/** @returns the time until `at`, such as «in 3 h 20 min», or since it with «ago» */
export function distanceInWords(at: Instant, now: Now): string {
  return `${millis(at) >= now.ms ? 'in ' : ''}${distance(at, now)}`;
}

type Parts = Partial<Record<Intl.DateTimeFormatPartTypes, string>>;

/** Creating a format takes longer than a whole row of a table, so each is created once. */
const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(ms: number, zone: string): Parts {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-GB', { ...FIELDS, timeZone: zone });
  formats.set(zone, format);
  return Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
}

const TWO = '2-digit';
const FIELDS = {
  ...({ hourCycle: 'h23', weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' } as const),
  ...({ hour: TWO, minute: TWO, second: TWO } as const),
};

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
  // A day with a change of the clock has 23 or 25 hours: noon of each day is always in it.
  for (let at = startOfDay(ms, zone); starts.length < count; at = startOfDay(at - DAY_MS / 2, zone)) {
    starts.push(instant(at));
  }
  return starts;
}

function startOfDay(ms: number, zone: string): number {
  const midnight = (at: number) => {
    const { hour, minute, second } = partsOf(at, zone);
    return at - (Number(hour) * 60 + Number(minute)) * MINUTE_MS - Number(second) * 1_000 - (at % 1_000);
  };
  const found = midnight(ms);
  const { hour } = partsOf(found, zone);
  // The clock was changed between midnight and now.
  if (hour === '00') return found;
  return Number(hour) > 12 ? found + (24 - Number(hour)) * HOUR_MS : midnight(found);
}

/**
 * @param currency a code of three letters, which sets the number of decimals: none for JPY, three for KWD. Unknown: as many as the amount has
 * @returns the amount, with the code behind it
 */
export function money(amount: number | undefined, currency?: string): Html {
  if (amount === undefined) return html`<span class="quiet">–</span>`;
  const format = numberFormat(currency ?? (Number.isInteger(amount) ? 'whole' : 'fraction'));
  const written = format.format(amount);
  return html`${written}${currency !== undefined && html` <span class="cur">${currency}</span>`}`;
}

const numbers = new Map<string, Intl.NumberFormat>();

/** @param kind a currency, or how an amount without one is written */
function numberFormat(kind: string): Intl.NumberFormat {
  const known = numbers.get(kind);
  if (known !== undefined) return known;
  const style = { style: 'currency', currency: kind } as const;
  const code = kind.length === 3 ? new Intl.NumberFormat('en', style).resolvedOptions() : undefined;
  const least = code?.maximumFractionDigits;
  const digits = {
    minimumFractionDigits: least ?? (kind === 'fraction' ? 2 : 0),
    maximumFractionDigits: least ?? 3,
  };
  const format = new Intl.NumberFormat('en', digits);
  numbers.set(kind, format);
  return format;
}
