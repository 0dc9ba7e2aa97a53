import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { Insights } from '../../src/contract/terms.ts';
import { answerNow } from '../../src/orders/answers.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { raiseAttention } from '../../src/orders/attention.ts';
import { bytesOf } from '../../src/orders/bounds.ts';
import { answerCheckout } from '../../src/orders/checkout.ts';
import { announce } from '../../src/orders/events.ts';
import { note } from '../../src/orders/journal.ts';
import type { Order } from '../../src/orders/order.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal-records.ts';
import { tooManyActions } from '../../src/orders/portal-requests.ts';
import { addAttempt, newOrder } from '../../src/orders/record.ts';
import { aPolicy, sinceStart } from '../fixtures/orders.ts';

/** As many bytes as the client keeps of a reply. */
const INSIGHTS: Insights = {
  risk: Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [
      `${index}`,
      { name: 'n'.repeat(90), description: 'd'.repeat(180) },
    ]),
  ),
};
const THREE_BYTES = '€';

function anOrder(): Order {
  const order = newOrder({ orderId: 'o'.repeat(64), integration: 'default', transaction: {} }, sinceStart(0));
  order.state.policy = aPolicy({ events: 'all' });
  return order;
}

function screen(order: Order, at: number): void {
  const { state } = order;
  const outcome = {
    kind: 'answered',
    transactionId: `7b1e3c5e-1111-4f0e-9a53-${String(state.attempts.length).padStart(12, '0')}`,
    decision: 'fail',
    found: false,
    sentFrom: sinceStart(at),
    sentUntil: sinceStart(at),
    message: THREE_BYTES.repeat(700),
    insights: INSIGHTS,
    subStatus: THREE_BYTES.repeat(300),
  } as const;
  announce(order, answerCheckout(state, outcome, sinceStart(at)));
}

describe('the size of an order', () => {
  it('has the insights of a reply once, and shows them in the answer and in the event', () => {
    const order = anOrder();
    screen(order, 0);
    const { state } = order;
    expect(bytesOf(order)).toBeLessThan(2 * bytesOf(INSIGHTS));
    expect(state.attempts[0]?.answer).not.toHaveProperty('insights');
    expect(answerNow(state, 1)).toMatchObject({ decision: 'fail', insights: INSIGHTS });
  });

  it('stays far under the 2 MB of Temporal, whatever becomes of it', () => {
    const order = anOrder();
    for (let number = 1; number <= 20; number += 1) {
      if (number > 1)
        addAttempt(
          order.state,
          { fingerprint: 'f'.repeat(200), cardRef: 'c'.repeat(200) },
          sinceStart(number),
        );
      screen(order, number);
      for (let time = 0; time < 60; time += 1) read(order, time);
    }
    for (let time = 0; time < 300; time += 1) {
      note(
        order,
        { what: 'override', because: THREE_BYTES.repeat(500) },
        { key: THREE_BYTES.repeat(100), actor: THREE_BYTES.repeat(100) },
      );
    }
    for (let number = 0; act(order, number); number += 1);
    for (const code of ['no-decision', 'gateway-refused', 'portal-refused'] as const) {
      raiseAttention(order.state, code, THREE_BYTES.repeat(3_000), {}, order.now);
    }
    for (let time = 0; time < 100; time += 1) announce(order, ['order.attention']);
    order.outbox = [];
    expect(order.state.actions.length).toBeGreaterThan(50);
    expect(order.state.events.last?.length).toBeGreaterThan(5);
    expect(bytesOf(order.state)).toBeLessThan(1_500_000);
  });
});

function read(order: Order, time: number): void {
  const decision = time % 2 === 0 ? 'pass' : 'review';
  const outcome = { kind: 'read', decision, insights: INSIGHTS, subStatus: THREE_BYTES.repeat(300) } as const;
  settled(order.state);
  announce(order, applyReading(order.state, outcome, 'poll', sinceStart(1_000 + time)));
}

/** As if the order had proceeded, so that the next reading changes it. */
function settled(state: OrderState): void {
  state.phase = 'decided';
  state.action = 'proceed';
}

/** Asks for one more action, whose reply is as long as the client lets it be. @returns whether the order takes it */
function act(order: Order, number: number): boolean {
  const fields: PortalFields = {
    kind: 'chargeback',
    reason_code: `${number}`,
    due_date: '2026-07-01',
    notes: THREE_BYTES.repeat(1_500),
  };
  if (tooManyActions(order, fields) !== undefined) return false;
  const record = queueAction(order.state, fields, 'caller', order.now);
  const done = {
    kind: 'done',
    code: '200',
    message: THREE_BYTES.repeat(300),
    chargeback: { notes: 'x'.repeat(1_000) },
  } as const;
  announce(order, applyPortalOutcome(order.state, record, done, order.now));
  return true;
}
