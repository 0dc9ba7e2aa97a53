/** Orders for tests of the rules, each in one line: a test states only what differs. */

import type { ScreeningOutcome } from '../../src/orders/activity-contract.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { nextDeadline } from '../../src/orders/deadlines.ts';
import { type AfterDeadline, passDeadline } from '../../src/orders/pass-deadline.ts';
import type { Policy } from '../../src/orders/policy.ts';
import { currentAttempt, newOrderState } from '../../src/orders/record.ts';
import type { OrderState } from '../../src/orders/state.ts';
import { checkoutAnswer } from '../../src/orders/answers.ts';
import { type DeadlineKind, type Decision, type Instant, instant } from '../../src/orders/words.ts';
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
  const policy = order.policy ?? aPolicy();
  const attempt = currentAttempt(order);
  attempt.invoiceNumber ??= attempt.number === 1 ? 'order-1' : `order-1~${attempt.number}`;
  const events = applyScreening(order, policy, outcome, { source: 'checkout', now: sinceStart(at) });
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

/** Lets pass what comes next by itself. @returns what it was, when (ms from the start), and what follows */
export function next(order: OrderState): { kind: DeadlineKind; at: number; follows: AfterDeadline } {
  const deadline = nextDeadline(order);
  if (deadline === undefined) throw new Error(`nothing follows by itself in ${order.phase}`);
  const follows = passDeadline(order, deadline.kind, deadline.at);
  return { kind: deadline.kind, at: Date.parse(deadline.at) - START, follows };
}

/** Lets everything pass that comes by itself, until the order ended. */
export function lifeOf(order: OrderState): [DeadlineKind, number][] {
  const passed: [DeadlineKind, number][] = [];
  while (order.endedAt === undefined) {
    if (passed.length > 20) throw new Error(`it never ends: ${passed.join(' ')}`);
    const { kind, at } = next(order);
    passed.push([kind, at]);
  }
  return passed;
}
