import { describe, expect, it } from 'vitest';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import { nextDeadline } from '../../src/orders/deadlines.ts';
import { screenAgain, screensAgain } from '../../src/orders/record.ts';
import {
  anOrder,
  answered,
  attention,
  DAY,
  lifeOf,
  MINUTE,
  NOT_SENT,
  next,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';

describe('what happens by itself while it is screened', () => {
  it('to an order without an answer: it is given up after a day, and the action stands', () => {
    for (const whenUnavailable of ['hold', 'proceed'] as const) {
      const order = anOrder(unanswered(), { whenUnavailable });
      expect(next(order)).toMatchObject({
        kind: 'screening-deadline',
        at: DAY,
        follows: { events: ['order.decided', 'order.attention'] },
      });
      expect(order).toMatchObject({ phase: 'decided', decision: 'error', action: whenUnavailable });
      expect(attention(order)).toEqual(['no-decision']);
      expect(lifeOf(order)).toEqual([['window-closes', 5 * DAY]]);
    }
  });

  it('to an order that surely was never sent: its window ends, counted from its start', () => {
    const order = anOrder(NOT_SENT);
    expect(order.attempts[0]?.unseen).toBeUndefined();
    next(order);
    expect(lifeOf(order)).toEqual([['window-closes', 5 * DAY]]);
  });

  it('to an error: three rescreens a minute apart, then it stands', () => {
    const order = anOrder('error');
    for (const tried of [1, 2, 3]) {
      expect(next(order)).toMatchObject({ kind: 'rescreen', at: tried * MINUTE });
      expect(order.attempts[0]).toMatchObject({ rescreens: tried, rescreenDue: true });
      expect(nextDeadline(order)?.kind).toBe('screening-deadline');
      const moment = {
        source: 'rescreen',
        now: sinceStart(tried * MINUTE),
      } as const;
      const events = applyScreening(order, answered('error', `t${tried}`), moment);
      expect(events).toEqual(tried < 3 ? [] : ['order.decided', 'order.attention']);
    }
    expect(order).toMatchObject({ phase: 'decided', decision: 'error', action: 'hold' });
    expect(nextDeadline(order)?.kind).toBe('window-closes');
    expect(order.attempts[0]?.readings.map(({ source }) => source)).toEqual([
      'checkout',
      ...Array(3).fill('rescreen'),
    ]);
  });

  it('to a rescreen that the service doesn’t answer: the screening deadline ends it', () => {
    const order = anOrder('error');
    next(order);
    expect(next(order).kind).toBe('screening-deadline');
    expect(order).toMatchObject({ phase: 'decided', decision: 'error' });
    expect(lifeOf(order)).toEqual([['window-closes', 5 * DAY]]);
  });

  it('to an error that an operator has screened again: a new screening deadline, and no rescreen by itself', () => {
    const order = anOrder('error', { rescreenOnError: { tries: 0, pauseMs: MINUTE } });
    screenAgain(order, sinceStart(2 * DAY));
    expect(order).toMatchObject({ phase: 'screening', attempts: [{ rescreenDue: true }] });
    expect(next(order)).toMatchObject({ kind: 'screening-deadline', at: 3 * DAY });
    expect(order.phase).toBe('decided');
    expect([screensAgain(order), screensAgain(anOrder('pass'))]).toEqual([true, false]);
  });
});
