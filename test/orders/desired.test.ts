import { describe, expect, it } from 'vitest';
import type { OrderState } from '../../src/contract/state.ts';
import { applyScreening } from '../../src/orders/apply-screening.ts';
import type { RequiredEffect } from '../../src/orders/concern.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { CONCERNS } from '../../src/orders/concerns/index.ts';
import type { Order } from '../../src/orders/order.ts';
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

/** Returns the effects that the order wants, timers left out. */
function effectsOf(order: Order): RequiredEffect[] {
  return CONCERNS.flatMap(({ desired }) => desired(order)).filter(({ call }) => call.kind !== 'timer');
}

function wanted(state: OrderState, at = 0): string[] {
  return effectsOf(around(state, { now: sinceStart(at) })).map(({ call }) => call.kind);
}

describe('an order wants', () => {
  it('nothing more after a definite refusal', () => {
    expect(wanted(anOrder({ kind: 'refused', reason: 'refused', words: 'Missing data' }))).toEqual([]);
  });

  it('to be polled in review, also while the gateway is awaited, but not once the gateway declined', () => {
    expect(wanted(anOrder('review'))).toEqual(['poll']);
    const order = anOrder('review', PRE);
    expect(wanted(order)).toEqual(['poll']);
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
    const late = { kind: 'found', transactionId: 'late', decision: 'fail' } as const;
    life.end({ kind: 'look-up', outcome: late }, MINUTE);
    expect(life.order.state).toMatchObject({
      phase: 'declined',
      action: 'decline',
      decision: 'fail',
      transactions: [{ id: 'late', attempt: 1, found: 'lookup', cancelBy: sinceStart(5 * DAY) }],
    });
    expect(life.underWay).toEqual([]);
  });

  it('no look when surely nothing was sent', () => {
    expect(wanted(anOrder(NOT_SENT, { whenUnavailable: 'decline' }))).toEqual([]);
  });

  it('the look of an earlier attempt, but never while the next one is being screened', () => {
    const order = anOrder(unanswered(), { whenUnavailable: 'decline' });
    addAttempt(order, {}, sinceStart(MINUTE));
    expect(wanted(order)).toEqual(['retry-screening']);
    screen(order, answered('pass', 'second'));
    expect(wanted(order)).toEqual(['look-up']);
  });

  it('its card forgotten once nothing is screened any more', () => {
    for (const [order, expected] of [
      [anOrder('pass'), ['forget-card']],
      [anOrder('error'), []],
      [anOrder(unanswered()), ['catch-up']],
    ] as const) {
      currentAttempt(order).cardRef = 'card-1';
      expect(wanted(order)).toEqual(expected);
    }
  });

  it('only the gateway’s result and the card’s end done before it ends', () => {
    const order = anOrder('review', PRE);
    currentAttempt(order).cardRef = 'card-1';
    applyGatewayResult(order, { result: 'pass' }, sinceStart(0));
    expect(wanted(order)).toEqual(['poll', 'gateway', 'forget-card']);
    order.endedAt = sinceStart(0);
    expect(wanted(order)).toEqual(['gateway', 'forget-card']);
  });

  it('another poll, by its key, whenever the transaction or the decision that is known is another', () => {
    const order = around(anOrder('review'));
    const [before] = effectsOf(order);
    const [transaction] = order.state.transactions;
    if (transaction !== undefined) transaction.id = 'another';
    expect(effectsOf(order)[0]?.key).not.toBe(before?.key);
  });
});
