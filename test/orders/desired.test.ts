import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/state.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import type { RequiredEffect } from '../../src/orders/concern.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { CONCERNS } from '../../src/orders/concerns/index.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal-records.ts';
import { addAttempt, currentAttempt } from '../../src/orders/record.ts';
import {
  anOrder,
  answered,
  around,
  DAY,
  MINUTE,
  NOT_SENT,
  screen,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { screened } from './life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const DECLINING = { whenUnavailable: 'decline' } as const;

/** Returns the activities that the order requires. */
function effectsOf(state: OrderState, at = 0): RequiredEffect[] {
  const order = around(state, { now: sinceStart(at) });
  return CONCERNS.flatMap(({ desired }) => desired(order)).filter(({ call }) => call.kind !== 'timer');
}

function wanted(state: OrderState, at = 0): string[] {
  return effectsOf(state, at).map(({ call }) => call.kind);
}

function withCard(order: OrderState): OrderState {
  currentAttempt(order).cardRef = 'card-1';
  return order;
}

describe('an order wants', () => {
  it.each<[string, () => OrderState, string[]]>([
    ['nothing more after a definite refusal', () => anOrder({ kind: 'refused', reason: 'refused' }), []],
    ['no look when surely nothing was sent', () => anOrder(NOT_SENT, DECLINING), []],
    [
      'its card forgotten once nothing is screened any more',
      () => withCard(anOrder('pass')),
      ['forget-card'],
    ],
    ['no card forgotten before a rescreen', () => withCard(anOrder('error')), []],
    ['no card forgotten before the catch-up', () => withCard(anOrder(unanswered())), ['catch-up']],
  ])('%s', (_what, order, kinds) => {
    expect(wanted(order())).toEqual(kinds);
  });

  it('to be polled in review, also while the gateway is awaited, but not once the gateway declined', () => {
    const order = anOrder('review', PRE);
    expect([wanted(anOrder('review')), wanted(order)]).toEqual([['poll'], ['poll']]);
    applyGatewayResult(order, { result: 'fail' }, sinceStart(0));
    expect(wanted(order)).toEqual(['gateway']);
  });

  it('to be polled after a fraud report until its decision changes or the window ends', () => {
    for (const order of [anOrder('pass'), anOrder('fail'), anOrder('pass', PRE)]) {
      const record = queueAction(order, { kind: 'report-fraud' }, 'caller', sinceStart(0));
      applyPortalOutcome(order, record, { kind: 'done' }, sinceStart(0));
      expect(wanted(order)).toEqual(['poll']);
      expect(wanted(order, 5 * DAY)).toEqual([]);
    }
  });

  it('a gateway’s result sent on, once there is a transaction', () => {
    const order = anOrder(unanswered(), { ...PRE, whenUnavailable: 'proceed' });
    applyGatewayResult(order, { result: 'pass' }, sinceStart(0));
    expect(wanted(order)).toEqual(['catch-up']);
    applyScreening(order, answered('pass'), { source: 'catch-up', now: sinceStart(0) });
    expect(wanted(order)).toContain('gateway');
  });

  it('a look at what a declined attempt without an answer may have left, and nothing to follow from it', () => {
    const life = screened(unanswered(), DECLINING);
    expect(life.underWay).toEqual(['look-up:1']);
    life.lookedUp('fail', MINUTE, 'late');
    expect(life.state).toMatchObject({ phase: 'declined', action: 'decline', decision: 'fail' });
    const found = { id: 'late', attempt: 1, found: 'lookup', cancelBy: sinceStart(5 * DAY) };
    expect(life.state.transactions).toMatchObject([found]);
    expect(life.underWay).toEqual([]);
  });

  it('the look of an earlier attempt, but never while the next one is being screened', () => {
    const order = anOrder(unanswered(), DECLINING);
    addAttempt(order, {}, sinceStart(MINUTE));
    expect(wanted(order)).toEqual(['retry-screening']);
    screen(order, answered('pass', 'second'));
    expect(wanted(order)).toEqual(['look-up']);
  });

  it('only the gateway’s result and the card’s end done before it ends', () => {
    const order = withCard(anOrder('review', PRE));
    applyGatewayResult(order, { result: 'pass' }, sinceStart(0));
    expect(wanted(order)).toEqual(['poll', 'gateway', 'forget-card']);
    order.endedAt = sinceStart(0);
    expect(wanted(order)).toEqual(['gateway', 'forget-card']);
  });

  it('another poll, by its key, whenever the transaction is another', () => {
    const order = anOrder('review');
    const [before] = effectsOf(order);
    for (const transaction of order.transactions) transaction.id = 'another';
    expect(effectsOf(order)[0]?.key).not.toBe(before?.key);
  });
});
