/** Applies a reading of the status, and the adoption of a transaction that was screened elsewhere. */
import type { ScreeningOutcome, StatusOutcome } from '../../contract/activity-contract.ts';
import type { Adoption, OrderState } from '../../contract/order/state.ts';
import {
  type Instant,
  instant,
  millis,
  type OrderEventType,
  type ReadingSource,
} from '../../contract/words.ts';
import { clear, raiseAttention, raiseWrongKey, statusCause } from '../attention.ts';
import { applyGatewayResult } from '../concerns/gateway.ts';
import { actionLater, decide } from '../decide.ts';
import { currentAttempt, enrichedOf, recordReading, setAction, settlePhase } from '../record.ts';
import { recordTransaction, transactionOf } from '../transactions.ts';
import { checkoutAnswer } from '../view/answers.ts';

/**
 * Records a reading of the status, and applies its consequences.
 * @returns the events to send, oldest first
 */
export function applyReading(
  state: OrderState,
  outcome: StatusOutcome,
  source: ReadingSource,
  now: Instant,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const cause = statusCause(transaction?.id);
  if (outcome.kind === 'forbidden') return raiseWrongKey(state, cause, now);
  clear(state, { codes: ['wrong-key'], ...cause });
  if (outcome.kind === 'unreadable') return raiseAttention(state, 'status-error', outcome.words, cause, now);
  // Rule «last read»: an `error` in place of a decision is read again.
  if (outcome.decision !== 'error' || state.decision === 'error') state.lastRead = { at: now, source };
  const consequence = decide(state, outcome.decision, now);
  clear(state, { codes: consequence.clear ?? [] });
  if (transaction !== undefined && outcome.decision !== 'error') {
    Object.assign(transaction, { decision: outcome.decision, decidedAt: now, source });
  }
  if (consequence.decision !== undefined) {
    const { decision } = consequence;
    recordReading(state, attempt, { decision, at: now, source, ...enrichedOf(outcome) });
    state.passed = state.passed.filter((kind) => kind !== 'review-lead' && kind !== 'cancel-reminder');
    delete state.fraudReportedAt;
    delete state.reason;
    delete attempt.rescreenDue;
  }
  if (consequence.action !== undefined) setAction(state, consequence.action);
  settlePhase(state, now);
  const events = consequence.event === undefined ? [] : [consequence.event];
  if (consequence.attention !== undefined) {
    const { code, words } = consequence.attention;
    events.push(...raiseAttention(state, code, words, cause, now));
  }
  return events;
}

/**
 * Applies the reading of an adopted order's transaction, and answers the adoption's caller (rule «nothing by itself»).
 * @returns the events to send, oldest first
 */
export function applyAdoption(
  state: OrderState,
  { screenedAt, gatewayResult }: Adoption,
  outcome: ScreeningOutcome,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind !== 'answered') throw new TypeError(`an adoption was ${outcome.kind}`);
  const { transactionId, decision } = outcome;
  const attempt = currentAttempt(state);
  // Within the clock tolerance it may be in the future.
  const sentFrom = instant(Math.min(millis(screenedAt), millis(now)));
  recordTransaction(state, {
    id: transactionId,
    attempt: attempt.number,
    invoiceNumber: attempt.invoiceNumber ?? state.orderId,
    sentFrom,
    sentUntil: sentFrom,
    found: 'adopted',
    decision,
    decidedAt: now,
    source: 'adoption',
  });
  recordReading(state, attempt, { decision, at: now, source: 'adoption', ...enrichedOf(outcome) });
  const failed = actionLater(decision) === 'cancel';
  setAction(state, failed ? 'hold' : actionLater(decision));
  const events: OrderEventType[] = ['order.decided'];
  if (failed)
    events.push(
      ...raiseAttention(state, 'failed-at-adoption', FAILED_AT_ADOPTION, statusCause(transactionId), now),
    );
  if (gatewayResult !== undefined) {
    events.push(...applyGatewayResult(state, { result: gatewayResult }, now));
    if (attempt.gateway !== undefined) attempt.gateway.sent = 'recorded';
  }
  settlePhase(state, now);
  attempt.answer = checkoutAnswer(state);
  return events;
}

const FAILED_AT_ADOPTION =
  'The transaction had already failed when the order was adopted: cancel it unless it is canceled already.';
