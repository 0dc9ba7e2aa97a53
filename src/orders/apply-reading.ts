/** Brings a reading of the status into the order. */
import type { StatusOutcome } from './activity-contract.ts';
import { decide } from './decide.ts';
import type { OrderEventType } from './messages.ts';
import { clear, currentAttempt, raiseAttention, raiseWrongKey, setAction, settle } from './record.ts';
import type { OrderState } from './state.ts';
import type { Instant, ReadingSource } from './words.ts';

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
