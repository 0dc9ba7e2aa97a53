/** Applies decisions that are read after an order has ended, and creates their events. Pure: no clock, no I/O. */
import type { StatusOutcome } from '../contract/activity-contract.ts';
import { sameTransaction } from '../contract/ids.ts';
import type { OrderEvent } from '../contract/messages.ts';
import type { LateDecision } from '../contract/order/order.ts';
import type { Enriched, OrderState, OrderTransaction } from '../contract/order/state.ts';
import type { Action, Decision, Instant, Phase } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import {
  actionLater,
  heldBack,
  isUnusable,
  keepsActionAfterReport,
  mayKeepActionAfterReport,
} from './decide.ts';
import { defined } from './defined.ts';
import { attemptFor } from './portal/portal-records.ts';
import { currentAttempt, enrichedOf, overrideOf } from './record.ts';
import { transactionOf } from './transactions.ts';

/** The workflow that reads the status of an ended order's transactions. */
export const READ_AFTER_END = 'readAfterEnd';
/** The key of its memo, with every `LateDecision` of the order so far. */
export const LATE_DECISIONS = 'lateDecisions';

/** The input of `readAfterEnd`: a summary of the ended order. */
export interface ReadAfterEndInput {
  integration: string;
  orderId: string;
  phase: Phase;
  action: Action;
  wouldBe?: Action;
  transactions: EndedTransaction[];
  /** The sequence of the order's last event. Absent if the integration has no events receiver. */
  sequence?: number;
  /** The decisions that earlier runs found. */
  decisions: LateDecision[];
  /** The read spacing of the previous run, for continue-as-new. */
  spacingMs?: number;
}

export interface EndedTransaction extends Pick<OrderTransaction, 'id' | 'attempt' | 'decision' | 'cancelBy'> {
  /** A later decision can change the order's action: the transaction is the newest, and there is no override. */
  acts: boolean;
  /** The last action of an earlier attempt. A later decision doesn't change it. */
  action?: Action;
  /** A pass leaves the order on hold, see `heldBack`. */
  held?: true;
  /** The order passed and was then reported as fraud, so it may have shipped: a fail leaves the action to a person. */
  reported?: true;
  /** The same holds for a report after the order's end. */
  keepsIfReported?: true;
  /** The attempt's other transactions, whose reports count too. */
  others?: string[];
}

export function readAfterEndInput(
  state: OrderState,
  decisions: readonly LateDecision[] = [],
): ReadAfterEndInput {
  const { integration, orderId, phase, action, wouldBe, policy, events } = state;
  const attempt = currentAttempt(state);
  const newest = transactionOf(state, attempt);
  const overridden = overrideOf(state) !== undefined;
  return {
    integration,
    orderId,
    phase,
    action,
    ...defined({ wouldBe }),
    transactions: state.transactions.map((transaction) => {
      const { id, attempt: number, cancelBy, decision } = transaction;
      const own = state.transactions.filter((one) => one !== transaction && one.attempt === number);
      const others = own.map((one) => one.id);
      return {
        ...{ id, attempt: number, cancelBy, ...defined({ decision }) },
        acts: transaction === newest && !overridden,
        ...(number !== attempt.number && { action: attemptFor(state, id)?.lastAction ?? 'hold' }),
        ...(transaction === newest && heldBack(state, 'proceed') === 'hold' && { held: true }),
        ...(transaction === newest && keepsActionAfterReport(state) && { reported: true }),
        ...(transaction === newest && mayKeepActionAfterReport(state) && { keepsIfReported: true, others }),
      };
    }),
    ...(policy?.events && { sequence: events.sequence }),
    decisions: [...decisions],
  };
}

const KEPT_DECISIONS = 50;
const KEPT_BYTES = 12_000;

/**
 * Applies a reading to an ended order. As for open orders, `error` never replaces a decision.
 * @param read has in `reportedAt` when transactions of the attempt were reported as fraud after the order's end
 * @returns the event to send; undefined if nothing changed or no receiver is configured
 */
export function applyLateReading(
  order: ReadAfterEndInput,
  transaction: EndedTransaction,
  read: { decision: Decision; reportedAt?: readonly Instant[] } & Enriched,
  at: Instant,
): OrderEvent | undefined {
  const { decision } = read;
  const { decisions } = order;
  if (decision === 'error' || decision === lastDecision(order, transaction)) return undefined;
  // Transactions of one attempt, as after a rescreen, have the same action.
  const before = decisions.findLast(({ attempt }) => attempt === transaction.attempt) ?? order;
  const isReported = couldShip(order, transaction, read.reportedAt);
  const ended = isReported ? { ...transaction, reported: true as const } : transaction;
  const { attention, ...actions } = actionsAfter(before, ended, decision);
  const { id: transactionId, attempt, cancelBy } = transaction;
  const facts = { decision, transactionId, attempt, ...actions };
  const sequence = nextSequence(order);
  const late: LateDecision = {
    ...facts,
    at,
    ...(sequence !== undefined && { event: { sequence, status: 'waiting' } }),
  };
  order.decisions = lastOf([...decisions, late], KEPT_DECISIONS, KEPT_BYTES);
  if (sequence === undefined) return undefined;
  const { integration, orderId, phase } = order;
  return {
    id: `${integration}:${orderId}:${sequence}`,
    ...{ type: 'order.decision_changed', orderId, integration, sequence, occurredAt: at },
    data: { phase, ...facts, attention, cancelBy, afterClose: true, ...enrichedOf(read) },
  };
}

/** Returns whether a read brought no decision, so that the transaction is read again. */
export function isUnusableLate(
  order: ReadAfterEndInput,
  transaction: EndedTransaction,
  outcome: StatusOutcome,
): boolean {
  return isUnusable(outcome, lastDecision(order, transaction));
}

/** @param until only decisions that were read until then count */
function lastDecision(
  { decisions }: ReadAfterEndInput,
  transaction: EndedTransaction,
  until?: Instant,
): Decision | undefined {
  const known = decisions.filter(({ at }) => until === undefined || at <= until);
  const last = known.findLast(({ transactionId }) => sameTransaction(transactionId, transaction.id));
  return (last ?? transaction).decision;
}

/** Returns whether the order could ship before a report after its end, and policy then leaves the action to a person. */
function couldShip(
  order: ReadAfterEndInput,
  transaction: EndedTransaction,
  reportedAt: readonly Instant[] = [],
): boolean {
  if (!transaction.keepsIfReported) return false;
  return reportedAt.some((at) => lastDecision(order, transaction, at) === 'pass');
}

export function noteLateEvent(
  order: ReadAfterEndInput,
  sequence: number,
  status: 'delivered' | 'undelivered',
): void {
  for (const { event } of order.decisions) if (event?.sequence === sequence) event.status = status;
}

/** Continues the order's own sequence, so that event numbers stay unique. */
function nextSequence({ sequence, decisions }: ReadAfterEndInput): number | undefined {
  if (sequence === undefined) return undefined;
  return Math.max(sequence, ...decisions.map(({ event }) => event?.sequence ?? 0)) + 1;
}

/** @returns the action of a decision, by the rules of open orders: `decline` and `cancel` never change */
function actionsAfter(
  { action, wouldBe }: Pick<ReadAfterEndInput, 'action' | 'wouldBe'>,
  { acts, action: earlier, held, reported, cancelBy }: EndedTransaction,
  decision: Decision,
): { action: Action; wouldBe?: Action; attention: string[] } {
  if (earlier !== undefined) return { action: earlier, attention: [] };
  const kept = { action, ...defined({ wouldBe }), attention: [] };
  const last = wouldBe ?? action;
  if (!acts || last === 'cancel' || last === 'decline') return kept;
  const meant = actionLater(decision);
  if (reported && meant === 'cancel') {
    const words = `The decision became «${decision}» after the fraud report and the order’s end: refund by hand, unless it has shipped.`;
    return { ...kept, attention: [words] };
  }
  const later = held && meant === 'proceed' ? 'hold' : meant;
  if (wouldBe !== undefined) return { action, wouldBe: later, attention: [] };
  const words = `The decision became «${decision}» after the order ended (cancel window: ${cancelBy}): refund and report by hand.`;
  return { action: later, attention: later === 'cancel' ? [words] : [] };
}
