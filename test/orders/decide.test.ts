import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/state.ts';
import type { Decision, Phase } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { decide } from '../../src/orders/decide.ts';
import { setPhase } from '../../src/orders/record.ts';
import { anOrder, attention, DAY, MINUTE, sinceStart } from '../fixtures/orders.ts';

const DECISIONS: Decision[] = ['pass', 'fail', 'review', 'fraudulent', 'error'];
const NOW = sinceStart(MINUTE);

function read(order: OrderState, decision: Decision, at = NOW): string[] {
  return applyReading(order, { kind: 'read', decision }, 'poll', at);
}

/** Orders after acceptance, so that each decision leaves them where the next reading matters. */
function standing(known: Decision): OrderState {
  return anOrder(known, { workflow: 'post-acceptance', rescreenOnError: { tries: 0, pauseMs: MINUTE } });
}

describe('a reading of the status', () => {
  it.each(DECISIONS)('means nothing when it says %s again', (known) => {
    const order = standing(known);
    const before = structuredClone(order);
    expect(read(order, known)).toEqual([]);
    const confirmed = known === 'error' ? {} : { decidedAt: NOW, source: 'poll' };
    const transactions = before.transactions.map((one) => ({ ...one, ...confirmed }));
    expect(order).toEqual({ ...before, transactions, lastRead: { at: NOW, source: 'poll' } });
  });

  it.each(DECISIONS.filter((known) => known !== 'error'))(
    'never replaces %s by error, but asks for attention once',
    (known) => {
      const order = standing(known);
      const { action, phase } = order;
      expect(read(order, 'error')).toEqual(['order.attention']);
      expect(read(order, 'error')).toEqual([]);
      expect(order).toMatchObject({ decision: known, action, phase });
      expect(attention(order)).toEqual(['status-error']);
      read(order, known);
      expect(attention(order)).toEqual([]);
    },
  );

  it.each([
    ['review', 'pass', 'proceed', 'decided', 'order.review_resolved'],
    ['review', 'fail', 'cancel', 'decided', 'order.review_resolved'],
    ['review', 'fraudulent', 'cancel', 'decided', 'order.review_resolved'],
    ['pass', 'review', 'hold', 'review', 'order.decision_changed'],
    ['pass', 'fail', 'cancel', 'decided', 'order.decision_changed'],
    ['pass', 'fraudulent', 'cancel', 'decided', 'order.decision_changed'],
    ['fail', 'pass', 'cancel', 'decided', 'order.decision_changed'],
    ['fail', 'review', 'cancel', 'decided', 'order.decision_changed'],
    ['fail', 'fraudulent', 'cancel', 'decided', 'order.decision_changed'],
    ['fraudulent', 'pass', 'cancel', 'decided', 'order.decision_changed'],
    ['fraudulent', 'fail', 'cancel', 'decided', 'order.decision_changed'],
    ['fraudulent', 'review', 'cancel', 'decided', 'order.decision_changed'],
    ['error', 'pass', 'proceed', 'decided', 'order.decided'],
    ['error', 'review', 'hold', 'review', 'order.decided'],
    ['error', 'fail', 'cancel', 'decided', 'order.decided'],
    ['error', 'fraudulent', 'cancel', 'decided', 'order.decided'],
  ] as const)('that turns %s into %s means %s, %s and %s', (known, now, action, phase, event) => {
    const order = standing(known);
    expect(read(order, now)).toEqual([event]);
    expect(order).toMatchObject({ decision: now, action, phase });
    expect(order.attempts[0]?.readings.at(-1)).toEqual({ decision: now, at: NOW, source: 'poll' });
    expect(order.reason).toBeUndefined();
    expect(attention(order)).toEqual([]);
  });

  it.each(['canceled', 'closed'] satisfies Phase[])('is ignored once the order is %s', (phase) => {
    for (const known of DECISIONS) {
      for (const now of DECISIONS) {
        const order = standing(known);
        setPhase(order, phase, NOW);
        expect(decide(order, now, NOW)).toEqual({});
      }
    }
  });

  it('changes a declined order’s decision, never its action or phase', () => {
    for (const known of ['fail', 'fraudulent', 'error'] as const) {
      for (const now of DECISIONS) {
        const order = anOrder(known, { whenUnavailable: 'decline' });
        read(order, now);
        expect(order).toMatchObject({ action: 'decline', phase: 'declined' });
      }
    }
  });

  it('leaves the cancel standing that somebody asked for', () => {
    for (const known of ['review', 'pass', 'error'] as const) {
      const order = standing(known);
      order.action = 'cancel';
      read(order, known === 'pass' ? 'review' : 'pass');
      expect(order.action).toBe('cancel');
    }
  });

  it('asks for nobody’s attention after the window in passive mode', () => {
    const order = anOrder('review', { passive: true });
    expect(read(order, 'fail', sinceStart(6 * DAY))).toEqual(['order.review_resolved']);
    expect(attention(order)).toEqual([]);
  });

  it('holds a pass as long as the gateway’s last word is error', () => {
    const order = anOrder('review', { workflow: 'pre-gateway' });
    applyGatewayResult(order, { result: 'error' }, NOW);
    read(order, 'pass');
    expect(order).toMatchObject({ decision: 'pass', action: 'hold', phase: 'awaiting-gateway' });
  });

  it('that can’t be used asks for attention once and changes nothing', () => {
    const order = anOrder('review');
    const unreadable = { kind: 'unreadable', words: 'The service does not know the transaction.' } as const;
    expect(applyReading(order, unreadable, 'poll', NOW)).toEqual(['order.attention']);
    expect(applyReading(order, unreadable, 'poll', NOW)).toEqual([]);
    expect(order).toMatchObject({ decision: 'review', action: 'hold', phase: 'review' });
  });

  it('with a wrong key asks for attention until the next answer', () => {
    const order = anOrder('review');
    expect(applyReading(order, { kind: 'forbidden' }, 'poll', NOW)).toEqual(['order.attention']);
    expect(applyReading(order, { kind: 'forbidden' }, 'poll', NOW)).toEqual([]);
    expect(attention(order)).toEqual(['wrong-key']);
    read(order, 'review');
    expect(attention(order)).toEqual([]);
  });

  it('ends a rescreen that was under way', () => {
    const order = standing('error');
    const attempt = order.attempts[0];
    if (attempt === undefined) throw new Error('there is one');
    attempt.rescreenDue = true;
    read(order, 'pass');
    expect(order.phase).toBe('decided');
  });
});
