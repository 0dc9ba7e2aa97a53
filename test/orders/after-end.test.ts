import { describe, expect, it } from 'vitest';
import type { LateDecision } from '../../src/contract/order.ts';
import type { Attempt, OrderState } from '../../src/contract/state.ts';
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
  const policy = aPolicy({ events: 'all' });
  return readAfterEndInput(aClosedOrder(attempt, { events: EVENTS, policy, ...state }), decisions);
}

/** Reads this decision of the order's transaction with that place. */
function read(order: ReadAfterEndInput, decision: Decision, place = 0, more: object = {}) {
  const transaction = order.transactions[place];
  if (transaction === undefined) throw new Error('the order has no such transaction');
  return applyLateReading(order, transaction, { decision, ...more }, AT);
}

describe('a reading after the end', () => {
  it('is news when it differs from the last one; the end of its delivery is noted with it', () => {
    const order = anInput();
    expect(read(order, 'pass')).toBeUndefined();
    expect(read(order, 'error')).toBeUndefined();
    expect(read(order, 'fail')?.sequence).toBe(3);
    expect(read(order, 'fail')).toBeUndefined();
    expect(read(order, 'pass')?.sequence).toBe(4);
    noteLateEvent(order, 3, 'delivered');
    noteLateEvent(order, 4, 'undelivered');
    expect(order.decisions.map(({ decision, event }) => [decision, event?.sequence, event?.status])).toEqual([
      ['fail', 3, 'delivered'],
      ['pass', 4, 'undelivered'],
    ]);
  });

  it('continues from what earlier reads found, whatever the spelling of the id', () => {
    const transactionId = CLOSED_TRANSACTION.toUpperCase();
    const event = { sequence: 3, status: 'waiting' } as const;
    const order = anInput({}, {}, [
      { decision: 'fail', transactionId, attempt: 1, action: 'cancel', at: AT, event },
    ]);
    expect(read(order, 'fail')).toBeUndefined();
    expect(read(order, 'review')?.id).toBe('default:order-1:4');
  });

  it('brings what the screening service says beside the decision', () => {
    const insights = { risk: { 1: { name: 'velocity' } } };
    expect(read(anInput(), 'fail', 0, { insights })?.data).toMatchObject({ insights, afterClose: true });
  });

  it('keeps the last 50 decisions, and counts on', () => {
    const order = anInput();
    for (let time = 1; time <= 60; time += 1) read(order, time % 2 === 0 ? 'pass' : 'fail');
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
  const gateway = { result: 'error', at: AT } as const;
  const policy = aPolicy({ passive: true, events: 'all' });
  const REVIEW = { decision: 'review' } as const;

  it.each<[string, Partial<Attempt>, Partial<OrderState>, Decision, object]>([
    ['a pass that fails', {}, {}, 'fail', { action: 'cancel', attention: [expect.any(String)] }],
    ['a review that fails', {}, { ...REVIEW, action: 'hold' }, 'fraudulent', { action: 'cancel' }],
    ['a pass that is reviewed', {}, {}, 'review', { action: 'hold', attention: [] }],
    ['an order that was declined', {}, { action: 'decline' }, 'review', { action: 'decline' }],
    ['an order that was canceled', {}, { action: 'cancel' }, 'review', { action: 'cancel', attention: [] }],
    ['an order that a person decided', { override }, {}, 'fail', { action: 'proceed', attention: [] }],
    [
      'a gateway’s error',
      { gateway },
      { action: 'hold', ...transactions(REVIEW) },
      'pass',
      { action: 'hold' },
    ],
    [
      'passive mode',
      {},
      { action: 'proceed', wouldBe: 'proceed', policy },
      'fail',
      { action: 'proceed', wouldBe: 'cancel', attention: [] },
    ],
  ])('of %s', (_what, attempt, state, decision, data) => {
    expect(read(anInput(attempt, state), decision)?.data).toMatchObject(data);
  });

  it('stays cancel once it was that', () => {
    const order = anInput();
    read(order, 'fail');
    expect(read(order, 'pass')?.data).toMatchObject({ decision: 'pass', action: 'cancel', attention: [] });
  });

  it('is the order’s own for an earlier transaction, which the event names', () => {
    const first = '11111111-2222-4333-8444-555555555555';
    const order = anInput({}, transactions({ id: first }, {}));
    const [earlier, newest] = [read(order, 'fail', 0)?.data, read(order, 'fail', 1)?.data];
    expect(earlier).toMatchObject({
      decision: 'fail',
      action: 'proceed',
      transactionId: first,
      attention: [],
    });
    expect(newest).toMatchObject({ action: 'cancel', transactionId: CLOSED_TRANSACTION });
  });
});

/** Returns the order's transactions with these differences. */
function transactions(...each: Parameters<typeof aClosedOrder>[2][]): Pick<OrderState, 'transactions'> {
  return { transactions: each.flatMap((one) => aClosedOrder({}, {}, one).transactions) };
}

describe('the argument of readAfterEnd', () => {
  it('can be read as the client library makes it, and as it crosses Temporal', () => {
    const order = anInput();
    read(order, 'fail');
    const crossed = JSON.parse(JSON.stringify({ ...order, spacingMs: 2_000 }));
    expect(shapeRefusal(crossed, READ_AFTER_END_INPUT)).toBeUndefined();
  });

  it.each([
    null,
    'order-1',
    { ...anInput(), orderId: undefined },
    { ...anInput(), transactions: undefined },
    { ...anInput(), transactions: [{}] },
    { ...anInput(), transactions: [null] },
    { ...anInput(), decisions: undefined },
    { ...anInput(), decisions: [{ transactionId: 7 }] },
    { ...anInput(), sequence: '7' },
    { ...anInput(), spacingMs: Number.NaN },
  ])('is refused: %#', (input) => {
    expect(shapeRefusal(input, READ_AFTER_END_INPUT)).toMatchObject({ code: 'invalid-request' });
  });
});
