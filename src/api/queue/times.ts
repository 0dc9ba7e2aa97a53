/** Moments and durations as a person reads them. */
import type { Instant } from '../../orders/words.ts';
import { type Html, html } from './html.ts';

const MINUTE_MS = 60_000;

/** @returns a moment with the time until or since it, such as «in 3 h 20 min, 2026-03-06 10:00 UTC» */
export function moment(at: Instant, nowMs: number): Html {
  const inMs = Date.parse(at) - nowMs;
  const distance = inMs >= 0 ? `in ${duration(inMs)}` : `${duration(-inMs)} ago`;
  return html`${distance}, ${clock(at)}`;
}

/** @returns a moment by date and clock, in UTC to the second */
export function clock(at: Instant): Html {
  return html`<time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

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

/** @returns an order's amount, in the order's own currency, which isn't known here */
export function amount(value: number): string {
  return new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 3 }).format(value);
}
