/** Arithmetic of the cancel window. Design section 2, "cancel window"; interface document, portal action rule 1. */
import { type Instant, instant, millis } from './words.ts';

/** Nothing is sent in the window's last 30 s, or its last 1% if that is less: clocks differ, requests take time. */
const LAST_STRETCH_MS = 30_000;

/** @returns the end of the window that began at `from` */
export function windowEnd(from: Instant, cancelWindowMs: number): Instant {
  return instant(millis(from) + cancelWindowMs);
}

/** @returns the last moment at which a cancel may still be on its way */
export function lastCall(cancelBy: Instant, cancelWindowMs: number): Instant {
  return instant(lastCallMs(cancelBy, cancelWindowMs));
}

function lastCallMs(cancelBy: Instant, cancelWindowMs: number): number {
  return millis(cancelBy) - Math.min(LAST_STRETCH_MS, cancelWindowMs / 100);
}

/** @returns whether a cancel may be sent at `nowMs` */
export function windowOpen(cancelBy: Instant | undefined, cancelWindowMs: number, nowMs: number): boolean {
  return cancelBy !== undefined && nowMs < lastCallMs(cancelBy, cancelWindowMs);
}
