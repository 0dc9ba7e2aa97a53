/** Brings a reading of the status into the order. Design section 3.3. */
import { clear, raised, raisedWrongKey } from './attention.ts';
import { decide } from './decide.ts';
import type { OrderEventType } from './messages.ts';
import { currentAttempt } from './new-order.ts';
import { setAction, settle } from './phase.ts';
import type { OrderState } from './state.ts';
import type { Decision, Instant, ReadingSource } from './words.ts';

/** What the status of a transaction said. Plain data: it is recorded in history. */
export type StatusOutcome =
  | { kind: 'read'; decision: Decision }
  /** The service doesn't know the transaction, or answered a word that isn't a decision. */
  | { kind: 'unreadable'; words: string }
  /** No answer this time. */
  | { kind: 'unanswered' }
  | { kind: 'forbidden' };

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
  if (outcome.kind === 'forbidden') return raisedWrongKey(order, now);
  clear(order, 'wrong-key');
  order.lastRead = { at: now, source };
  if (outcome.kind === 'unreadable') return raised(order, 'status-error', outcome.words, now);
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
  if (consequence.raise !== undefined) {
    const { code, words } = consequence.raise;
    events.push(...raised(order, code, words, now));
  }
  return events;
}
