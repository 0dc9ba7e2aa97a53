/** Orders for tests of the rules, each in one line: a test states only what differs. */
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { KeptEvent, OrderState } from '../../src/contract/state.ts';
import {
  type DeadlineKind,
  type Decision,
  type Instant,
  instant,
  type OrderEventType,
} from '../../src/contract/words.ts';
import { checkoutAnswer } from '../../src/orders/answers.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { deadlines } from '../../src/orders/concerns/deadlines.ts';
import { nextDeadline } from '../../src/orders/deadlines.ts';
import { announce } from '../../src/orders/events.ts';
import type { Order } from '../../src/orders/order.ts';
import { currentAttempt, newOrder, newOrderState } from '../../src/orders/record.ts';
import { aPolicy } from '../fixtures/policies.ts';

export { aPolicy, DAY, HOUR, MINUTE } from '../fixtures/policies.ts';

/** When every order here starts, in milliseconds after the epoch. */
export const START = Date.parse('2026-03-02T10:00:00.000Z');
export const TRANSACTION_ID = '7b1e3c5e-1111-4f0e-9a53-2f6f4b5d0c11';

/** @returns the moment that long after the start */
export function sinceStart(ms: number): Instant {
  return instant(START + ms);
}

/** The answer to a create that was sent that long after the start, in milliseconds. */
export function answered(decision: Decision, transactionId = TRANSACTION_ID, sentMs = 0) {
  const sent = sinceStart(sentMs);
  return {
    kind: 'answered',
    transactionId,
    decision,
    found: false,
    sentFrom: sent,
    sentUntil: sent,
  } as const;
}

/** What a lookup found of a create that may have been sent at any time since then. */
export function found(decision: Decision, transactionId = TRANSACTION_ID, sinceMs = 0) {
  return { ...answered(decision, transactionId, sinceMs), found: true };
}

/** No answer to a create that may have been sent at any time since then. */
export function unanswered(unseenMs = 0): ScreeningOutcome {
  return { kind: 'unanswered', reason: 'timeout', unseenSince: sinceStart(unseenMs) };
}

/** No answer, and no create was sent. */
export const NOT_SENT: ScreeningOutcome = { kind: 'unanswered', reason: 'timeout' };

/** An order that nobody has screened yet, its policy known. */
export function aNewOrder(policy: Partial<Policy> = {}): OrderState {
  const order = newOrderState({ orderId: 'order-1', integration: 'default' }, sinceStart(0));
  order.policy = aPolicy(policy);
  order.workflow = order.policy.workflow;
  return order;
}

/** Screens the order's newest attempt at checkout. @returns the events */
export function screen(order: OrderState, outcome: ScreeningOutcome, at = 0): string[] {
  const attempt = currentAttempt(order);
  attempt.invoiceNumber ??= attempt.number === 1 ? 'order-1' : `order-1~${attempt.number}`;
  const events = applyScreening(order, outcome, { source: 'checkout', now: sinceStart(at) });
  attempt.answer = checkoutAnswer(order);
  return events;
}

/** An order as its checkout left it. */
export function anOrder(outcome: ScreeningOutcome | Decision, policy: Partial<Policy> = {}): OrderState {
  const order = aNewOrder(policy);
  screen(order, typeof outcome === 'string' ? answered(outcome) : outcome);
  return order;
}

/** @returns the codes of the order's open attention */
export function attention(order: OrderState): string[] {
  return order.attention.map((one) => one.code);
}

/** Puts the state of an order into an order that runs nothing. */
export function around(state: OrderState, more: Partial<Order> = {}): Order {
  const { orderId, integration, startedAt } = state;
  const order = newOrder({ orderId, integration, transaction: {} }, startedAt);
  return { ...order, state, ...more };
}

/** What followed when deadlines passed. */
interface Follows {
  /** Which passed at that moment, in their order. */
  kinds: DeadlineKind[];
  events: OrderEventType[];
  /** A cancel was queued. */
  cancel: boolean;
  /** A read was requested. */
  read: boolean;
}

/** Lets every deadline pass until then. `now`: the newest moment that the order knows. */
export function passUntil(state: OrderState, at: Instant, now: Instant = state.startedAt): Follows {
  const order = around(state, { now });
  const passedBefore = state.passed.length;
  const actionsBefore = state.actions.length;
  deadlines.passTime?.(order, at);
  return {
    kinds: state.passed.slice(passedBefore),
    events: order.outbox.map(({ type }) => type),
    cancel: state.actions.length > actionsBefore,
    read: order.reads.length > 0,
  };
}

/** Lets the next deadline pass. Returns which it was, when (ms from the start), and what followed. */
export function next(state: OrderState): { kind: DeadlineKind; at: number; follows: Follows } {
  const deadline = nextDeadline(state);
  if (deadline === undefined) throw new Error(`nothing follows by itself in ${state.phase}`);
  const follows = passUntil(state, deadline.at);
  return { kind: deadline.kind, at: Date.parse(deadline.at) - START, follows };
}

/** Lets every deadline pass until the order has ended. */
export function lifeOf(state: OrderState): [DeadlineKind, number][] {
  const passed: [DeadlineKind, number][] = [];
  while (state.endedAt === undefined) {
    if (passed.length > 20) throw new Error(`it never ends: ${passed.join(' ')}`);
    const { kind, at, follows } = next(state);
    const kinds = follows.kinds.length === 0 ? [kind] : follows.kinds;
    passed.push(...kinds.map((one): [DeadlineKind, number] => [one, at]));
  }
  return passed;
}

/** Announces an event of the order. Returns it as it is kept. */
export function announced(state: OrderState, type: OrderEventType, at: number, by?: 'person'): KeptEvent {
  const order = around(state, { now: sinceStart(at) });
  announce(order, [type], by);
  const event = order.outbox.at(-1);
  if (event === undefined) throw new Error('the policy sends no events');
  return event;
}
