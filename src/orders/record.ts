/** An order's record: how it and each attempt begin, the phase, what a person must look at, and the events that tell of it. */

import { lastOf } from './bounds.ts';
import type { OrderEvent, OrderEventType, ScreenOrderInput } from './messages.ts';
import type { Order } from './order.ts';
import type { Adoption, Attempt, Enriched, KeptEvent, OrderState, Override } from './state.ts';
import { cancelByOf, transactionOf } from './transactions.ts';
import {
  type Action,
  type AttentionCode,
  type Instant,
  type IntegrationWorkflow,
  instant,
  millis,
  type Phase,
} from './words.ts';

/** Until the policy is known, a day; the policy's own `screeningDeadline` replaces it with the first answer. */
const UNTIL_POLICY_KNOWN_MS = 24 * 3_600_000;

/** What a new attempt makes pointless to look at: it is about an earlier screening. */
const SCREENING_MATTERS: AttentionCode[] = [
  'no-decision',
  'unreadable-answer',
  'status-error',
  'decision-after-override',
];

/** The first spacing between hints that are read. */
export const FIRST_HINT_SPACING_MS = 2_000;

/** @returns an order that nobody has screened yet */
export function newOrder(
  input: ScreenOrderInput & { integration: string },
  startedAt: Instant,
  wasReset: boolean,
): Order {
  const { workflow, answerBy } = input;
  return {
    rules: 0,
    state: newOrderState(input, startedAt),
    now: startedAt,
    asked: { ...(workflow !== undefined && { workflow }), ...(answerBy !== undefined && { answerBy }) },
    wasReset,
    transactions: { 1: input.transaction },
    outbox: [],
    fields: {},
    look: {},
    tickets: [],
    held: [],
    effects: [],
    begun: 0,
    paused: [],
  };
}

/** @returns the state of an order that nobody has screened yet, with its first attempt */
export function newOrderState(
  request: {
    orderId: string;
    integration: string;
    workflow?: IntegrationWorkflow | undefined;
    cardRef?: string | undefined;
    fingerprint?: string | undefined;
    adopt?: Adoption | undefined;
  },
  now: Instant,
): OrderState {
  const state: OrderState = {
    orderId: request.orderId,
    integration: request.integration,
    workflow: request.workflow ?? 'pre-acceptance',
    phase: 'screening',
    phaseSince: now,
    decision: 'pending',
    action: 'hold',
    attempts: [],
    transactions: [],
    attention: [],
    actions: [],
    events: { sequence: 0, delivered: 0, waiting: 0 },
    hints: { unread: false, spacingMs: FIRST_HINT_SPACING_MS },
    cancelAsked: false,
    passed: [],
    startedAt: now,
    ...(request.adopt !== undefined && { adopted: request.adopt }),
  };
  addAttempt(state, request, now);
  return state;
}

/** Adds the next attempt; the order is in `screening` again. */
export function addAttempt(
  state: OrderState,
  request: { cardRef?: string | undefined; fingerprint?: string | undefined },
  now: Instant,
): Attempt {
  const attempt: Attempt = {
    number: state.attempts.length + 1,
    startedAt: now,
    decision: 'pending',
    readings: [],
    rescreens: 0,
    screenUntil: instant(millis(now) + (state.policy?.screeningDeadlineMs ?? UNTIL_POLICY_KNOWN_MS)),
    ...(request.cardRef && { cardRef: request.cardRef }),
    ...(request.fingerprint && { fingerprint: request.fingerprint }),
  };
  state.attempts.push(attempt);
  state.passed = [];
  state.phase = 'screening';
  state.phaseSince = now;
  state.decision = 'pending';
  state.action = state.policy?.passive === true ? 'proceed' : 'hold';
  state.attention = state.attention.filter((one) => !SCREENING_MATTERS.includes(one.code));
  delete state.message;
  delete state.reason;
  delete state.wouldBe;
  delete state.fraudReportedAt;
  return attempt;
}

/** @returns what a person decided in place of the service, unless the payment gateway declined since */
export function overrideOf(state: OrderState): Override | undefined {
  return state.phase === 'declined' ? undefined : currentAttempt(state).override;
}

/** @returns the attempt of that number @throws TypeError there is none, which is a fault of ours */
export function attemptNumbered(state: OrderState, number: number): Attempt {
  const attempt = state.attempts[number - 1];
  if (attempt === undefined) throw new TypeError(`the order has no attempt ${number}`);
  return attempt;
}

/** @returns the newest attempt: there always is one */
export function currentAttempt(state: OrderState): Attempt {
  const attempt = state.attempts.at(-1);
  if (attempt === undefined) throw new TypeError('an order has at least one attempt');
  return attempt;
}

// Where an order is, derived from what is known of it.

/** Sets the phase that the order's facts mean; `canceled` and `closed` are final. */
export function settle(state: OrderState, now: Instant): void {
  if (state.phase === 'canceled' || state.phase === 'closed') return;
  setPhase(state, phaseOf(state), now);
}

/** Sets the phase and when it began. */
export function setPhase(state: OrderState, phase: Phase, now: Instant): void {
  if (state.phase === phase) return;
  state.phase = phase;
  state.phaseSince = now;
  const attempt = currentAttempt(state);
  if (phase === 'declined') attempt.declinedAt = now;
}

/** Sets the action, or in passive mode `proceed` with what it would have been. */
export function setAction(state: OrderState, action: Action): void {
  const passive = state.policy?.passive === true;
  state.action = passive ? 'proceed' : action;
  if (passive) state.wouldBe = action;
}

function phaseOf(state: OrderState): Phase {
  const attempt = currentAttempt(state);
  const gateway = attempt.gateway?.result;
  if (gateway === 'fail' && state.action !== 'cancel') return 'declined';
  if (state.action === 'decline') return 'declined';
  if (state.action === 'cancel') return 'decided';
  if (attempt.rescreenDue) return 'screening';
  if (state.decision === 'pending') return attempt.screeningOver ? 'decided' : 'screening';
  if (state.decision === 'error') return attempt.screeningOver ? 'decided' : 'screening';
  if (awaitsGateway(state)) return 'awaiting-gateway';
  return state.decision === 'review' ? 'review' : 'decided';
}

/** @returns whether the order service was told to go to the gateway and hasn't said yet how that ended */
export function awaitsGateway(state: OrderState): boolean {
  const gateway = currentAttempt(state).gateway?.result;
  if (state.workflow !== 'pre-gateway' || state.decision === 'skipped') return false;
  return gateway === 'error' ? state.action === 'hold' : gateway === undefined && state.action === 'proceed';
}

/** @returns what came with a decision, of whatever else is known */
export function enrichedOf(given: Enriched): Enriched {
  const { insights, insightsLeftOut, accountMode, passiveMode, subStatus } = given;
  return {
    ...(insights !== undefined && { insights }),
    ...(insightsLeftOut !== undefined && { insightsLeftOut }),
    ...(accountMode !== undefined && { accountMode }),
    ...(passiveMode !== undefined && { passiveMode }),
    ...(subStatus !== undefined && { subStatus }),
  };
}

// Makes the events that go to the order service. By the policy `events: changes` it isn't told what it was
// answered.

/**
 * @param heard a caller waited for the answer and certainly got no other one
 * @returns of the events of a checkout's answer those that tell more than the answer
 */
export function beyondAnswer(
  state: OrderState,
  events: readonly OrderEventType[],
  heard: boolean,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  const knows = state.policy?.events === 'changes' && heard && attempt.answer?.decision !== 'pending';
  if (!knows || !events.includes('order.decided')) return [...events];
  attempt.answeredOnly = true;
  return events.filter((type) => type !== 'order.decided');
}

/** @returns whether nothing but the answer at checkout was to be told of an order: then nor is its end */
export function isPlainPass({ policy, decision, action, events, actions }: OrderState): boolean {
  const passed = decision === 'pass' && action === 'proceed';
  return policy?.events === 'changes' && passed && events.sequence === 0 && actions.length === 0;
}

const BRINGS_DECISION: readonly OrderEventType[] = [
  'order.decided',
  'order.review_resolved',
  'order.decision_changed',
];

/** So many events can be sent again, and so many bytes of them. */
const KEPT_EVENTS = 50;
const KEPT_EVENTS_BYTES = 100_000;

/** @returns the order's next event, with its state in short as it is now; counts the order's sequence on, and keeps the event */
export function nextEvent(state: OrderState, type: OrderEventType, now: Instant, by?: 'person'): KeptEvent {
  const { events } = state;
  const attempt = currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const cancelBy = cancelByOf(state, attempt);
  const reading = attempt.readings.length - 1;
  events.sequence += 1;
  const event: KeptEvent = {
    sequence: events.sequence,
    type,
    occurredAt: now,
    data: {
      phase: state.phase,
      decision: state.decision,
      action: state.action,
      attempt: attempt.number,
      attention: state.attention.map((one) => one.words),
      ...(transaction !== undefined && { transactionId: transaction.id }),
      ...(state.message !== undefined && { message: state.message }),
      ...(state.reason !== undefined && { reason: state.reason }),
      ...(cancelBy !== undefined && { cancelBy }),
      ...(state.wouldBe !== undefined && { wouldBe: state.wouldBe }),
      ...(by !== undefined && { by }),
    },
    ...(BRINGS_DECISION.includes(type) && reading >= 0 && { reading }),
  };
  events.last = lastOf([...(events.last ?? []), event], KEPT_EVENTS, KEPT_EVENTS_BYTES);
  return event;
}

/** @returns an event of the order's as it is sent, each time the same */
export function eventToSend(state: OrderState, { data, reading, ...event }: KeptEvent): OrderEvent {
  const { integration, orderId, attempts } = state;
  const read = reading === undefined ? undefined : attempts[data.attempt - 1]?.readings[reading];
  return {
    id: `${integration}:${orderId}:${event.sequence}`,
    type: event.type,
    orderId,
    integration,
    sequence: event.sequence,
    occurredAt: event.occurredAt,
    data: { ...data, ...enrichedOf(read ?? {}) },
  };
}
