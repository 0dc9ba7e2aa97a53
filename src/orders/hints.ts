/** When a hint is worth a read: at most once a spacing, which grows under a flood. Design section 5, `hint`. */
import { isOver } from './deadlines.ts';
import type { ReviewHint } from './messages.ts';
import { FIRST_HINT_SPACING_MS } from './new-order.ts';
import type { OrderState } from './state.ts';
import { instant, millis } from './words.ts';

const LONGEST_SPACING_MS = 5 * 60_000;

/** @returns whether a hint would tell the order something that it doesn't know to look for already */
export function hintIsNews(order: OrderState, hint: ReviewHint, nowMs: number): boolean {
  if (order.phase === 'canceled' || isOver(order, nowMs)) return false;
  if (order.hints.unread) return false;
  if (order.hints.until !== undefined && nowMs < millis(order.hints.until)) return false;
  return concerns(order, hint);
}

/** A hint for a transaction that isn't the order's newest says nothing about it. */
function concerns(order: OrderState, hint: ReviewHint): boolean {
  const newest = order.attempts.at(-1)?.transactionId;
  // A signal sent by hand may carry nothing at all, and an error here would stop the order for good.
  const named: unknown = hint?.transactionId ?? undefined;
  return named === undefined || newest === undefined || named === newest;
}

/** Keeps a hint until it is read. */
export function keepHint(order: OrderState): void {
  order.hints.unread = true;
}

/** Takes the kept hint for reading, and begins the spacing in which no other is taken. */
export function takeHint(order: OrderState, nowMs: number): void {
  const { hints } = order;
  const quiet = hints.endedAt === undefined || nowMs - millis(hints.endedAt) > hints.spacingMs;
  hints.spacingMs = quiet ? FIRST_HINT_SPACING_MS : Math.min(hints.spacingMs * 2, LONGEST_SPACING_MS);
  hints.unread = false;
  hints.until = instant(nowMs + hints.spacingMs);
}

/** Ends the spacing; the caller reads once more, since hints were turned away meanwhile. */
export function endSpacing(order: OrderState, nowMs: number): void {
  delete order.hints.until;
  order.hints.endedAt = instant(nowMs);
}
