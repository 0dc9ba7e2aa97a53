/** Which action a decision means for an order, at checkout and later. */
import type { StatusOutcome } from '../contract/activity-contract.ts';
import type { ActionRecord, OrderState } from '../contract/order/state.ts';
import type { Policy } from '../contract/policy.ts';
import {
  type Action,
  type AttentionCode,
  type DeadlineKind,
  type Decision,
  type Instant,
  millis,
  type OrderDecision,
  type OrderEventType,
  type ReadingSource,
} from '../contract/words.ts';
import { clear, clearedBy, raiseAttention, statusCause } from './attention.ts';
import { currentAttempt, enrichedOf, overrideOf, recordReading, setAction, settlePhase } from './record.ts';
import {
  cancelAsked,
  cancelByOf,
  isDecided,
  transactionNamed,
  transactionOf,
  windowOpen,
} from './transactions.ts';

export interface Matter {
  code: AttentionCode;
  words: string;
}

/**
 * @param action the action that the decision means
 * @returns the attention that a decision raises: it differs from an override, or it means a cancel after the cancel window has closed
 */
export function attentionTo(
  state: OrderState,
  action: Action | undefined,
  read: Decision,
  now: Instant,
): Matter | undefined {
  const override = overrideOf(state);
  if (override !== undefined) {
    const words = `The screening service’s decision is now «${read}». The operator’s override (${override.action}) still applies.`;
    return { code: 'decision-after-override', words };
  }
  const { policy } = state;
  const cancelBy = cancelByOf(state, currentAttempt(state));
  if (action !== 'cancel' || cancelBy === undefined || policy.passive) return undefined;
  const isOpen = windowOpen(cancelBy, policy.cancelWindowMs, millis(now));
  if (isOpen && state.phase !== 'closed') return undefined;
  const words = isOpen
    ? `The decision became «${read}» after the order ended: cancel it until ${cancelBy}.`
    : `The decision changed to «${read}» too late to cancel (window: ${cancelBy}): refund and report by hand.`;
  return { code: 'failed-after-window', words };
}

export function actionAtCheckout(decision: OrderDecision, policy: Policy): Action {
  if (decision === 'error' || decision === 'pending') return actionWithoutDecision(policy);
  if (decision === 'review' && policy.workflow === 'pre-gateway') return policy.reviewBeforeGateway;
  const action = actionLater(decision);
  return action === 'cancel' && policy.workflow !== 'post-acceptance' ? 'decline' : action;
}

/** @returns the action of a checkout without a decision; after acceptance nothing can be declined any more, so `decline` is `hold` */
export function actionWithoutDecision(policy: Pick<Policy, 'workflow' | 'whenUnavailable'>): Action {
  return policy.workflow === 'post-acceptance' && policy.whenUnavailable === 'decline'
    ? 'hold'
    : policy.whenUnavailable;
}

const ACTION_LATER: Record<OrderDecision, Action> = {
  pass: 'proceed',
  skipped: 'proceed',
  review: 'hold',
  error: 'hold',
  pending: 'hold',
  fail: 'cancel',
  fraudulent: 'cancel',
};

/** @returns the action of a decision made after the checkout */
export function actionLater(decision: OrderDecision): Action {
  return ACTION_LATER[decision];
}

/**
 * @returns the action of the present decision. Without one the action of the attempt's answer stays, unless that was held back. A fail that
 * canceled nothing is left to a person
 */
export function actionMeant(state: OrderState): Action {
  const { decision } = state;
  const attempt = currentAttempt(state);
  const { wouldBe, action = 'hold' } = attempt.answer ?? {};
  if (decision === 'pending' || decision === 'error')
    return attempt.heldBack ? 'proceed' : (wouldBe ?? action);
  return actionLater(decision) === 'proceed' ? 'proceed' : 'hold';
}

/** Replaces `proceed` with `hold` while a cancel is under way, which decides first, or the payment gateway's result is `error`. */
export function heldBack(state: OrderState, action: Action): Action {
  const isHeld = cancelAsked(state) || currentAttempt(state).gateway?.result === 'error';
  return action === 'proceed' && isHeld ? 'hold' : action;
}

/** Sets `proceed` in place of a hold by `heldBack` that has ended. @returns the events to send */
export function endHold(state: OrderState, now: Instant): OrderEventType[] {
  if (state.action !== 'hold' || heldBack(state, actionMeant(state)) !== 'proceed') return [];
  setAction(state, 'proceed');
  settlePhase(state, now);
  return ['order.decision_changed'];
}

/** @returns whether the policy requires canceling the order's transaction at the screening service now */
export function autoCancelDue(state: OrderState, nowMs: number): boolean {
  const { policy } = state;
  const { id: transactionId, cancelBy } = transactionOf(state, currentAttempt(state)) ?? {};
  // A withdrawal doesn't cover the readings after it.
  const isOvertaken = ({ status, overtaken }: ActionRecord): boolean =>
    status === 'withdrawn' && overtaken === true;
  return (
    policy.autoCancel &&
    !policy.passive &&
    state.phase === 'decided' &&
    state.action === 'cancel' &&
    currentAttempt(state).override?.action !== 'proceed' &&
    !cancelAsked(state) &&
    (state.decision === 'fail' || state.decision === 'fraudulent') &&
    transactionId !== undefined &&
    windowOpen(cancelBy, policy.cancelWindowMs, nowMs) &&
    !state.actions.some(
      (record) => record.kind === 'cancel' && record.transactionId === transactionId && !isOvertaken(record),
    )
  );
}

// Decisions that follow a fraud report of a caller. The order may have shipped before the report.

/** Returns whether a fraud report was sent, or may have been. */
export function wasReported({ status }: Pick<ActionRecord, 'status'>): boolean {
  return ['running', 'done', 'unconfirmed'].includes(status);
}

/**
 * Returns whether the order could ship before a caller reported a transaction of the attempt as fraud: it had passed, and did not wait for
 * the payment gateway. The policy `cancelAfterReport: never` then leaves the action to a person.
 */
export function keepsActionAfterReport(state: OrderState): boolean {
  if (state.policy.cancelAfterReport === 'always' || state.phase === 'awaiting-gateway') return false;
  const attempt = currentAttempt(state);
  const couldShip = (at: Instant) => attempt.readings.findLast((one) => one.at <= at)?.decision === 'pass';
  return state.actions.some(
    (one) =>
      one.kind === 'report-fraud' &&
      transactionNamed(state, one.transactionId)?.attempt === attempt.number &&
      wasReported(one) &&
      couldShip(one.requestedAt),
  );
}

/**
 * Applies a status read of the newest transaction. An unchanged decision changes nothing. `error` never replaces a decision. A declined
 * order stays declined. A canceled order keeps its decision.
 * @returns the events to send, oldest first
 */
export function applyReading(
  state: OrderState,
  outcome: Exclude<StatusOutcome, { kind: 'forbidden' }>,
  source: ReadingSource,
  now: Instant,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const cause = statusCause(transaction?.id);
  const raise = ({ code, words }: Matter) => raiseAttention(state, code, words, cause, now);
  if (outcome.kind === 'unreadable') return raise({ code: 'status-error', words: outcome.words });
  const { decision } = outcome;
  const before = state.decision;
  // Rule «last read»: an `error` in place of a decision is read again.
  if (decision === 'error' && before !== 'error') {
    return state.phase === 'canceled' ? [] : raise({ code: 'status-error', words: ERROR_AFTER_DECISION });
  }
  state.lastRead = { at: now, source };
  if (transaction !== undefined && decision !== 'error') {
    Object.assign(transaction, { decision, decidedAt: now, source });
  }
  if (state.phase === 'canceled') return [];
  if (decision === before) {
    clear(state, { codes: ['status-error'] });
    return [];
  }
  const meansCancel = actionLater(decision) === 'cancel';
  // A fail that stopped the order stays; one left to a person ends with a decision that is no fail.
  const acted = ['cancel', 'decline'].includes(state.wouldBe ?? state.action);
  const isFinal = actionLater(before) === 'cancel' && (acted || meansCancel);
  const { action, matter } = consequenceOf(state, decision, isFinal, now);
  clear(state, { codes: isFinal ? ['status-error', 'decision-after-override'] : clearedBy('decision') });
  if (!meansCancel) clear(state, { codes: ['fraud-confirmed'] });
  recordReading(state, attempt, { decision, at: now, source, ...enrichedOf(outcome) });
  state.passed = state.passed.filter((kind) => !OF_DECISION.includes(kind));
  delete state.fraudReportedAt;
  delete state.reason;
  if (action !== undefined) setAction(state, action);
  settlePhase(state, now);
  const change = before === 'review' ? 'order.review_resolved' : 'order.decision_changed';
  return [isDecided(before) ? change : 'order.decided', ...(matter === undefined ? [] : raise(matter))];
}

/** What is due again after another decision. */
const OF_DECISION: readonly DeadlineKind[] = ['review-lead', 'review-cancel', 'cancel-reminder'];

const ERROR_AFTER_DECISION =
  'The screening service returned `error` for a transaction that already has a decision.';

/** Rule «last read». Whether an answer has no decision: none can be read from it, or only `error` in place of the known one. */
export function isUnusable(outcome: StatusOutcome, known: OrderDecision | undefined): boolean {
  if (outcome.kind === 'read') return outcome.decision === 'error' && known !== 'error';
  return outcome.kind === 'unreadable';
}

/** Returns the action and the attention that a changed decision causes. @param isFinal the action stays, unless a person changes it */
function consequenceOf(
  state: OrderState,
  read: Decision,
  isFinal: boolean,
  now: Instant,
): { action?: Action; matter?: Matter | undefined } {
  if (isFinal || overrideOf(state) !== undefined) return { matter: attentionTo(state, undefined, read, now) };
  if (state.phase === 'declined' || state.action === 'decline' || state.action === 'cancel') return {};
  if (actionLater(read) === 'cancel' && keepsActionAfterReport(state)) {
    const words = `The screening service’s decision is «${read}» after the fraud report. The order is not canceled automatically: cancel it, unless it has shipped.`;
    return { matter: { code: 'fraud-confirmed', words } };
  }
  const action = heldBack(state, actionLater(read));
  return { action, matter: attentionTo(state, action, read, now) };
}
