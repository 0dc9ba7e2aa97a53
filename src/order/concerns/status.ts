/**
 * Status: polls a review, and reads the status after each signal. A webhook is only a hint: the decision is what the screening service
 * returns for the transaction's id.
 */
import type { StatusOutcome } from '../../contract/activity-contract.ts';
import type { Call } from '../../contract/calls.ts';
import type { OrderState, OrderTransaction } from '../../contract/order/state.ts';
import {
  type Instant,
  laterBy,
  millis,
  type OrderEventType,
  type ReadingSource,
} from '../../contract/words.ts';
import { raiseAttention, statusCause } from '../attention.ts';
import { recheckUseful } from '../deadlines.ts';
import { applyReading } from '../decide.ts';
import { defined } from '../defined.ts';
import type { Concern, Order, PendingRead, RequiredEffect } from '../order.ts';
import { currentAttempt, screenAgain, screensAgain } from '../record.ts';
import { FIRST_SPACING_MS, longerSpacing } from '../spacing.ts';
import { transactionOf } from '../transactions.ts';

/** The maximum of pending reads. A read that begins after the last signal covers all earlier signals, so two are enough. */
const MAX_READS = 2;

export const status: Concern = {
  name: 'status',
  keepsOpen: true,

  desired(order) {
    const { state } = order;
    if (isOver(order)) return [];
    const transaction = transactionOf(state, currentAttempt(state));
    // A read for a webhook waits until the screening ends; before that there is nothing to read.
    const reads = order.reads.filter(({ source }) => state.phase !== 'screening' || source === 'operator');
    return [...(transaction ? watches(order, transaction) : []), ...reads.map((one) => read(order, one))];
  },

  ended(order, { effect: { key, call } }, outcome) {
    if (outcome.status !== 'completed') return 'retry-later';
    // The order has ended in the meantime. Another workflow makes the reads after the end.
    if (order.state.endedAt !== undefined) {
      requestRead(order, 'webhook');
      return [];
    }
    const { result } = outcome;
    if (call.kind === 'read' && result.kind === 'read')
      return readEnded(order, key, { ...call.request, ...result });
    if (call.kind === 'poll' && result.kind === 'poll')
      return applyFresh(order, { ...call.request, ...result }, 'poll');
    if (call.kind === 'last-read' && result.kind === 'last-read')
      return applyFresh(order, { ...call.request, ...result }, 'recheck');
    return [];
  },

  signaled(order, { kind, unread, sentAt }) {
    const { state, now } = order;
    // Anybody who can write to Temporal can send a recheck without its time, or a stored one again: that only reads.
    const isOperators =
      kind === 'recheck' && sentAt !== undefined && millis(sentAt) > millis(state.phaseSince);
    const isTaken = !isOver(order) || order.reads.length === 0;
    const isNews = isTaken && requestRead(order, isOperators ? 'operator' : 'webhook');
    const words = `A signal could not be read, and caused only a read of the status: ${unread}.`;
    const events = unread ? raiseAttention(state, 'message-refused', words, {}, now) : [];
    if (kind === 'cancellation')
      events.push(...raiseAttention(state, 'cancellation-requested', CANCELLATION, {}, now));
    return isNews || events.length > 0 ? events : undefined;
  },
};

/** A canceled order makes no more reads. It hands them over to `readAfterEnd`, as an ended order does. */
function isOver({ state }: Order): boolean {
  return state.endedAt !== undefined || state.phase === 'canceled';
}

/** Requests a read of the status. Returns false if the last pending read already covers it. */
export function requestRead(order: Order, source: PendingRead['source']): boolean {
  const { reads } = order;
  const last = reads.at(-1);
  // The last read has not begun: the read before it is pending, or the order is being screened.
  if (last !== undefined && reads.length >= MAX_READS) {
    if (source !== 'operator' || last.source === source) return false;
    last.source = source;
    return true;
  }
  order.readsRequested += 1;
  reads.push({ number: order.readsRequested, source });
  return true;
}

/** Reads run one at a time, so a later read returns newer data. */
function read({ state, spacing }: Order, pending: PendingRead): RequiredEffect {
  const { id: transactionId, cancelBy } = transactionToRead(state) ?? {};
  const request = {
    integration: state.integration,
    attempt: currentAttempt(state).number,
    ...defined({ transactionId, cancelBy, notBefore: spacing.until }),
  };
  const cause = statusCause(transactionId);
  const call = { kind: 'read', request } as const;
  return { key: readKey(pending), resource: 'status', whenObsolete: 'drop', cause, call };
}

function readKey({ number }: PendingRead): string {
  return `read:${number}`;
}

/** Without a transaction a read only returns the time. */
function transactionToRead(state: OrderState): OrderTransaction | undefined {
  return state.phase === 'screening' ? undefined : transactionOf(state, currentAttempt(state));
}

/** A read that has ended: of which transaction, when it began, and what it returned. */
interface Ended {
  transactionId?: string;
  began: Instant;
  outcome: StatusOutcome | undefined;
}

function readEnded(order: Order, key: string, ended: Ended): OrderEventType[] {
  const { state, now } = order;
  const { outcome } = ended;
  const pending = order.reads.find((one) => readKey(one) === key);
  if (pending === undefined) return [];
  space(order, ended.began);
  // After a wrong key the read is retried until the key is right. If the transaction has changed, the status is read again.
  const isDone = outcome?.kind !== 'forbidden' && ended.transactionId === transactionToRead(state)?.id;
  if (isDone) order.reads = order.reads.filter((one) => one !== pending);
  const isStillError = outcome === undefined || (outcome.kind === 'read' && outcome.decision === 'error');
  if (pending.source === 'operator' && isStillError && screensAgain(state)) screenAgain(state, now);
  return applyFresh(order, ended, pending.source);
}

/** Doubles the spacing while reads follow each other, and resets it after a quiet period. */
function space(order: Order, began: Instant): void {
  const { ms, until } = order.spacing;
  const isQuiet = until === undefined || millis(began) - millis(until) > ms;
  const next = isQuiet ? FIRST_SPACING_MS : longerSpacing(ms);
  order.spacing = { ms: next, until: laterBy(next, order.now) };
}

/**
 * Applies a reading unless it is of an earlier attempt's transaction. A read that began before the last one ended may be outdated, so the
 * status is read again.
 */
function applyFresh(
  order: Order,
  { transactionId, began, outcome }: Ended,
  source: ReadingSource,
): OrderEventType[] {
  const { state, now } = order;
  const isOfNewest = transactionId === transactionOf(state, currentAttempt(state))?.id;
  if (outcome === undefined || outcome.kind === 'forbidden' || !isOfNewest || state.phase === 'screening')
    return [];
  if (outcome.kind === 'read') {
    if (order.readAt !== undefined && began < order.readAt) {
      requestRead(order, 'webhook');
      return [];
    }
    order.readAt = now;
  }
  return applyReading(state, outcome, source, now);
}

/** Assumption «decision after a report». A review is polled until it resolves, an order reported as fraud until its decision changes or the cancel window closes. */
function isPolled({ state, now }: Order, { cancelBy }: OrderTransaction): boolean {
  const { decision, phase, fraudReportedAt } = state;
  if (decision === 'review') return phase === 'review' || phase === 'awaiting-gateway';
  const isWatched = phase === 'decided' || phase === 'awaiting-gateway' || phase === 'declined';
  return fraudReportedAt === decision && isWatched && now < cancelBy;
}

/** Rule «last read»: shortly before the window closes, and at any time after a read without a decision. */
function isReadOnceMore({ state, now }: Order, { cancelBy }: OrderTransaction): boolean {
  const { phase, passed } = state;
  const isOpen = phase === 'decided' || phase === 'awaiting-gateway';
  const isDue = passed.includes('recheck') && recheckUseful(state, cancelBy);
  return isOpen && now < cancelBy && (isDue || hasTrouble(state));
}

function hasTrouble({ attention }: OrderState): boolean {
  return attention.some(({ code }) => code === 'status-error');
}

/** Returns the activity that waits for a new decision of the transaction: a poll, or a last read. */
function watches(order: Order, transaction: OrderTransaction): RequiredEffect[] {
  const { decision, integration, policy } = order.state;
  const isPoll = isPolled(order, transaction);
  if (decision === 'pending' || decision === 'skipped') return [];
  if (!isPoll && !isReadOnceMore(order, transaction)) return [];
  const { id: transactionId, cancelBy } = transaction;
  const { number: attempt, readings } = currentAttempt(order.state);
  // The end of a problem is reported only if the problem was.
  const troubleKnown = hasTrouble(order.state);
  const request = { integration, transactionId, attempt, cancelBy, known: decision, troubleKnown };
  const call: Call = isPoll
    ? { kind: 'poll', request: { ...request, pauses: policy.poll, leadMs: policy.reviewLeadTimeMs } }
    : { kind: 'last-read', request };
  const key = `${call.kind}:${transactionId}:${decision}:${readings.length}${troubleKnown ? ':troubled' : ''}`;
  return [{ key, whenObsolete: 'drop', cause: statusCause(transactionId), call }];
}

const CANCELLATION =
  'A cancellation of the workflow was requested in Temporal. It does not cancel the order at the screening service: use the cancel action.';
