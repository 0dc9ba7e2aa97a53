/** Signals, and the reads of the status that they cause. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Order } from '../../src/orders/order.ts';
import {
  answered,
  DAY,
  HOUR,
  MINUTE,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { aLife, CANCELLATION, HINT, type Life, RECHECK, screened } from './life.ts';

function lastRead(life: Life) {
  const request = life.calls('read').at(-1)?.request;
  if (request === undefined) throw new Error('nothing was read');
  return request;
}

/** Returns the order without its count of signals. */
function otherwise({ signals: _counted, ...order }: Order) {
  return order;
}

describe('a signal', () => {
  it('starts a read, and has no time of its own', () => {
    const life = screened('pass').take(HINT);
    expect(life.order.now).toBe(sinceStart(0));
    expect(lastRead(life)).toMatchObject({ read: 1, transactionId: TRANSACTION_ID, forbiddenKnown: false });
    expect(lastRead(life)).not.toHaveProperty('notBefore');
    const { state, order } = life.read('fail', HOUR);
    expect(state).toMatchObject({ decision: 'fail', lastRead: { at: sinceStart(HOUR), source: 'webhook' } });
    expect(order.reads).toEqual([]);
  });

  it('beyond two pending reads leaves its count, and changes nothing else', () => {
    const life = screened('review').take(HINT).take(HINT);
    const before = structuredClone(otherwise(life.order));
    life.take(HINT);
    expect(life.commands.at(-1)).toEqual({ do: 'count-signals', signals: 3, nothingElse: true });
    expect(otherwise(life.order)).toEqual(before);
    expect(life.order.reads).toHaveLength(2);
  });

  it('of a recheck that finds two pending reads makes the last one the operator’s', () => {
    const life = screened('review').take(HINT).take(HINT).take(RECHECK);
    expect(life.order.reads.map(({ source }) => source)).toEqual(['webhook', 'operator']);
    life.read('review', MINUTE).read('review', 2 * MINUTE);
    expect(life.state.lastRead?.source).toBe('operator');
  });

  it('of a cancellation is no cancel: a person is told, at the order’s newest moment', () => {
    const life = screened('pass').take(CANCELLATION);
    const attention = [{ code: 'cancellation-requested', since: sinceStart(0) }];
    expect(life.state).toMatchObject({ phase: 'decided', attention });
    expect(life.underWay).toEqual(['read:1']);
  });

  it('that could not be read is told to a person, and causes a read all the same', () => {
    const signal = { kind: 'review-hint', unread: 'too large' } as const;
    const life = screened('pass').take({ kind: 'signal', signal });
    expect([life.attention, life.underWay]).toEqual([['message-refused'], ['read:1']]);
  });

  it('after the order’s end is only counted', () => {
    const life = screened('pass').until(5 * DAY);
    life.take(RECHECK).take(HINT);
    expect([life.calls('read'), life.order.reads]).toEqual([[], []]);
    expect(life.commands.slice(-2).map((one) => one.do)).toEqual(['count-signals', 'count-signals']);
  });

  it('is forgotten when the order is canceled', () => {
    const life = screened('review').take(HINT).take(HINT);
    life.portal('cancel', 0);
    life.portalEnds('done', 0);
    expect([life.order.reads, life.underWay]).toEqual([[], []]);
  });
});

describe('while the order is screened', () => {
  it('during the checkout a hint waits for the decision', () => {
    const life = aLife().take(HINT);
    expect(life.order.signals).toBe(0);
    expect(screened('review', {}, life).underWay).toContain('read:1');
  });

  it('a hint waits, and leaves its count', () => {
    const life = screened(unanswered()).take(HINT);
    expect(life.commands.at(-1)).toEqual({ do: 'count-signals', signals: 1 });
    expect(life.underWay).toEqual(['catch-up:1:0']);
    expect(life.caughtUp('pass', MINUTE).underWay).toEqual(['read:1']);
  });

  it('an operator’s read only tells the time', () => {
    const life = screened(unanswered()).take(RECHECK);
    expect(lastRead(life)).not.toHaveProperty('transactionId');
    life.end({ kind: 'read', outcome: undefined }, HOUR);
    expect(life.order).toMatchObject({ now: sinceStart(HOUR), reads: [] });
  });

  it('a hint’s read that runs is dropped, and starts again after the screening', () => {
    const life = withError().take(HINT);
    retryTo(life, 'second');
    const read = life.calls('read').map(({ request }) => request.transactionId);
    expect(read).toEqual([TRANSACTION_ID, 'second']);
  });
});

describe('a read', () => {
  it('of a transaction that is no longer the newest is made again', () => {
    const life = withError().take(RECHECK);
    retryTo(life, 'second');
    expect(life.underWay).toContain('read:1');
    expect(life.read('fail', HOUR).state.decision).toBe('review');
    expect(lastRead(life)).toMatchObject({ read: 1, transactionId: 'second' });
    expect(life.read('pass', HOUR).state.decision).toBe('pass');
    expect(life.underWay).toEqual([]);
  });

  it('of a recheck that finds a decision screens nothing again', () => {
    const life = withError().take(RECHECK).read('pass', HOUR);
    expect(life.state).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'decided' });
    expect(life.calls('catch-up')).toEqual([]);
  });

  it('of a pass before the window closes that finds a review has it polled', () => {
    const life = screened('pass', { recheckLeadTimeMs: HOUR }).until(5 * DAY - HOUR);
    life.read('review', 5 * DAY - HOUR);
    expect(life.underWay).toEqual([expect.stringContaining('poll:')]);
    expect(life.state.lastRead?.source).toBe('recheck');
  });

  it('that began before the last reading ended only asks for another', () => {
    const life = screened('review').take(RECHECK).read('review', 10_000);
    life.polled('pass', 11_000, { began: 9_000 });
    expect(life.state).toMatchObject({ decision: 'review', phase: 'review' });
    expect(life.underWay).toContain('read:2');
    life.read('fail', 12_000, { began: 11_500 });
    expect(life.state).toMatchObject({ decision: 'fail', action: 'cancel' });
  });

  it('whose answer comes just before the end keeps the review open, and after it is left to a read after the end', () => {
    const rechecked = () =>
      screened('pass')
        .until(5 * DAY - 1)
        .take(RECHECK);
    const before = rechecked().read('review', 5 * DAY - 1);
    expect(before.state.decision).toBe('review');
    expect(before.until(5 * DAY).state.endedAt).toBeUndefined();
    const after = rechecked().read('review', 5 * DAY + 1);
    expect(after.state).toMatchObject({ decision: 'pass', endedAt: sinceStart(5 * DAY) });
    expect(after.order.readsAfterEnd).toBe(true);
  });
});

describe('the spacing between reads', () => {
  it('is 2 s, doubles while hints keep coming, up to 5 min', () => {
    const begun = [0, 2, 6, 14, 30, 62, 126, 254, 510, 810, 1_110].map((second) => second * 1_000);
    expect(flood([0, ...begun.slice(0, -1).map((at) => at + 1)]).begun).toEqual(begun);
  });

  it('is short again after a quiet time', () => {
    const { life, begun } = flood([0, 1, 2_001, 60_000]);
    expect(begun).toEqual([0, 2_000, 6_000, 60_000]);
    expect(life.order.spacing).toEqual({ ms: 2_000, until: sinceStart(62_000) });
  });

  property([fc.array(fc.integer({ min: 0, max: HOUR }), { maxLength: 100, minLength: 1 })], { numRuns: 20 })(
    'bounds what any flood of an hour can cause, and reads after its last hint',
    (moments) => {
      const { begun } = flood(moments.sort((one, other) => one - other));
      for (const [index, at] of begun.entries())
        expect(at - (begun[index - 1] ?? -DAY)).toBeGreaterThanOrEqual(2_000);
      expect(begun.at(-1) ?? 0).toBeGreaterThanOrEqual(moments.at(-1) ?? 0);
    },
  );
});

/** Sends hints at these moments. Each read waits until it may begin, and ends at once. Returns when they began. */
function flood(moments: readonly number[]): { life: Life; begun: number[] } {
  const life = screened('review');
  const begun: number[] = [];
  let startedAt = 0;
  const readUntil = (until: number) => {
    while (life.underWay.some((key) => key.startsWith('read'))) {
      const { notBefore } = lastRead(life);
      const at = Math.max(startedAt, notBefore === undefined ? 0 : Date.parse(notBefore) - START);
      if (at > until) return;
      life.read('review', at, { began: at });
      begun.push(at);
      startedAt = at;
    }
  };
  for (const at of moments) {
    readUntil(at);
    if (life.order.reads.length === 0) startedAt = at;
    life.take(HINT);
  }
  readUntil(DAY);
  return { life, begun };
}

/** An order whose decision is «error» to the end, with a transaction. */
function withError(): Life {
  return screened('error', { rescreenOnError: { tries: 0, pauseMs: MINUTE } });
}

/** Sends another attempt, whose decision is «review». */
function retryTo(life: Life, transactionId: string): void {
  life.retry(2, MINUTE);
  life.retried(answered('review', transactionId), MINUTE);
}
