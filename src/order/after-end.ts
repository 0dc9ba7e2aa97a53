/** Applies decisions that are read after an order has ended, and creates their events. Pure: no clock, no I/O. */
import type { StatusOutcome } from '../contract/activity-contract.ts';
import { sameTransaction } from '../contract/ids.ts';
import type { OrderEvent } from '../contract/messages.ts';
import type { LateDecision } from '../contract/order/order.ts';
import type { OrderState, OrderTransaction } from '../contract/order/state.ts';
import type { AttentionCode, Decision, Instant } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import { applyReading } from './decide.ts';
import { defined } from './defined.ts';
import { queueAction } from './portal/portal-records.ts';
import { attemptNumbered, currentAttempt, enrichedOf, recordReading, setAction } from './record.ts';
import { transactionOf } from './transactions.ts';

/** The workflow that reads the status of an ended order's transactions. */
export const READ_AFTER_END = 'readAfterEnd';
/** The key of its memo, with every `LateDecision` of the order so far. */
export const LATE_DECISIONS = 'lateDecisions';

/** The input of `readAfterEnd`. */
export interface ReadAfterEndInput {
  /** The order as it ended, see `readAfterEndInput`. */
  order: OrderState;
  /** The decisions that earlier runs found. */
  decisions: LateDecision[];
  /** The read spacing of the previous run, for continue-as-new. */
  spacingMs?: number;
}

/** Leaves out what may be large or personal and matters to no later decision. */
export function readAfterEndInput(
  state: OrderState,
  decisions: readonly LateDecision[] = [],
): ReadAfterEndInput {
  const { journal: _people, assignee: _person, events, ...facts } = state;
  const { sequence, delivered, waiting } = events;
  const attempts = state.attempts.map(({ answer: _first, readings, override, ...attempt }) => ({
    ...attempt,
    ...(override && { override: { ...override, reason: '' } }),
    readings: readings.map(({ decision, at, source }) => ({ decision, at, source })),
  }));
  const actions = state.actions.map(
    ({ because: _why, message: _words, chargeback: _echo, ...action }) => action,
  );
  const order = { ...facts, attempts, actions, attention: [], events: { sequence, delivered, waiting } };
  return { order, decisions: [...decisions] };
}

const KEPT_DECISIONS = 50;
const KEPT_BYTES = 12_000;

/**
 * Applies a reading to an ended order: one of the newest transaction as to an open order. As there, `error` never replaces a decision.
 * @param read has in `reportedAt` when transactions of the attempt were reported as fraud after the order's end
 * @returns the matters that it raised, and the event to send: none if nothing changed or no receiver is configured
 */
export function applyLateReading(
  ended: ReadAfterEndInput,
  transaction: OrderTransaction,
  read: Extract<StatusOutcome, { kind: 'read' }>,
  at: Instant,
): { raised: AttentionCode[]; event?: OrderEvent } {
  const { decision, reportedAt = [] } = read;
  if (decision === 'error' || decision === lastDecision(ended, transaction)) return { raised: [] };
  const { id: transactionId, attempt, cancelBy } = transaction;
  const state = withLateDecisions(ended);
  if (transactionId === transactionOf(state, currentAttempt(state))?.id) {
    for (const time of reportedAt)
      queueAction(state, { kind: 'report-fraud' }, 'caller', time).status = 'done';
    applyReading(state, read, 'webhook', at);
  }
  const { integration, orderId, phase, action, wouldBe, policy, events } = state;
  const { lastAction } = attemptNumbered(state, attempt);
  const decided = lastAction === undefined ? defined({ action, wouldBe }) : { action: lastAction };
  const facts = { decision, transactionId, attempt, ...decided };
  const sequence = events.sequence + 1;
  const event = { sequence, status: 'waiting' } as const;
  const late: LateDecision = { ...facts, at, ...(policy.events && { event }) };
  ended.decisions = lastOf([...ended.decisions, late], KEPT_DECISIONS, KEPT_BYTES);
  const raised = state.attention.map(({ code }) => code);
  if (!policy.events) return { raised };
  const attention = state.attention.map(({ words }) => words);
  const sent: OrderEvent = {
    id: `${integration}:${orderId}:${sequence}`,
    ...{ type: 'order.decision_changed', orderId, integration, sequence, occurredAt: at },
    data: { phase, ...facts, attention, cancelBy, afterClose: true, ...enrichedOf(read) },
  };
  return { raised, event: sent };
}

/** @returns a copy of the order, after the decisions that were found since its end. It has no attention. */
export function withLateDecisions({ order, decisions }: ReadAfterEndInput): OrderState {
  const state: OrderState = { ...JSON.parse(JSON.stringify(order)), attention: [] };
  const attempt = currentAttempt(state);
  const newest = transactionOf(state, attempt)?.id;
  for (const { transactionId, decision, at, event, ...late } of decisions) {
    if (event !== undefined) state.events.sequence = Math.max(state.events.sequence, event.sequence);
    if (!sameTransaction(transactionId, newest)) continue;
    recordReading(state, attempt, { decision, at, source: 'webhook' });
    setAction(state, late.wouldBe ?? late.action);
  }
  return state;
}

/** @returns the transaction's last decision */
export function lastDecision(
  { decisions }: ReadAfterEndInput,
  { id, decision }: OrderTransaction,
): Decision | undefined {
  return (decisions.findLast((one) => sameTransaction(one.transactionId, id)) ?? { decision }).decision;
}

export function noteLateEvent(
  order: ReadAfterEndInput,
  sequence: number,
  status: 'delivered' | 'undelivered',
): void {
  for (const { event } of order.decisions) if (event?.sequence === sequence) event.status = status;
}
