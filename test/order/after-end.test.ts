import { describe, expect, it } from 'vitest';
import type { LateDecision } from '../../src/contract/order/order.ts';
import type { Attempt, OrderState } from '../../src/contract/order/state.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { Action, Decision, Instant } from '../../src/contract/words.ts';
import {
  applyLateReading,
  noteLateEvent,
  type ReadAfterEndInput,
  readAfterEndInput,
} from '../../src/order/after-end.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aPolicy, MINUTE, NO_RESCREENS } from '../fixtures/policies.ts';
import { type Life, screened } from './life.ts';
import { reported } from './lives.ts';

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

/** Reads this decision of the order's transaction with that place. Returns the event. */
function read(order: ReadAfterEndInput, decision: Decision, place = 0, more: object = {}) {
  const transaction = order.order.transactions[place];
  if (transaction === undefined) throw new Error('the order has no such transaction');
  return applyLateReading(order, transaction, { kind: 'read', decision, ...more }, AT).event;
}

/** Returns the order's transactions with these differences. */
function transactions(...each: Parameters<typeof aClosedOrder>[2][]): Pick<OrderState, 'transactions'> {
  return { transactions: each.flatMap((one) => aClosedOrder({}, {}, one).transactions) };
}

describe('a reading after the end', () => {
  it('starts from the order without its large parts and the texts of its people', () => {
    const { state } = screened('pass', { events: 'all' }).override('proceed', 1);
    for (const { readings } of state.attempts)
      for (const one of readings) one.insights = { risk: { 0: { name: 'large' } } };
    const { order } = readAfterEndInput(state);
    const left = (one: object) =>
      new Set(JSON.stringify(one).match(/"large"|"journal"|"answer"|"last"/g)).size;
    expect([left(state), left(order)]).toEqual([4, 0]);
    expect(order.attempts[0]?.readings).toMatchObject([{ decision: 'pass' }]);
  });

  it('is news when it differs from the last one; the end of its delivery is noted with it', () => {
    const order = anInput();
    const decisions: Decision[] = ['pass', 'error', 'fail', 'fail', 'pass'];
    const sent = decisions.map((decision) => read(order, decision)?.sequence);
    expect(sent).toEqual([undefined, undefined, 3, undefined, 4]);
    noteLateEvent(order, 4, 'undelivered');
    expect(order.decisions).toMatchObject([
      { decision: 'fail', event: { sequence: 3, status: 'waiting' } },
      { decision: 'pass', event: { sequence: 4, status: 'undelivered' } },
    ]);
  });

  it('continues from what earlier reads found, whatever the spelling of the id', () => {
    const transactionId = CLOSED_TRANSACTION.toUpperCase();
    const late = { transactionId, attempt: 1, action: 'cancel', at: AT } as const;
    const event = { sequence: 3, status: 'waiting' } as const;
    const order = anInput({}, {}, [{ decision: 'fail', ...late, event }]);
    expect(read(order, 'fail')).toBeUndefined();
    expect(read(order, 'review')?.id).toBe('default:order-1:4');
  });

  it('keeps the last 50 decisions, and counts on', () => {
    const order = anInput();
    for (let time = 1; time <= 60; time += 1) read(order, time % 2 === 0 ? 'pass' : 'fail');
    expect([order.decisions.length, order.decisions.at(-1)?.event?.sequence]).toEqual([50, 62]);
  });

  it('of an integration without a receiver makes no event', () => {
    const order = anInput({}, { policy: aPolicy({ events: false }) });
    expect(read(order, 'fail')).toBeUndefined();
    const late = { transactionId: CLOSED_TRANSACTION, attempt: 1, action: 'cancel', at: AT };
    expect(order.decisions).toEqual([{ decision: 'fail', ...late }]);
  });
});

describe('the action of a later decision', () => {
  const override = { action: 'proceed', reason: 'x', by: 'person', at: AT } as const;
  const gateway = { result: 'error', at: AT } as const;
  const REVIEW = transactions({ decision: 'review' });
  const policy = aPolicy({ passive: true, events: 'all' });
  const LEFT = { decision: 'fail', action: 'hold', ...transactions({ decision: 'fail' }) } as const;
  const PASSIVE = { action: 'proceed', wouldBe: 'proceed', policy } as const;

  it.each<[string, Partial<Attempt>, Partial<OrderState>, Decision, object]>([
    [
      'a pass that fails',
      {},
      {},
      'fail',
      { action: 'cancel', attention: [expect.stringMatching(/: cancel it until/)] },
    ],
    ['a pass that is reviewed', {}, {}, 'review', { action: 'hold', attention: [] }],
    ['an order that was declined', {}, { action: 'decline' }, 'review', { action: 'decline' }],
    ['a decline after an override', { override }, { action: 'decline' }, 'fail', { attention: [] }],
    ['an order that was canceled', {}, { action: 'cancel' }, 'review', { action: 'cancel', attention: [] }],
    [
      'an order that a person decided',
      { override },
      {},
      'fail',
      { action: 'proceed', attention: [expect.stringMatching(/override/)] },
    ],
    ['a fail that was left to a person', {}, LEFT, 'fraudulent', { action: 'hold', attention: [] }],
    ['a gateway’s error', { gateway }, { action: 'hold', ...REVIEW }, 'pass', { action: 'hold' }],
    ['passive mode', {}, PASSIVE, 'fail', { action: 'proceed', wouldBe: 'cancel', attention: [] }],
    [
      'passive mode after a decline',
      {},
      { ...PASSIVE, wouldBe: 'decline' },
      'review',
      { wouldBe: 'decline' },
    ],
    ['passive mode after a cancel', {}, { ...PASSIVE, wouldBe: 'cancel' }, 'review', { wouldBe: 'cancel' }],
  ])('of %s', (_what, attempt, state, decision, data) => {
    expect(read(anInput(attempt, state), decision)?.data).toMatchObject(data);
  });

  it.each<[Policy['cancelAfterReport'], Action, string]>([
    ['never', 'proceed', 'unless it has shipped'],
    ['always', 'cancel', 'refund and report by hand'],
  ])(
    'after a fraud report, with the policy `cancelAfterReport: %s`, is %s',
    (cancelAfterReport, action, words) => {
      const { state } = reported(screened('pass', { cancelAfterReport }), 1);
      const order = readAfterEndInput({ ...state, policy: { ...state.policy, events: 'all' } });
      const attention = [expect.stringContaining(words)];
      expect(read(order, 'fraudulent')?.data).toMatchObject({ action, attention });
    },
  );

  // A report of another transaction of the attempt, before any decision.
  const EARLIEST = '2026-03-01T10:00:00.000Z';
  const [EARLIER, LATER] = ['2026-03-07T10:00:00.000Z', '2026-03-07T12:00:00.000Z'];

  it.each<[string, Policy['cancelAfterReport'], Decision, Instant, Action]>([
    ['with the policy `cancelAfterReport: never`', 'never', 'pass', EARLIER, 'proceed'],
    ['with the policy `cancelAfterReport: always`', 'always', 'pass', EARLIER, 'cancel'],
    ['before the order passed', 'never', 'review', EARLIER, 'cancel'],
    ['when the order had passed after its end', 'never', 'review', LATER, 'proceed'],
  ])(
    'after a fraud report after the end, %s, is %s',
    (_what, cancelAfterReport, first, reportedAt, action) => {
      const { state } = screened(first, { cancelAfterReport, events: 'all' });
      const before = readAfterEndInput(state);
      read(before, 'pass');
      const order = readAfterEndInput(state, before.decisions);
      expect(read(order, 'fraudulent', 0, { reportedAt: [EARLIEST, reportedAt] })?.data).toMatchObject({
        action,
      });
    },
  );

  it('stays cancel once it was that', () => {
    const order = anInput();
    read(order, 'fail');
    expect(read(order, 'pass')?.data).toMatchObject({ decision: 'pass', action: 'cancel', attention: [] });
  });

  it.each<[string, () => Life, Action]>([
    ['decline where that was declined', () => screened('fail'), 'decline'],
    ['hold where that was held', () => screened('error', NO_RESCREENS), 'hold'],
    [
      'cancel where it may be canceled',
      () => screened('error', NO_RESCREENS).portal('cancel', 1).portalEnds('unconfirmed', 2),
      'cancel',
    ],
    [
      'proceed where a person decided so',
      () => screened('error', NO_RESCREENS).override('proceed', 1),
      'proceed',
    ],
  ])('of an earlier attempt stays %s', (_what, first, action) => {
    const { state } = first().retry(2, MINUTE).retried('pass', MINUTE);
    const order = readAfterEndInput({ ...state, policy: { ...state.policy, events: 'all' } });
    for (const decision of ['review', 'pass'] as const) {
      expect(read(order, decision)?.data).toMatchObject({ attempt: 1, decision, action, attention: [] });
    }
    expect(read(order, 'fail', 1)?.data).toMatchObject({ attempt: 2, action: 'cancel' });
    expect(state.attempts.map(({ lastAction }) => lastAction)).toEqual([action, undefined]);
  });

  it('is the order’s own for an earlier transaction of the same attempt, which the event names', () => {
    const order = anInput({}, transactions({ id: 'first' }, {}));
    const own = { decision: 'fail', action: 'proceed', transactionId: 'first', attention: [] };
    expect(read(order, 'fail', 0)?.data).toMatchObject(own);
    const newest = { action: 'cancel', transactionId: CLOSED_TRANSACTION };
    expect(read(order, 'fail', 1)?.data).toMatchObject(newest);
    expect(read(order, 'review', 0)?.data).toMatchObject({ action: 'cancel', transactionId: 'first' });
  });
});
