import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/contract/words.ts';
import { currentAttempt } from '../../src/order/record.ts';
import { cancelByOf, lastCall, transactionOf, windowOpen } from '../../src/order/transactions.ts';
import {
  answered,
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
import { HINT, type Life, screened } from './life.ts';

function cancelBys({ state }: Life): Record<string, string> {
  return Object.fromEntries(state.transactions.map(({ id, cancelBy }) => [id, cancelBy]));
}

describe('the cancel window', () => {
  it('keeps a hundredth of a short window', () => {
    expect(lastCall(sinceStart(10_000), 10_000)).toBe(sinceStart(9_900));
  });

  property([fc.integer({ min: 1_000, max: 5 * DAY }), fc.double({ min: 0, max: 1, noNaN: true })])(
    'is never open in its last 30 s or hundredth, whichever is less, and always before',
    (ms, share) => {
      const at = START + ms * share;
      expect(windowOpen(sinceStart(ms), ms, at)).toBe(at < START + ms - Math.min(30_000, ms / 100));
    },
  );

  it('of a transaction that is seen again stays', () => {
    const life = screened(answered('error', 't-1'))
      .until(MINUTE)
      .caughtUp(found('pass', 'T-1', MINUTE), 2 * MINUTE);
    expect(cancelBys(life)).toEqual({ 't-1': sinceStart(5 * DAY) });
    expect(life.state.transactions).toMatchObject([{ decision: 'pass', source: 'rescreen' }]);
  });

  it('of a create that may have been sent counts from the first one, whatever is tried since', () => {
    const life = screened(unanswered()).break('catch-up').until(HOUR);
    expect(life.calls('catch-up')).toHaveLength(2);
    expect(life.state.attempts[0]?.unseen?.since).toBe(sinceStart(0));
  });

  it('of an order is that of the transaction with the decision when a later one comes to nothing', () => {
    const life = screened('error', { screeningDeadlineMs: HOUR }).until(HOUR);
    life
      .take(HINT)
      .read('pass', HOUR)
      .caughtUp(answered('error', 'second', HOUR), HOUR);
    const attempt = currentAttempt(life.state);
    expect(transactionOf(life.state, attempt)?.id).toBe(TRANSACTION_ID);
    expect(cancelByOf(life.state, attempt)).toBe(sinceStart(5 * DAY));
    expect(cancelBys(life)).toMatchObject({ second: sinceStart(5 * DAY + HOUR) });
  });
});

describe('the window of a transaction that the run before a reset may have made', () => {
  // The activity knows of the reset, and says that the create may have been sent since the order's start.
  const outcome = { kind: 'found', transactionId: 't-1', decision: 'pass' } as const;
  const seen = { kind: 'look-up', outcome, sentFrom: sinceStart(0) } as const;
  const life = () => screened(unanswered(HOUR), { screeningDeadlineMs: DAY });

  it('counts from the order’s start when a lookup before a cancel finds it', () => {
    const canceling = life().portal('cancel').break('catch-up', 'canceled').end(seen, HOUR);
    expect(cancelBys(canceling)).toEqual({ 't-1': sinceStart(5 * DAY) });
    expect(canceling.calls('portal')).toMatchObject([
      { request: { notAfter: sinceStart(5 * DAY - 30_000) } },
    ]);
  });
});

describe('a decision that a lookup finds after the order closed without one', () => {
  const pending = (policy = {}) =>
    screened(unanswered(0), {
      events: 'all',
      screeningDeadlineMs: DAY,
      whenUnavailable: 'proceed',
      ...policy,
    });
  const closed = () =>
    pending()
      .until(DAY)
      .break('catch-up', 'canceled')
      .until(5 * DAY + HOUR);
  const finds = (life: Life, decision: Decision) => life.lookedUp(decision, 5 * DAY + HOUR);
  const NOTHING = { phase: 'closed', decision: 'error', action: 'proceed' };

  it.each([
    ['pass', 'proceed', []],
    ['review', 'hold', []],
    ['fail', 'cancel', ['failed-after-window']],
  ] as const)(
    'is the order’s: %s means %s, is sent, and replaces the attention',
    (decision, action, left) => {
      const life = closed();
      expect(life.state).toMatchObject(NOTHING);
      expect(life.attention).toEqual(['no-decision']);
      const before = life.state.events.sequence;
      expect(finds(life, decision).state).toMatchObject({ phase: 'closed', decision, action });
      expect(life.attention).toEqual(left);
      expect(life.state.events.sequence).toBeGreaterThan(before);
      expect(life.calls('portal')).toEqual([]);
    },
  );
});
