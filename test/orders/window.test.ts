import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/contract/words.ts';
import { currentAttempt } from '../../src/orders/record.ts';
import { cancelByOf, lastCall, transactionOf, windowOpen } from '../../src/orders/transactions.ts';
import {
  answered,
  attention,
  DAY,
  found,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { aLife, checkedOut, HINT, type Life, screened } from './life.ts';

const windowMs = fc.integer({ min: 1_000, max: 5 * DAY });

describe('the cancel window', () => {
  it('keeps a hundredth of a short window', () => {
    expect(lastCall(sinceStart(10_000), 10_000)).toBe(sinceStart(9_900));
  });

  it('isn’t open when there is none', () => {
    expect(windowOpen(undefined, 5 * DAY, START)).toBe(false);
  });

  property([windowMs, fc.double({ min: 0, max: 1, noNaN: true })])(
    'is never open in its last 30 s or hundredth, whichever is less, and always before',
    (ms, share) => {
      const cancelBy = sinceStart(ms);
      const kept = Math.min(30_000, ms / 100);
      const at = START + ms * share;
      expect(windowOpen(cancelBy, ms, at)).toBe(at < START + ms - kept);
    },
  );
});

it.each([
  ['created', answered('pass', 't-1', HOUR)],
  ['found by a lookup', found('pass', 't-1', HOUR)],
])(
  'the window of a transaction that was %s counts from when its create can have been sent at the earliest',
  (_how, outcome) => {
    const life = aLife().checkOut(checkedOut(outcome, {}, 2 * HOUR));
    expect(cancelBys(life)).toEqual({ 't-1': sinceStart(HOUR + 5 * DAY) });
  },
);

it('a transaction that is seen again keeps its window', () => {
  const life = screened(answered('error', 't-1'), { rescreenOnError: { tries: 1, pauseMs: MINUTE } });
  life.until(MINUTE).end({ kind: 'catch-up', outcome: found('pass', 'T-1', MINUTE) }, 2 * MINUTE);
  expect(cancelBys(life)).toEqual({ 't-1': sinceStart(5 * DAY) });
  expect(life.order.state.transactions).toMatchObject([{ decision: 'pass', source: 'rescreen' }]);
});

it('the window of an order is that of the transaction with the decision when a later one comes to nothing', () => {
  const life = screened('error', { screeningDeadlineMs: HOUR }).until(HOUR);
  life.take(HINT);
  life.end({ kind: 'read', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
  life.end({ kind: 'catch-up', outcome: answered('error', 'second', HOUR) }, HOUR);
  const { state } = life.order;
  expect(transactionOf(state, currentAttempt(state))?.id).toBe(TRANSACTION_ID);
  expect(cancelByOf(state, currentAttempt(state))).toBe(sinceStart(5 * DAY));
  expect(cancelBys(life)).toEqual({
    [TRANSACTION_ID]: sinceStart(5 * DAY),
    second: sinceStart(5 * DAY + HOUR),
  });
});

describe('the window of a transaction that the run before a reset may have made', () => {
  // The activity knows of the reset, and says that the create may have been sent since the order's start.
  const hit = { kind: 'found', transactionId: 't-1', decision: 'pass' } as const;
  const seen = { kind: 'look-up', outcome: hit, sentFrom: sinceStart(0) } as const;
  const unseen = unanswered(HOUR);
  const policy = { screeningDeadlineMs: DAY };

  it('counts from the order’s start when a lookup before a cancel finds it', () => {
    const life = screened(unseen, policy);
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    life.break('catch-up', 'canceled').end(seen, HOUR);
    expect(cancelBys(life)).toEqual({ 't-1': sinceStart(5 * DAY) });
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
  });

  it('counts from the order’s start when the lookup of an earlier attempt finds it', () => {
    const life = screened(unseen, policy).until(DAY).break('catch-up', 'canceled');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, DAY);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 't-2', DAY) }, DAY);
    life.end(seen, DAY);
    expect(cancelBys(life)).toEqual({ 't-2': sinceStart(6 * DAY), 't-1': sinceStart(5 * DAY) });
  });
});

describe('a decision that a lookup finds after the order closed without one', () => {
  const closed = () =>
    screened(unanswered(0), { events: 'all', screeningDeadlineMs: DAY, whenUnavailable: 'proceed' })
      .until(DAY)
      .break('catch-up', 'canceled')
      .until(5 * DAY + HOUR);
  const finds = (life: Life, decision: Decision) =>
    life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 't-1', decision } }, 5 * DAY + HOUR);

  it.each([
    ['pass', 'proceed', []],
    ['review', 'hold', []],
    ['fail', 'cancel', ['failed-after-window']],
  ] as const)('is the order’s: %s means %s, is sent, and replaces the attention', (found, action, left) => {
    const life = closed();
    expect(life.order.state).toMatchObject({ phase: 'closed', decision: 'error', action: 'proceed' });
    expect(attention(life.order.state)).toEqual(['no-decision']);
    const before = life.order.state.events.sequence;
    finds(life, found);
    expect(life.order.state).toMatchObject({ phase: 'closed', decision: found, action });
    expect(attention(life.order.state)).toEqual(left);
    expect(life.order.state.events.sequence).toBeGreaterThan(before);
    expect(life.calls('portal')).toEqual([]);
  });

  it('changes nothing when it is error', () => {
    const life = closed();
    finds(life, 'error');
    expect(life.order.state).toMatchObject({ phase: 'closed', decision: 'error', action: 'proceed' });
    expect(attention(life.order.state)).toEqual(['no-decision']);
  });

  it.each([
    ['refused', { kind: 'refused', reason: 'http-400' }],
    ['unreadable', { kind: 'unreadable', reason: 'missing-id' }],
    ['error', answered('error')],
  ] as const)('is sent only once: the screening that ends %s afterwards changes nothing', (_how, outcome) => {
    const life = screened(unanswered(0), {
      events: 'all',
      cancelWindowMs: HOUR,
      screeningDeadlineMs: 2 * HOUR,
    }).until(2 * HOUR);
    const { state } = life.order;
    expect(state).toMatchObject({ phase: 'closed', decision: 'error' });
    const before = structuredClone(state.attention);
    life.end({ kind: 'catch-up', outcome }, 2 * HOUR);
    expect(state).toMatchObject({ phase: 'closed', decision: 'error', attention: before });
    expect(life.outbox).toEqual(['order.decided', 'order.attention', 'order.closed']);
  });

  it('leaves the action of a person', () => {
    const life = screened(unanswered(0), { screeningDeadlineMs: DAY })
      .until(DAY)
      .break('catch-up', 'canceled');
    life.ask(
      { kind: 'override', request: { action: 'proceed', by: { actor: 'ann' }, reason: 'known' } },
      2 * DAY,
    );
    finds(life.until(5 * DAY + HOUR), 'fail');
    expect(life.order.state).toMatchObject({ phase: 'closed', action: 'proceed' });
  });
});

function cancelBys({ order }: Life): Record<string, string> {
  return Object.fromEntries(order.state.transactions.map(({ id, cancelBy }) => [id, cancelBy]));
}
