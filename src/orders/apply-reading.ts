/** Brings a reading of the status into the order; and when a hint is read. */
import type { StatusOutcome } from './activity-contract.ts';
import { clear, raiseAttention, raiseWrongKey } from './attention.ts';
import { isOver } from './deadlines.ts';
import { decide } from './decide.ts';
import type { OrderEventType, ReviewHint } from './messages.ts';
import { currentAttempt, FIRST_HINT_SPACING_MS, setAction, settle } from './new-order.ts';
import type { OrderState } from './state.ts';
import { type Instant, instant, millis, type ReadingSource } from './words.ts';

/**
 * Records a reading, and what follows.
 * @returns the events that it means, oldest first
 */
export function applyReading(
  order: OrderState,
  outcome: StatusOutcome,
  source: ReadingSource,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind === 'unanswered') return [];
  if (outcome.kind === 'forbidden') return raiseWrongKey(order, now);
  clear(order, 'wrong-key');
  order.lastRead = { at: now, source };
  if (outcome.kind === 'unreadable') return raiseAttention(order, 'status-error', outcome.words, now);
  const consequence = decide(order, outcome.decision, now);
  clear(order, ...(consequence.clear ?? []));
  const attempt = currentAttempt(order);
  if (consequence.decision !== undefined) {
    order.decision = consequence.decision;
    attempt.decision = consequence.decision;
    attempt.readings.push({ decision: consequence.decision, at: now, source });
    order.passed = order.passed.filter((kind) => kind !== 'review-lead' && kind !== 'cancel-reminder');
    delete order.fraudReportedAt;
    delete order.reason;
    delete attempt.rescreenDue;
  }
  if (consequence.action !== undefined) setAction(order, consequence.action);
  settle(order, now);
  const events = consequence.event === undefined ? [] : [consequence.event];
  if (consequence.attention !== undefined) {
    const { code, words } = consequence.attention;
    events.push(...raiseAttention(order, code, words, now));
  }
  return events;
}

// When a hint is read: at most once a spacing, which grows under a flood.

const LONGEST_SPACING_MS = 5 * 60_000;

/** @returns whether a hint would tell the order something that it doesn't know to look for already */
export function hintIsNews(order: OrderState, hint: ReviewHint, nowMs: number): boolean {
  if (order.phase === 'canceled' || isOver(order, nowMs)) return false;
  return !order.hints.unread && concerns(order, hint);
}

/** A hint for a transaction that isn't the order's newest says nothing about it; which one a screening makes is not known yet. */
function concerns(order: OrderState, hint: ReviewHint): boolean {
  if (order.phase === 'screening') return true;
  const newest = order.attempts.at(-1)?.transactionId;
  // A signal sent by hand may carry nothing at all, and an error here would stop the order for good.
  const named: unknown = hint?.transactionId ?? undefined;
  return named === undefined || newest === undefined || named === newest;
}

/** Keeps a hint until it is read: now, or when the spacing since the last one ends. */
export function keepHint({ hints }: OrderState): void {
  hints.unread = true;
}

/** @returns whether a kept hint may be read now */
export function hintReadable({ hints, phase }: OrderState): boolean {
  return hints.unread && hints.until === undefined && phase !== 'screening';
}

/** The kept hint was read: begins the spacing in which no other is. */
export function takeHint({ hints }: OrderState, now: Instant): void {
  const nowMs = millis(now);
  const quiet = hints.endedAt === undefined || nowMs - millis(hints.endedAt) > hints.spacingMs;
  hints.spacingMs = quiet ? FIRST_HINT_SPACING_MS : Math.min(hints.spacingMs * 2, LONGEST_SPACING_MS);
  hints.unread = false;
  hints.until = instant(nowMs + hints.spacingMs);
}

/** Ends the spacing: a hint that was kept meanwhile may be read. */
export function endSpacing({ hints }: OrderState): void {
  if (hints.until !== undefined) hints.endedAt = hints.until;
  delete hints.until;
}
