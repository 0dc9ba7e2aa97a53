/** Brings into the order what decides it beside a screening: a reading of the status, an adoption, a person's word. */

import type { FirstScreening, StatusOutcome } from './activity-contract.ts';
import { clear, raiseAttention, raiseWrongKey, statusCause } from './attention.ts';
import { addReading, lastOf } from './bounds.ts';
import { invalid, isRecord, isText, REASON_LIMIT, refusal } from './check-messages.ts';
import { isOver } from './deadlines.ts';
import { actionLater, decide } from './decide.ts';
import type { Fault } from './errors.ts';
import { applyGatewayResult } from './gateway.ts';
import type { OrderEventType, OverrideRequest } from './messages.ts';
import type { Order, Refusal } from './order.ts';
import { cancelSent } from './portal.ts';
import { currentAttempt, enrichedOf, setAction, settle } from './record.ts';
import type { Adoption, OrderState } from './state.ts';
import { checkoutAnswer } from './tickets.ts';
import { noteDecision, recordTransaction, transactionOf } from './transactions.ts';
import {
  type AttentionCode,
  type By,
  type Instant,
  instant,
  type JournalEntry,
  millis,
  OVERRIDE_ACTIONS,
  type ReadingSource,
} from './words.ts';

/**
 * Records a reading, and what follows.
 * @returns the events that it means, oldest first
 */
export function applyReading(
  state: OrderState,
  outcome: StatusOutcome,
  source: ReadingSource,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind === 'unanswered') return [];
  const attempt = currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const cause = statusCause(transaction?.id);
  if (outcome.kind === 'forbidden') return raiseWrongKey(state, cause, now);
  clear(state, { codes: ['wrong-key'], ...cause });
  state.lastRead = { at: now, source };
  if (outcome.kind === 'unreadable') return raiseAttention(state, 'status-error', outcome.words, cause, now);
  const consequence = decide(state, outcome.decision, now);
  clear(state, { codes: consequence.clear ?? [] });
  if (transaction !== undefined && outcome.decision !== 'error') {
    noteDecision(transaction, outcome.decision, now, source);
  }
  if (consequence.decision !== undefined) {
    state.decision = consequence.decision;
    attempt.decision = consequence.decision;
    addReading(state, attempt, { decision: consequence.decision, at: now, source, ...enrichedOf(outcome) });
    state.passed = state.passed.filter((kind) => kind !== 'review-lead' && kind !== 'cancel-reminder');
    delete state.fraudReportedAt;
    delete state.reason;
    delete attempt.rescreenDue;
  }
  if (consequence.action !== undefined) setAction(state, consequence.action);
  settle(state, now);
  const events = consequence.event === undefined ? [] : [consequence.event];
  if (consequence.attention !== undefined) {
    const { code, words } = consequence.attention;
    events.push(...raiseAttention(state, code, words, cause, now));
  }
  return events;
}

/**
 * Brings the reading of an adopted order's transaction into the order, and answers whoever adopts it (rule «nothing by itself»).
 * @returns the events that it means, oldest first
 */
export function applyAdoption(
  state: OrderState,
  { screenedAt, gatewayResult }: Adoption,
  { policy, outcome }: Pick<FirstScreening, 'policy' | 'outcome'>,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind !== 'answered') throw new TypeError(`an adoption was ${outcome.kind}`);
  const { transactionId, decision } = outcome;
  const attempt = currentAttempt(state);
  state.policy = policy;
  state.workflow = policy.workflow;
  const sentFrom = instant(millis(screenedAt));
  recordTransaction(state, policy, {
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
  state.decision = decision;
  attempt.decision = decision;
  addReading(state, attempt, { decision, at: now, source: 'adoption', ...enrichedOf(outcome) });
  state.lastRead = { at: now, source: 'adoption' };
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
  settle(state, now);
  attempt.answer = checkoutAnswer(state);
  return events;
}

const FAILED_AT_ADOPTION =
  'The transaction had failed already when the order was adopted: cancel it, unless that was done before.';

// What people do.

/** So many entries are kept, and so many bytes of them. */
const KEPT_ENTRIES = 200;
const KEPT_ENTRIES_BYTES = 100_000;

/** Writes into the order's journal what somebody did. It is part of the state: no event is spent on it. */
export function note(
  { state, now: at }: Order,
  what: JournalEntry['what'],
  by: By | undefined,
  more: Pick<JournalEntry, 'number' | 'action'> & { because?: string | undefined } = {},
): void {
  const { because, ...rest } = more;
  const { key, actor } = by ?? {};
  const entry: JournalEntry = {
    at,
    what,
    ...rest,
    ...((key || actor) && { by: { ...(key && { key }), ...(actor && { actor }) } }),
    ...(because && { because: because.slice(0, REASON_LIMIT) }),
  };
  state.journal = lastOf([...(state.journal ?? []), entry], KEPT_ENTRIES, KEPT_ENTRIES_BYTES);
}

// A person decides in place of the service.

/** @returns why the `override` update isn't taken, or undefined: it is */
export function overrideRefusal(
  state: OrderState,
  request: OverrideRequest,
  nowMs: number,
): Refusal | undefined {
  if (!isRecord(request)) return invalid([{ path: '', message: 'must be {action, reason}' }]);
  const { action, reason } = request;
  const errors: Fault[] = [];
  if (!OVERRIDE_ACTIONS.includes(action))
    errors.push({ path: 'action', message: 'must be proceed or cancel' });
  if (!isText(reason, REASON_LIMIT) || reason.trim() === '') {
    errors.push({ path: 'reason', message: `must be a string of 1 to ${REASON_LIMIT} characters` });
  }
  if (errors.length > 0) return invalid(errors);
  if (state.policy?.passive)
    return refusal('passive', 'The integration is passive: every action is proceed.');
  if (state.phase === 'canceled' || isOver(state, nowMs)) {
    return refusal('order-closed', 'The order is canceled or closed: nothing is left to decide.');
  }
  const gatewayDeclined = currentAttempt(state).gateway?.result === 'fail';
  if (state.phase === 'declined' || (action === 'proceed' && gatewayDeclined)) {
    return refusal('order-declined', 'The order is declined: only another attempt can change that.');
  }
  return action === 'proceed' && cancelSent(state)
    ? refusal('cancel-under-way', 'A cancel was sent to the service, and may be done.')
    : undefined;
}

/** What a person who decides has dealt with. */
const DECISION_MATTERS: AttentionCode[] = [
  'no-decision',
  'unreadable-answer',
  'status-error',
  'review-unresolved',
  'review-limit',
  'cancel-due',
  'cancel-refused',
  'cancel-too-late',
  'failed-after-window',
  'failed-at-adoption',
  'decision-after-override',
];

/** Has a person decide: rule «a person decides». @returns the events that it means */
export function override(
  state: OrderState,
  { action, reason }: OverrideRequest,
  now: Instant,
): OrderEventType[] {
  currentAttempt(state).override = { action, reason, by: 'person', at: now };
  clear(state, { codes: DECISION_MATTERS });
  setAction(state, action);
  settle(state, now);
  return ['order.decision_changed'];
}
