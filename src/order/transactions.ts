/** The transactions of an order: which one counts, until when each can be canceled, whether that is under way, and which creates have an unknown transaction. */
import { sameTransaction } from '../contract/ids.ts';
import type { ActionRecord, Attempt, OrderState, OrderTransaction } from '../contract/order/state.ts';
import {
  type DeadlineKind,
  type Instant,
  lastStretchMs,
  laterBy,
  millis,
  type OrderDecision,
} from '../contract/words.ts';
import { defined } from './defined.ts';
import type { Order } from './order.ts';
import { currentAttempt } from './record.ts';

/** Returns the transaction with this id, ignoring case. */
export function transactionNamed(state: OrderState, id: string | undefined): OrderTransaction | undefined {
  return id === undefined ? undefined : state.transactions.find((one) => sameTransaction(one.id, id));
}

/** Returns the attempt's effective transaction: the last one with a decision other than `error`, else the last one. */
export function transactionOf(state: OrderState, { number }: Attempt): OrderTransaction | undefined {
  const own = state.transactions.filter((one) => one.attempt === number);
  return own.findLast(({ decision }) => isDecided(decision)) ?? own.at(-1);
}

/**
 * Returns the end of the attempt's cancel window: that of its transaction, else that of the transaction that an unconfirmed create would
 * have. Undefined if there can be no transaction.
 */
export function cancelByOf(state: OrderState, attempt: Attempt): Instant | undefined {
  return transactionOf(state, attempt)?.cancelBy ?? unseenWindowEnd(state, attempt);
}

function unseenWindowEnd({ policy }: OrderState, { unseen }: Attempt): Instant | undefined {
  return unseen && laterBy(policy.cancelWindowMs, unseen.since);
}

/** Returns the end of the attempt's last possible window: an unconfirmed create may open a later window than the known transaction's. */
export function lastWindowOf(state: OrderState, attempt: Attempt): Instant | undefined {
  const known = cancelByOf(state, attempt);
  const opened = mayBeSeen(attempt) ? unseenWindowEnd(state, attempt) : undefined;
  return known === undefined || (opened !== undefined && opened > known) ? opened : known;
}

/** Returns the transaction for which the attempt's gateway result must still be sent, if any. */
export function owedFor(state: OrderState, attempt: Attempt): OrderTransaction | undefined {
  const { gateway } = attempt;
  return gateway === undefined || gateway.sent !== undefined ? undefined : transactionOf(state, attempt);
}

/** Returns the transactions of which a lookup for the attempt can say nothing new: those with a decision, and other attempts’. */
export function knownTransactionIds({ transactions }: OrderState, attempt: Attempt): string[] {
  const known = transactions.filter((one) => one.decision !== undefined || one.attempt !== attempt.number);
  return known.map(({ id }) => id);
}

const OF_TRANSACTION: readonly DeadlineKind[] = [
  'recheck',
  'review-lead',
  'review-cancel',
  'review-limit',
  'cancel-reminder',
];

/**
 * Records a transaction, or the decision of a known one. Assumption «start of the cancel window»: the window is counted from the earliest time at which its create may have been
 * sent, and is never extended.
 */
export function recordTransaction(state: OrderState, found: Omit<OrderTransaction, 'cancelBy'>): void {
  const known = transactionNamed(state, found.id);
  if (known !== undefined) {
    const { decision, decidedAt, source } = found;
    if (decision !== undefined) Object.assign(known, { decision, decidedAt, source });
    return;
  }
  const attempt = state.attempts[found.attempt - 1];
  const before = attempt && transactionOf(state, attempt);
  state.transactions.push({ ...found, cancelBy: laterBy(state.policy.cancelWindowMs, found.sentFrom) });
  if (attempt === undefined || transactionOf(state, attempt) === before) return;
  // The gateway result must also be sent for the newest transaction, whose deadlines are its own.
  if (attempt.gateway !== undefined) delete attempt.gateway.sent;
  if (attempt === state.attempts.at(-1)) {
    state.passed = state.passed.filter((kind) => !OF_TRANSACTION.includes(kind));
  }
}

/** Returns whether the attempt has an unconfirmed create that a lookup may find. */
export function mayBeSeen({ unseen }: Attempt): boolean {
  return unseen !== undefined && unseen.hidden !== true;
}

export function isUnderWay({ status }: Pick<ActionRecord, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

export function wasLeftUnsent({ status }: Pick<ActionRecord, 'status'>): boolean {
  return status === 'withdrawn' || status === 'not-sent';
}

/** Returns whether the action is for the newest transaction: actions for earlier ones don't change the order's phase. */
export function concernsNewest(state: OrderState, { transactionId }: ActionRecord): boolean {
  return transactionId === undefined || transactionId === transactionOf(state, currentAttempt(state))?.id;
}

/**
 * Returns the cancel that covers a transaction without one of its own: it is under way or done, and was asked for before the same attempt's
 * further transaction was found, or became its newest. A withdrawn one covers nothing.
 */
export function coveringCancel(state: OrderState, one: OrderTransaction): ActionRecord | undefined {
  const cancels = state.actions.filter(({ kind }) => kind === 'cancel');
  if (cancels.some(({ transactionId }) => transactionId === one.id)) return undefined;
  const newest = transactionOf(state, currentAttempt(state));
  return cancels.find((record) => {
    const { status, stop, transactionId, coversFrom } = record;
    const covers = status === 'done' ? state.phase === 'canceled' : isUnderWay(record) && stop === undefined;
    const attempt = transactionNamed(state, transactionId)?.attempt ?? currentAttempt(state).number;
    if (!covers || coversFrom === undefined || attempt !== one.attempt) return false;
    return one === newest || state.transactions.indexOf(one) >= coversFrom;
  });
}

/** Returns whether a cancel of the newest transaction is queued or running. */
export function cancelAsked(state: OrderState): boolean {
  const newest = transactionOf(state, currentAttempt(state));
  const covering = newest && coveringCancel(state, newest);
  return state.actions.some(
    (one) => one.kind === 'cancel' && isUnderWay(one) && (one === covering || concernsNewest(state, one)),
  );
}

const UNDECIDED: readonly OrderDecision[] = ['pending', 'error', 'skipped'];

/** An outcome without a decision never replaces one (rule «no decision lost»). */
export function isDecided(decision: OrderDecision | undefined): boolean {
  return decision !== undefined && !UNDECIDED.includes(decision);
}

/** Returns the last moment at which a cancel may be sent. */
export function lastCall(cancelBy: Instant, cancelWindowMs: number): Instant {
  return laterBy(-lastStretchMs(cancelWindowMs), cancelBy);
}

export function windowOpen(cancelBy: Instant | undefined, cancelWindowMs: number, nowMs: number): boolean {
  return cancelBy !== undefined && nowMs < millis(lastCall(cancelBy, cancelWindowMs));
}

/** Returns whether a create may be in flight, even one that the order no longer requires. */
export function createUnderWay({ state, running }: Order): boolean {
  const isUnanswered = state.attempts.some(({ answer }) => answer === undefined);
  return isUnanswered || running.some(({ effect: { call } }) => call.kind === 'catch-up');
}

/** Returns the state of an attempt, as answers contain it. An earlier attempt keeps its own last action, unless the order is canceled. */
export function attemptSummary(state: OrderState, attempt: Attempt) {
  const { orderId, integration, phase } = state;
  const { number, decision, lastAction = state.action } = attempt;
  const action = phase === 'canceled' ? state.action : lastAction;
  return {
    ...{ orderId, integration, attempt: number, decision, action, phase },
    ...defined({ transactionId: transactionOf(state, attempt)?.id, cancelBy: cancelByOf(state, attempt) }),
  };
}
