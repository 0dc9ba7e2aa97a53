import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastCall, windowEnd, windowOf, windowOpen } from '../../src/orders/transactions.ts';
import { property } from '../support/property.ts';
import { aLife, screened } from './life.ts';
import {
  answered,
  aPolicy,
  DAY,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from './support.ts';

const windowMs = fc.integer({ min: 1_000, max: 5 * DAY });

describe('the cancel window', () => {
  it('is open from the first moment until 30 s before its end', () => {
    const cancelBy = windowEnd(sinceStart(0), 5 * DAY);
    expect(cancelBy).toBe(sinceStart(5 * DAY));
    expect(windowOpen(cancelBy, 5 * DAY, START)).toBe(true);
    expect(windowOpen(cancelBy, 5 * DAY, START + 5 * DAY - 30_001)).toBe(true);
    expect(windowOpen(cancelBy, 5 * DAY, START + 5 * DAY - 30_000)).toBe(false);
  });

  it('keeps a hundredth of a short window', () => {
    expect(lastCall(sinceStart(10_000), 10_000)).toBe(sinceStart(9_900));
  });

  it('isn’t open when there is none', () => {
    expect(windowOpen(undefined, 5 * DAY, START)).toBe(false);
  });

  property([windowMs, fc.double({ min: 0, max: 1, noNaN: true })])(
    'is never open in its last 30 s or hundredth, whichever is less, and always before',
    (ms, share) => {
      const cancelBy = windowEnd(sinceStart(0), ms);
      const kept = Math.min(30_000, ms / 100);
      const at = START + ms * share;
      expect(windowOpen(cancelBy, ms, at)).toBe(at < START + ms - kept);
    },
  );
});

it.each([
  [
    'order’s start when the first screening finds its transaction: a task that was lost may have made it',
    true,
    0,
  ],
  ['moment at which the first screening made it', false, HOUR],
])('the window counts from the %s', (_when, adopted, from) => {
  const outcome = { kind: 'answered', transactionId: 't-1', decision: 'pass', adopted } as const;
  const life = aLife().end({ kind: 'first-screening', rules: 1, policy: aPolicy(), outcome }, HOUR, {
    began: HOUR,
  });
  expect(life.order.state.attempts[0]?.cancelBy).toBe(sinceStart(from + 5 * DAY));
});

it('the window stays that of the transaction with the decision when a later one comes to nothing', () => {
  const life = screened('error', { screeningDeadlineMs: HOUR }).until(HOUR);
  const hint = { source: 'webhook', receivedAt: sinceStart(HOUR) };
  life.take({ kind: 'signal', signal: 'review-hint', hint });
  life.end({ kind: 'look', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
  life.end({ kind: 'catch-up', outcome: answered('error', 'second') }, HOUR);
  const [attempt] = life.order.state.attempts;
  expect(attempt).toMatchObject({ transactionId: TRANSACTION_ID, cancelBy: sinceStart(5 * DAY) });
  expect(attempt && windowOf(attempt, 'second')).toBe(sinceStart(5 * DAY));
});

describe('the window of a transaction that the run before a reset may have made', () => {
  const found = { kind: 'found', transactionId: 't-1', decision: 'pass' } as const;
  const ofTheRunBefore = { afterReset: true } as const;

  /** An order that this run has screened again since an hour after its start. */
  function reset() {
    const policy = aPolicy({ events: false, screeningDeadlineMs: DAY });
    const life = aLife({ wasReset: true });
    return life.end({ kind: 'first-screening', rules: 1, policy, outcome: unanswered(false) }, HOUR);
  }

  it('counts from the order’s start when the catch-up finds it', () => {
    const life = reset();
    const outcome = { kind: 'answered', transactionId: 't-1', decision: 'pass', adopted: true } as const;
    life.end({ kind: 'catch-up', outcome }, HOUR, ofTheRunBefore);
    expect(life.order.state.attempts[0]?.cancelBy).toBe(sinceStart(5 * DAY));
  });

  it('counts from when it was made when the catch-up makes it', () => {
    const life = reset();
    life.end({ kind: 'catch-up', outcome: answered('pass') }, HOUR + MINUTE, ofTheRunBefore);
    expect(life.order.state.attempts[0]?.cancelBy).toBe(sinceStart(5 * DAY + HOUR));
  });

  it('counts from the order’s start when a look-up before a cancel finds it', () => {
    const life = reset();
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    life.break('catch-up', 'cut-off').end({ kind: 'look-up', outcome: found }, HOUR, ofTheRunBefore);
    expect(life.order.state.attempts[0]?.cancelBy).toBe(sinceStart(5 * DAY));
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
  });

  it('counts from the order’s start when the look-up of an earlier attempt finds it', () => {
    const life = reset().until(DAY).break('catch-up', 'cut-off');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, DAY);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 't-2') }, DAY);
    life.end({ kind: 'look-up', outcome: found }, DAY, ofTheRunBefore);
    expect(life.order.state.attempts.map(({ cancelBy }) => cancelBy)).toEqual([
      sinceStart(5 * DAY),
      sinceStart(6 * DAY),
    ]);
  });
});
