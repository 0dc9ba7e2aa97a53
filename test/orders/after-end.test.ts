import { describe, expect, it } from 'vitest';
import type { LateDecision } from '../../src/contract/order.ts';
import type { Attempt, OrderState, OrderTransaction } from '../../src/contract/state.ts';
import type { Decision } from '../../src/contract/words.ts';
import {
  applyLateReading,
  noteLateEvent,
  type ReadAfterEndInput,
  readAfterEndInput,
} from '../../src/orders/after-end.ts';
import { shapeRefusal } from '../../src/orders/check-messages.ts';
import { READ_AFTER_END_INPUT } from '../../src/orders/message-shapes.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aPolicy } from '../fixtures/policies.ts';

const AT = '2026-03-07T11:00:00.000Z';
const EVENTS = { sequence: 2, delivered: 2, waiting: 0 };

function anInput(
  attempt: Partial<Attempt> = {},
  state: Partial<OrderState> = {},
  decisions: LateDecision[] = [],
): ReadAfterEndInput {
  return readAfterEndInput(
    aClosedOrder(attempt, { events: EVENTS, policy: aPolicy({ events: 'all' }), ...state }),
    decisions,
  );
}

/** Reads this decision of the order's transaction with that place. */
function read(order: ReadAfterEndInput, decision: Decision, place = 0, more: object = {}) {
  const transaction = order.transactions[place];
  if (transaction === undefined) throw new Error('the order has no such transaction');
  return applyLateReading(order, transaction, { decision, ...more }, AT);
}

const actionOf = (...[attempt, state, decision]: [Partial<Attempt>, Partial<OrderState>, Decision]) =>
  read(anInput(attempt, state), decision)?.data;

describe('a reading after the end', () => {
  it('is news when it differs from the last one, found before the end or after it', () => {
    const order = anInput();
    expect(read(order, 'pass')).toBeUndefined();
    expect(read(order, 'error')).toBeUndefined();
    expect(read(order, 'fail')?.sequence).toBe(3);
    expect(read(order, 'fail')).toBeUndefined();
    expect(read(order, 'pass')?.sequence).toBe(4);
    expect(order.decisions.map(({ decision, event }) => [decision, event?.sequence])).toEqual([
      ['fail', 3],
      ['pass', 4],
    ]);
  });

  it('continues from what earlier reads found, whatever the spelling of the id', () => {
    const found: LateDecision = {
      decision: 'fail',
      transactionId: CLOSED_TRANSACTION.toUpperCase(),
      attempt: 1,
      action: 'cancel',
      at: AT,
      event: { sequence: 3, status: 'waiting' },
    };
    const order = anInput({}, {}, [found]);
    expect(read(order, 'fail')).toBeUndefined();
    expect(read(order, 'review')?.id).toBe('default:order-1:4');
  });

  it('brings what the screening service says beside the decision', () => {
    const insights = { risk: { 1: { name: 'velocity' } } };
    expect(read(anInput(), 'fail', 0, { insights })?.data).toMatchObject({ insights, afterClose: true });
  });

  it('keeps the last 50 decisions, and counts on', () => {
    const order = anInput();
    for (let time = 1; time <= 30; time += 1) {
      read(order, 'fail');
      read(order, 'pass');
    }
    expect(order.decisions).toHaveLength(50);
    expect(order.decisions.at(-1)?.event?.sequence).toBe(62);
  });

  it('of an integration without a receiver makes no event', () => {
    const order = anInput({}, { policy: aPolicy({ events: false }) });
    expect(read(order, 'fail')).toBeUndefined();
    expect(order.decisions).toEqual([
      { decision: 'fail', transactionId: CLOSED_TRANSACTION, attempt: 1, action: 'cancel', at: AT },
    ]);
  });
});

describe('the action of a later decision', () => {
  const override = { action: 'proceed', reason: 'x', by: 'person', at: AT } as const;

  it.each<[what: string, Partial<Attempt>, Partial<OrderState>, Decision, string]>([
    ['a pass that fails', {}, {}, 'fail', 'cancel'],
    ['a review that passes', {}, { decision: 'review', action: 'hold' }, 'fraudulent', 'cancel'],
    ['a pass that is reviewed', {}, {}, 'review', 'hold'],
    ['an order that was declined', {}, { action: 'decline' }, 'review', 'decline'],
    ['an order that was canceled', {}, { action: 'cancel' }, 'review', 'cancel'],
    ['an order that a person decided', { override }, {}, 'fail', 'proceed'],
  ])('of %s', (_what, attempt, state, decision, action) => {
    expect(actionOf(attempt, state, decision)?.action).toBe(action);
  });

  it('stays cancel once it was that', () => {
    const order = anInput();
    read(order, 'fail');
    expect(read(order, 'pass')?.data).toMatchObject({ decision: 'pass', action: 'cancel', attention: [] });
  });

  it('that becomes cancel has the attention of a person', () => {
    expect(actionOf({}, {}, 'fail')?.attention).toHaveLength(1);
    expect(actionOf({}, {}, 'review')?.attention).toEqual([]);
    expect(actionOf({ override }, {}, 'fail')?.attention).toEqual([]);
  });

  it('stays proceed in passive mode, and says what it would be', () => {
    const passive = {
      action: 'proceed',
      wouldBe: 'proceed',
      policy: aPolicy({ passive: true, events: 'all' }),
    } as const;
    expect(actionOf({}, passive, 'fail')).toMatchObject({
      action: 'proceed',
      wouldBe: 'cancel',
      attention: [],
    });
  });

  it('stays hold after an error of the payment gateway', () => {
    const gateway = { result: 'error', at: AT } as const;
    const [transaction] = aClosedOrder().transactions;
    const transactions = transaction === undefined ? [] : [{ ...transaction, decision: 'review' as const }];
    expect(actionOf({ gateway }, { action: 'hold', transactions }, 'pass')?.action).toBe('hold');
  });

  it('is the order’s own for an earlier transaction, which the event names', () => {
    const first: OrderTransaction = {
      id: '11111111-2222-4333-8444-555555555555',
      attempt: 1,
      invoiceNumber: 'order-1',
      sentFrom: AT,
      sentUntil: AT,
      found: 'created',
      decision: 'pass',
      cancelBy: AT,
    };
    const order = anInput({}, { transactions: [first, ...aClosedOrder().transactions] });
    expect(read(order, 'fail', 0)?.data).toMatchObject({
      decision: 'fail',
      action: 'proceed',
      transactionId: first.id,
      attention: [],
    });
    expect(read(order, 'fail', 1)?.data).toMatchObject({
      action: 'cancel',
      transactionId: CLOSED_TRANSACTION,
    });
  });
});

it('the end of a delivery is noted with its decision', () => {
  const order = anInput();
  read(order, 'fail');
  read(order, 'pass');
  noteLateEvent(order, 3, 'delivered');
  noteLateEvent(order, 4, 'undelivered');
  expect(order.decisions.map(({ event }) => event?.status)).toEqual(['delivered', 'undelivered']);
});

describe('the argument of readAfterEnd', () => {
  it('can be read as the client library makes it, and as it crosses Temporal', () => {
    const order = anInput();
    read(order, 'fail');
    expect(
      shapeRefusal(JSON.parse(JSON.stringify({ ...order, spacingMs: 2_000 })), READ_AFTER_END_INPUT),
    ).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['text', 'order-1'],
    ['no order', { ...anInput(), orderId: undefined }],
    ['no transactions', { ...anInput(), transactions: undefined }],
    ['a transaction without an id', { ...anInput(), transactions: [{}] }],
    ['a transaction that is none', { ...anInput(), transactions: [null] }],
    ['no decisions', { ...anInput(), decisions: undefined }],
    ['a decision of no transaction', { ...anInput(), decisions: [{ transactionId: 7 }] }],
    ['a sequence that is no number', { ...anInput(), sequence: '7' }],
    ['a spacing that is no number', { ...anInput(), spacingMs: Number.NaN }],
  ])('is refused with %s', (_what, input) => {
    expect(shapeRefusal(input, READ_AFTER_END_INPUT)).toMatchObject({ code: 'invalid-request' });
  });
});
