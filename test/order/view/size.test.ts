import { describe, expect, it } from 'vitest';
import { MOST_RESCREENS } from '../../../src/config/policy-schema.ts';
import type { PortalFields } from '../../../src/contract/messages.ts';
import type { Insights } from '../../../src/contract/terms.ts';
import { raiseAttention } from '../../../src/order/attention.ts';
import { bytesOf } from '../../../src/order/bounds.ts';
import { applyReading } from '../../../src/order/decide.ts';
import { announce } from '../../../src/order/events.ts';
import { note } from '../../../src/order/journal.ts';
import { takeRequest } from '../../../src/order/messages/used-messages.ts';
import type { Order } from '../../../src/order/order.ts';
import { applyPortalOutcome, queueAction } from '../../../src/order/portal/portal-records.ts';
import { tooManyActions } from '../../../src/order/portal/portal-requests.ts';
import { addAttempt, newOrder } from '../../../src/order/record.ts';
import { answerCheckout } from '../../../src/order/screening/checkout.ts';
import { answered, aPolicy, DAY, HOUR, START, sinceStart } from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

/** As many bytes as the client keeps of a reply. */
const each = Array.from({ length: 50 }, (_, index) => {
  return [`${index}`, { name: 'n'.repeat(90), description: 'd'.repeat(180) }] as const;
});
const INSIGHTS: Insights = { risk: Object.fromEntries(each) };
const wide = (characters: number) => '€'.repeat(characters);

function anOrder(): Order {
  const order = newOrder({ orderId: 'o'.repeat(64), integration: 'default', transaction: {} }, sinceStart(0));
  order.state.policy = aPolicy({ events: 'all' });
  return order;
}

function screen(order: Order, at: number): void {
  const { state } = order;
  const id = `7b1e3c5e-1111-4f0e-9a53-${String(state.attempts.length).padStart(12, '0')}`;
  const said = { message: wide(700), insights: INSIGHTS, subStatus: wide(300) };
  order.now = sinceStart(at);
  announce(order, answerCheckout(order, { outcome: { ...answered('fail', id, at), ...said } }));
}

describe('the size of an order', () => {
  it('stays far under the 2 MB of Temporal, whatever becomes of it', () => {
    const order = anOrder();
    const { state } = order;
    for (let number = 1; number <= 20; number += 1) {
      const request = { fingerprint: 'f'.repeat(200), cardRef: 'c'.repeat(200) };
      if (number > 1) addAttempt(state, request, sinceStart(number));
      screen(order, number);
      for (let time = 0; time < 60; time += 1) read(order, time);
      // Its rescreens.
      const newest = state.transactions.slice(-1);
      for (let time = 0; time < MOST_RESCREENS; time += 1) state.transactions.push(...newest);
    }
    for (let time = 0; time < 100; time += 1)
      note(order, { what: 'override', because: wide(500) }, { key: wide(100), actor: wide(100) });
    for (let number = 0; act(order, number); number += 1);
    for (const code of ['no-decision', 'gateway-refused', 'portal-refused'] as const)
      raiseAttention(state, code, wide(3_000), {}, order.now);
    for (let time = 0; time < 20; time += 1) announce(order, ['order.attention']);
    expect(state.actions.length).toBeGreaterThan(50);
    expect(state.events.last?.length).toBeGreaterThan(5);
    expect(bytesOf(state)).toBeLessThan(1_500_000);
    for (let number = 0; number < 1_100; number += 1) {
      const request = { kind: 'note', request: { text: 'seen' } } as const;
      const key = { name: `${number}`.padEnd(100, 'k'), fingerprint: 'f'.repeat(64) };
      takeRequest(order, { kind: 'request', request, at: order.now, sent: { updateId: `${number}`, key } });
    }
    expect(Object.keys(order.used ?? {})).toHaveLength(1_000);
    // As it continues as new.
    expect(bytesOf(order)).toBeLessThan(1_900_000);
  });
});

it('events that nobody takes stay small, however many matters need attention', () => {
  const order = anOrder();
  for (let number = 1; number <= 200; number += 1) {
    const cause = { operation: 'chargeback', action: number } as const;
    const types = raiseAttention(order.state, 'portal-refused', `${number}${wide(300)}`, cause, order.now);
    announce(order, types);
  }
  expect(order.outbox).toHaveLength(200);
  expect(order.outbox.at(-1)?.data.attention.at(-1)).toMatch(/^200/);
  expect(bytesOf(order.outbox)).toBeLessThan(1_000_000);
});

describe('a batch of events', () => {
  it('stays under 1 MB, and the next one has the rest', () => {
    const life = screened({ ...answered('review'), insights: INSIGHTS }, { events: 'all' });
    for (let count = 0; count < 150; count += 1) life.override('proceed', HOUR + count);
    while (life.outbox.length > 0) life.end({ kind: 'deliver' }, DAY);
    const batches = life.calls('deliver').map(({ request }) => request);
    for (const events of batches) expect(bytesOf(events)).toBeLessThan(1_000_000 + 1_000);
    expect(batches.flat().map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 151 }, (_, index) => START / 1_000 + index + 1),
    );
  });
});

/** Reads another decision, as if the order had proceeded. Its event is announced for the first ones only, to save time. */
function read(order: Order, time: number): void {
  const decision = time % 2 === 0 ? 'pass' : 'review';
  const outcome = { kind: 'read', decision, insights: INSIGHTS, subStatus: wide(300) } as const;
  Object.assign(order.state, { phase: 'decided', action: 'proceed' });
  const events = applyReading(order.state, outcome, 'poll', sinceStart(1_000 + time));
  if (time < 5) announce(order, events);
}

/** Asks for one more action, whose reply is as long as the client lets it be. @returns whether the order takes it */
function act(order: Order, number: number): boolean {
  const sent = { reason_code: `${number}`, due_date: '2026-07-01', notes: wide(1_500) };
  const fields: PortalFields = { kind: 'chargeback', ...sent };
  if (tooManyActions(order, fields) !== undefined) return false;
  const record = queueAction(order.state, fields, 'caller', order.now);
  const done = { code: '200', message: wide(300), chargeback: { notes: 'x'.repeat(1_000) } };
  announce(order, applyPortalOutcome(order.state, record, { kind: 'done', ...done }, order.now));
  return true;
}
