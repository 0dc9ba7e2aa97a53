/** What the screening service decides after an order has ended, and the events that report it. Pure: no clock, no I/O. */
import { sameTransaction } from '../contract/ids.ts';
import type { OrderEvent } from '../contract/messages.ts';
import type { LateDecision } from '../contract/order.ts';
import type { Enriched, OrderState, OrderTransaction } from '../contract/state.ts';
import type { Action, Decision, Instant, Phase } from '../contract/words.ts';
import { lastOf } from './bounds.ts';
import { actionLater } from './decide.ts';
import { currentAttempt, enrichedOf, overrideOf } from './record.ts';
import { transactionOf } from './transactions.ts';

/** The workflow that reads the status of an ended order's transactions. */
export const READ_AFTER_END = 'readAfterEnd';
/** The key in its memo: every `LateDecision` of the order so far. */
export const LATE_DECISIONS = 'lateDecisions';

/** The argument of `readAfterEnd`: an ended order in short. */
export interface ReadAfterEndInput {
  integration: string;
  orderId: string;
  phase: Phase;
  action: Action;
  wouldBe?: Action;
  transactions: EndedTransaction[];
  /** The sequence of the order's last event. Absent: the integration has no events receiver. */
  sequence?: number;
  /** What earlier runs found. */
  decisions: LateDecision[];
  /** Continue-as-new goes on with the spacing of the run before. */
  spacingMs?: number;
}

/** A transaction of an ended order. */
export interface EndedTransaction extends Pick<OrderTransaction, 'id' | 'attempt' | 'decision' | 'cancelBy'> {
  /** A later decision can change the order's action: it is the newest transaction, and no person has decided. */
  acts: boolean;
  /** The payment gateway reported an error: the order stays held. */
  gatewayError?: true;
}

/** @returns the argument of `readAfterEnd` for an ended order. @param decisions what earlier runs found */
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
    ...(wouldBe !== undefined && { wouldBe }),
    transactions: state.transactions.map((transaction) => ({
      id: transaction.id,
      attempt: transaction.attempt,
      cancelBy: transaction.cancelBy,
      ...(transaction.decision !== undefined && { decision: transaction.decision }),
      acts: transaction === newest && !overridden,
      ...(transaction === newest && attempt.gateway?.result === 'error' && { gatewayError: true }),
    })),
    ...(policy?.events && { sequence: events.sequence }),
    decisions: [...decisions],
  };
}

/** The last 50 decisions are kept. */
const KEPT_DECISIONS = 50;
const KEPT_BYTES = 12_000;

/**
 * Applies a reading to what is known of an ended order. As for open orders, `error` replaces no decision.
 * @returns the event to send; undefined when nothing changed, or no receiver is configured
 */
export function applyLateReading(
  order: ReadAfterEndInput,
  transaction: EndedTransaction,
  read: { decision: Decision } & Enriched,
  at: Instant,
): OrderEvent | undefined {
  const { decision } = read;
  const last = lastLate(order, transaction);
  if (decision === 'error' || decision === (last ?? transaction).decision) return undefined;
  const { attention, ...actions } = actionsAfter(last ?? order, transaction, decision);
  const sequence = nextSequence(order);
  const late: LateDecision = {
    decision,
    transactionId: transaction.id,
    attempt: transaction.attempt,
    ...actions,
    at,
    ...(sequence !== undefined && { event: { sequence, status: 'waiting' } }),
  };
  order.decisions = lastOf([...order.decisions, late], KEPT_DECISIONS, KEPT_BYTES);
  return sequence === undefined
    ? undefined
    : eventOf(order, transaction, read, { ...late, sequence, attention });
}

/** Notes what became of an event. */
export function noteLateEvent(
  order: ReadAfterEndInput,
  sequence: number,
  status: 'delivered' | 'undelivered',
): void {
  for (const { event } of order.decisions) if (event?.sequence === sequence) event.status = status;
}

function lastLate({ decisions }: ReadAfterEndInput, { id }: EndedTransaction): LateDecision | undefined {
  return decisions.findLast(({ transactionId }) => sameTransaction(transactionId, id));
}

/** Continues the order's own sequence: no other event of the order has the number. */
function nextSequence({ sequence, decisions }: ReadAfterEndInput): number | undefined {
  if (sequence === undefined) return undefined;
  return Math.max(sequence, ...decisions.map(({ event }) => event?.sequence ?? 0)) + 1;
}

function eventOf(
  { integration, orderId, phase }: ReadAfterEndInput,
  { cancelBy }: EndedTransaction,
  read: Enriched,
  late: LateDecision & { sequence: number; attention: string[] },
): OrderEvent {
  const { sequence, at, attempt, transactionId, decision, action, wouldBe, attention } = late;
  return {
    id: `${integration}:${orderId}:${sequence}`,
    type: 'order.decision_changed',
    orderId,
    integration,
    sequence,
    occurredAt: at,
    data: {
      phase,
      decision,
      action,
      attempt,
      attention,
      transactionId,
      cancelBy,
      ...(wouldBe !== undefined && { wouldBe }),
      afterClose: true,
      ...enrichedOf(read),
    },
  };
}

/** @returns what the decision means now, by the rules of open orders: what was declined or is to be canceled stays so */
function actionsAfter(
  { action, wouldBe }: Pick<ReadAfterEndInput, 'action' | 'wouldBe'>,
  { acts, gatewayError, cancelBy }: EndedTransaction,
  decision: Decision,
): { action: Action; wouldBe?: Action; attention: string[] } {
  if (!acts || action === 'cancel' || action === 'decline') {
    return { action, ...(wouldBe !== undefined && { wouldBe }), attention: [] };
  }
  const meant = actionLater(decision);
  const later = gatewayError && meant === 'proceed' ? 'hold' : meant;
  if (wouldBe !== undefined) return { action, wouldBe: later, attention: [] };
  const words = `The decision became «${decision}» after the order had ended (cancel window: ${cancelBy}): refund and report by hand.`;
  return { action: later, attention: later === 'cancel' ? [words] : [] };
}
