/** Signals, and the reads of the status that they cause. */
import { describe, expect, it } from 'vitest';
import type { Order } from '../../../src/order/order.ts';
import {
  answered,
  DAY,
  HOUR,
  MINUTE,
  NO_RESCREENS,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { aLife, CANCELLATION, HINT, type Life, RECHECK, screened } from '../life.ts';
import { reported } from '../lives.ts';

function lastRead(life: Life) {
  const request = life.calls('read').at(-1)?.request;
  if (request === undefined) throw new Error('nothing was read');
  return request;
}

/** Returns the order without its count of signals. */
function otherwise({ signals: _counted, ...order }: Order) {
  return order;
}

/** An order whose decision is «error» to the end, with a transaction. */
const withError = () => screened('error', NO_RESCREENS);
/** The next attempt’s decision is «review». */
const retried = (life: Life) => life.retry(2, MINUTE).retried(answered('review', 'second'), MINUTE);

describe('a review that policy cancels', () => {
  const due = () => screened('review', { onUnresolvedReview: 'cancel' }).until(4.5 * DAY);

  it('is read once more when it is due, and not canceled if it has passed', () => {
    const life = due();
    expect(life).toMatchObject({ actions: [], attention: [], underWay: expect.arrayContaining(['read:1']) });
    expect(life.read('pass', 4.5 * DAY + MINUTE)).toMatchObject({ action: 'proceed', attention: [] });
    expect(life.state.lastRead?.source).toBe('recheck');
    expect(life.until(4.9 * DAY).actions).toEqual([]);
  });

  it('is told at once where a cancel is under way, or a person decides after a fraud report', () => {
    const canceling = screened('review', { onUnresolvedReview: 'cancel' }).portal('cancel', DAY);
    const accused = reported(screened('pass', { onUnresolvedReview: 'cancel' })).polled('review', 2 * HOUR);
    for (const life of [canceling, accused])
      expect(life.until(4.5 * DAY).attention).toEqual(['review-unresolved']);
  });

  it('is canceled once it was read, or where no answer comes', () => {
    expect(due().read('review', 4.5 * DAY + MINUTE)).toMatchObject({
      action: 'cancel',
      actions: ['running'],
    });
    expect(due().until(4.9 * DAY)).toMatchObject({ action: 'cancel', actions: ['running'] });
  });

  it('is canceled by a read that a hint had requested before', () => {
    const life = screened('review', { onUnresolvedReview: 'cancel' }).take(HINT);
    expect(life.until(4.5 * DAY).order.reads).toHaveLength(2);
    expect(life.read('review', 4.6 * DAY).actions).toEqual(['running']);
  });
});

describe('a signal', () => {
  it('starts a read, and has no time of its own', () => {
    const life = screened('pass').take(HINT);
    expect(life.order.now).toBe(sinceStart(0));
    expect(life.underWay).toEqual(['read:1']);
    expect(lastRead(life).transactionId).toBe(TRANSACTION_ID);
    expect(lastRead(life)).not.toHaveProperty('notBefore');
    expect(lastRead(life).cancelBy).toBe(sinceStart(5 * DAY));
    const { state, order } = life.read('fail', HOUR);
    expect(state).toMatchObject({ decision: 'fail', lastRead: { at: sinceStart(HOUR), source: 'webhook' } });
    expect(order.reads).toEqual([]);
  });

  it('beyond two pending reads leaves its count, and changes nothing else', () => {
    const life = screened('review').take(HINT).take(HINT);
    const before = structuredClone(otherwise(life.order));
    life.take(HINT);
    expect(life.commands.at(-1)).toEqual({ do: 'count-signals', nothingElse: true });
    expect(otherwise(life.order)).toEqual(before);
    expect(life.order.reads).toHaveLength(2);
  });

  it('of a recheck that finds two pending reads makes the last one the operator’s', () => {
    const life = screened('review').take(HINT).take(HINT).take(RECHECK);
    expect(life.order.reads.map(({ source }) => source)).toEqual(['webhook', 'operator']);
    life.read('review', MINUTE).read('review', 2 * MINUTE);
    expect(life.state.lastRead?.source).toBe('operator');
  });

  it('of a cancellation is no cancel, and one that could not be read causes a read: a person is told', () => {
    const signal = { kind: 'review-hint', unread: 'too large' } as const;
    const [canceled, unread] = [CANCELLATION, { kind: 'signal', signal } as const].map((one) =>
      screened('pass').take(one),
    );
    const read = { phase: 'decided', underWay: ['read:1'] };
    expect(canceled).toMatchObject({ ...read, attention: ['cancellation-requested'] });
    expect(unread).toMatchObject({ ...read, attention: ['message-refused'] });
    const again = unread?.take({ kind: 'signal', signal }).take({ kind: 'signal', signal });
    expect(again?.attention).toEqual(['message-refused']);
    expect(again?.order.reads.length).toBeLessThanOrEqual(2);
  });

  it('is left to a read after the end when the order is canceled, and only counted after its end', () => {
    const canceled = screened('review').take(HINT).take(HINT).portal('cancel').portalEnds('done');
    expect(canceled).toMatchObject({ underWay: [], order: { reads: [{}, {}] } });
    // One has ended, the other waits for the gateway’s result.
    for (const policy of [{}, { workflow: 'pre-gateway' }] as const) {
      const first = screened('review', policy).portal('cancel').portalEnds('done').take(HINT);
      expect(first.order.reads).toHaveLength(1);
      const { commands } = first.take(HINT);
      expect(commands.slice(-2)).toEqual([
        { do: 'count-signals' },
        { do: 'count-signals', nothingElse: true },
      ]);
    }
    const ended = screened('pass')
      .until(5 * DAY)
      .take(HINT);
    expect(ended).toMatchObject({ underWay: [], order: { reads: [{}] } });
    expect(ended.commands.at(-1)?.do).toBe('count-signals');
  });
});

describe('while the order is screened', () => {
  it('during the checkout a hint waits for the decision', () => {
    const life = aLife().take(HINT);
    expect(life.order.signals).toBe(0);
    expect(screened('review', {}, life).underWay).toContain('read:1');
  });

  it('an operator’s read only tells the time', () => {
    const life = screened(unanswered()).take(RECHECK);
    expect(lastRead(life)).not.toHaveProperty('transactionId');
    life.end({ kind: 'read', outcome: undefined }, HOUR);
    expect(life.order).toMatchObject({ now: sinceStart(HOUR), reads: [] });
  });
});

describe('a read', () => {
  it('of a transaction that is no longer the newest is made again', () => {
    const life = retried(withError().take(RECHECK)).read('fail', HOUR);
    expect(life).toMatchObject({ decision: 'review', underWay: expect.arrayContaining(['read:1']) });
    expect(lastRead(life).transactionId).toBe('second');
    expect(life.read('pass', HOUR)).toMatchObject({ decision: 'pass', underWay: [] });
  });

  it.each([
    ['still says error', { kind: 'read', decision: 'error' }, 'catch-up:1:1'],
    [
      'can’t be read',
      { kind: 'unreadable', words: 'no known decision' },
      `last-read:${TRANSACTION_ID}:error:1:troubled`,
    ],
    ['is refused for a wrong key', { kind: 'forbidden' }, 'read:1'],
  ] as const)(
    'for an operator screens an order again only if it still says error: one that %s',
    (_words, outcome, next) => {
      const life = screened('error', NO_RESCREENS).take(RECHECK);
      life.end({ kind: 'read', outcome }, HOUR);
      expect(life.underWay).toEqual([next]);
    },
  );

  it('that began before the last reading ended only asks for another', () => {
    const life = screened('review').take(RECHECK).read('review', 10_000);
    expect(life.polled('pass', 11_000, { began: 9_000 }).decision).toBe('review');
    expect(life.underWay).toContain('read:2');
    expect(life.read('fail', 12_000, { began: 11_500 }).decision).toBe('fail');
  });

  it('whose answer comes just before the end keeps the review open, and after it is left to a read after the end', () => {
    const rechecked = () =>
      screened('pass')
        .until(5 * DAY - 1)
        .take(RECHECK);
    const before = rechecked().read('review', 5 * DAY - 1);
    expect(before.until(5 * DAY).state.endedAt).toBeUndefined();
    const { order, decision } = rechecked().read('review', 5 * DAY + 1);
    expect([order.reads.length > 0, decision]).toEqual([true, 'pass']);
  });
});

describe('the spacing between reads', () => {
  it('is 2 s, doubles while hints keep coming, up to 5 min', () => {
    const begun = [0, 2, 6, 14, 30, 62, 126, 254, 510, 810, 1_110].map((second) => second * 1_000);
    expect(flood([0, ...begun.slice(0, -1).map((at) => at + 1)])).toEqual(begun);
  });

  it('is short again after a quiet time', () => {
    expect(flood([0, 1, 2_001, 60_000, 60_001])).toEqual([0, 2_000, 6_000, 60_000, 62_000]);
  });
});

/** Sends hints at these moments. Each read waits until it may begin, and ends at once. Returns when they began. */
function flood(moments: readonly number[]): number[] {
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
  return begun;
}
