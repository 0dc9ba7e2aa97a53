import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/order/state.ts';
import type { Decision } from '../../src/contract/words.ts';
import { applyGatewayResult } from '../../src/order/concerns/gateway.ts';
import { applyReading } from '../../src/order/decide.ts';
import { setPhase } from '../../src/order/record.ts';
import { applyScreening } from '../../src/order/screening/apply-screening.ts';
import {
  anOrder,
  answered,
  attention,
  DAY,
  MINUTE,
  NO_RESCREENS,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';

const DECISIONS: Decision[] = ['pass', 'fail', 'review', 'fraudulent', 'error'];
const NOW = sinceStart(MINUTE);

function read(order: OrderState, decision: Decision, at = NOW): string[] {
  return applyReading(order, { kind: 'read', decision }, 'poll', at);
}

/** Orders after acceptance, so that each decision leaves them where the next reading matters. */
function standing(known: Decision): OrderState {
  return anOrder(known, { workflow: 'post-acceptance', ...NO_RESCREENS });
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

  it.each<[string, Decision, Parameters<typeof applyReading>[1], string]>([
    ['that can’t be used', 'review', { kind: 'unreadable', words: 'No such transaction.' }, 'status-error'],
    ['of an error', 'review', { kind: 'read', decision: 'error' }, 'status-error'],
    ['of an error', 'pass', { kind: 'read', decision: 'error' }, 'status-error'],
    ['of an error', 'fail', { kind: 'read', decision: 'error' }, 'status-error'],
  ])('%s after %s asks for attention once and changes nothing', (_what, known, outcome, code) => {
    const order = standing(known);
    const { action, phase } = order;
    expect(applyReading(order, outcome, 'poll', NOW)).toEqual(['order.attention']);
    expect(applyReading(order, outcome, 'poll', NOW)).toEqual([]);
    expect(order).toMatchObject({ decision: known, action, phase });
    expect(attention(order)).toEqual([code]);
    read(order, known);
    expect(attention(order)).toEqual([]);
  });

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
    ['error', 'pass', 'proceed', 'decided', 'order.decided'],
    ['error', 'review', 'hold', 'review', 'order.decided'],
    ['error', 'fail', 'cancel', 'decided', 'order.decided'],
  ] as const)('that turns %s into %s means %s, %s and %s', (known, now, action, phase, event) => {
    const order = standing(known);
    expect(read(order, now)).toEqual([event]);
    expect(order).toMatchObject({ decision: now, action, phase });
    expect(order.attempts[0]?.readings.at(-1)).toEqual({ decision: now, at: NOW, source: 'poll' });
    expect(order.reason).toBeUndefined();
    expect(attention(order)).toEqual([]);
  });

  it('is ignored once the order is canceled', () => {
    const order = standing('pass');
    setPhase(order, 'canceled', NOW);
    for (const now of DECISIONS) expect(read(order, now)).toEqual([]);
    expect(order).toMatchObject({ decision: 'pass', action: 'proceed', phase: 'canceled', attention: [] });
  });

  it('changes a declined order’s decision, never its action or phase', () => {
    for (const now of DECISIONS) {
      const order = anOrder('fail');
      read(order, now);
      const decision = now === 'error' ? 'fail' : now;
      expect(order).toMatchObject({ decision, action: 'decline', phase: 'declined' });
    }
    const byGateway = anOrder('pass', { workflow: 'pre-gateway' });
    applyGatewayResult(byGateway, { result: 'fail' }, NOW);
    read(byGateway, 'fail');
    expect(byGateway).toMatchObject({ decision: 'fail', action: 'decline', phase: 'declined' });
  });

  it('that fails after the window is no attention to a policy that only watches', () => {
    const order = anOrder('review', { passive: true });
    read(order, 'fail', sinceStart(6 * DAY));
    expect(order).toMatchObject({ action: 'proceed', wouldBe: 'cancel', attention: [] });
  });
});

describe('what a passive order would be', () => {
  const DECLINING = { passive: true, whenUnavailable: 'decline' } as const;

  it('stays `decline`, as the action of an order that isn’t passive does, whatever its screening finds later', () => {
    const late = { source: 'catch-up', now: NOW } as const;
    for (const outcome of [unanswered(), answered('error')]) {
      const order = anOrder(outcome, DECLINING);
      expect(applyScreening(order, answered('pass', 'later'), late)).toEqual(['order.decided']);
      expect(order).toMatchObject({ decision: 'pass', action: 'proceed', wouldBe: 'decline' });
    }
  });

  it('stays `decline` when the gateway that it was sent to all the same returns an error', () => {
    const order = anOrder('fail', { ...DECLINING, workflow: 'pre-gateway' });
    applyGatewayResult(order, { result: 'error' }, NOW);
    expect(order).toMatchObject({ action: 'proceed', wouldBe: 'decline' });
  });
});
