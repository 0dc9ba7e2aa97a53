/** Brings into the order what decides it beside a screening: a reading of the status, an adoption, a person's word. */
import type { FirstScreening, StatusOutcome } from './activity-contract.ts';
import { invalid, isRecord, isText, REASON_LIMIT, refusal } from './check-messages.ts';
import { isOver } from './deadlines.ts';
import { actionLater, decide } from './decide.ts';
import type { Fault } from './errors.ts';
import { applyGatewayResult } from './gateway.ts';
import type { OrderEventType, OverrideRequest } from './messages.ts';
import type { Order, Refusal } from './order.ts';
import { cancelSent } from './portal.ts';
import {
  clear,
  currentAttempt,
  enrichedOf,
  raiseAttention,
  raiseWrongKey,
  setAction,
  settle,
} from './record.ts';
import type { Adoption, AttentionCode, OrderState } from './state.ts';
import { checkoutAnswer } from './tickets.ts';
import { noteTransaction, windowEnd } from './transactions.ts';
import { type By, type Instant, type JournalEntry, OVERRIDE_ACTIONS, type ReadingSource } from './words.ts';

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
    attempt.readings.push({ decision: consequence.decision, at: now, source, ...enrichedOf(outcome) });
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

/**
 * Brings the reading of an adopted order's transaction into the order, and answers whoever adopts it (rule «nothing by itself»).
 * @returns the events that it means, oldest first
 */
export function applyAdoption(
  order: OrderState,
  { screenedAt, gatewayResult }: Adoption,
  { policy, outcome }: Pick<FirstScreening, 'policy' | 'outcome'>,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind !== 'answered') throw new TypeError(`an adoption was ${outcome.kind}`);
  const { transactionId, decision } = outcome;
  const attempt = currentAttempt(order);
  order.policy = policy;
  order.workflow = policy.workflow;
  noteTransaction(attempt, transactionId);
  attempt.maybeSentSince = screenedAt;
  attempt.cancelBy = windowEnd(screenedAt, policy.cancelWindowMs);
  order.decision = decision;
  attempt.decision = decision;
  attempt.readings.push({ decision, at: now, source: 'adoption', ...enrichedOf(outcome) });
  order.lastRead = { at: now, source: 'adoption' };
  const failed = actionLater(decision) === 'cancel';
  setAction(order, failed ? 'hold' : actionLater(decision));
  const events: OrderEventType[] = ['order.decided'];
  if (failed) events.push(...raiseAttention(order, 'failed-at-adoption', FAILED_AT_ADOPTION, now));
  if (gatewayResult !== undefined) {
    events.push(...applyGatewayResult(order, { result: gatewayResult }, now));
    if (attempt.gateway !== undefined) attempt.gateway.sent = 'recorded';
  }
  settle(order, now);
  attempt.answer = checkoutAnswer(order);
  return events;
}

const FAILED_AT_ADOPTION =
  'The transaction had failed already when the order was adopted: cancel it, unless that was done before.';

// What people do.

const KEPT_ENTRIES = 200;

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
  state.journal = [...(state.journal ?? []), entry].slice(-KEPT_ENTRIES);
}

// A person decides in place of the service.

/** @returns why the `override` update isn't taken, or undefined: it is */
export function overrideRefusal(
  order: OrderState,
  request: OverrideRequest,
  nowMs: number,
): Refusal | undefined {
  if (!isRecord(request)) return invalid([{ path: '', message: 'must be {action, reason}' }]);
  const { action, reason } = request;
  const errors: Fault[] = [];
  if (!OVERRIDE_ACTIONS.includes(action))
    errors.push({ path: 'action', message: 'must be proceed or cancel' });
  if (!isText(reason, REASON_LIMIT)) {
    errors.push({ path: 'reason', message: `must be a string of 1 to ${REASON_LIMIT} characters` });
  }
  if (errors.length > 0) return invalid(errors);
  if (order.policy?.passive)
    return refusal('passive', 'The integration is passive: every action is proceed.');
  if (order.phase === 'canceled' || isOver(order, nowMs)) {
    return refusal('order-closed', 'The order is canceled or closed: nothing is left to decide.');
  }
  const gatewayDeclined = currentAttempt(order).gateway?.result === 'fail';
  if (order.phase === 'declined' || (action === 'proceed' && gatewayDeclined)) {
    return refusal('order-declined', 'The order is declined: only another attempt can change that.');
  }
  return action === 'proceed' && cancelSent(order)
    ? refusal('cancel-under-way', 'A cancel was sent to the service, and may be done.')
    : undefined;
}

/** What a person who decides has dealt with. */
const DECISION_MATTERS: readonly AttentionCode[] = [
  'no-decision',
  'unreadable-answer',
  'status-error',
  'review-unresolved',
  'review-limit',
  'cancel-due',
  'cancel-refused',
  'cancel-too-late',
  'failed-after-window',
  'decision-after-override',
];

/** Has a person decide: rule «a person decides». @returns the events that it means */
export function override(
  order: OrderState,
  { action, reason }: OverrideRequest,
  now: Instant,
): OrderEventType[] {
  currentAttempt(order).override = { action, reason, by: 'person', at: now };
  clear(order, ...DECISION_MATTERS);
  setAction(order, action);
  settle(order, now);
  return ['order.decision_changed'];
}
