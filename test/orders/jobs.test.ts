import { describe, expect, it } from 'vitest';
import { applyGatewayResult } from '../../src/orders/gateway.ts';
import { mustFinish, wantedJobs } from '../../src/orders/jobs.ts';
import { addAttempt, currentAttempt } from '../../src/orders/new-order.ts';
import { passDeadline } from '../../src/orders/pass-deadline.ts';
import { setPhase } from '../../src/orders/phase.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal.ts';
import type { OrderState } from '../../src/orders/state.ts';
import { applyLookUp } from '../../src/orders/transactions.ts';
import {
  aNewOrder,
  anOrder,
  answered,
  attention,
  DAY,
  HOUR,
  MINUTE,
  START,
  screen,
  sinceStart,
  unanswered,
} from './support.ts';

const PRE = { workflow: 'pre-gateway' } as const;

function wanted(order: OrderState, at = 0): string[] {
  return wantedJobs(order, START + at).map((job) => job.kind);
}

describe('an order wants', () => {
  it('nothing before its first answer, nor when it is decided', () => {
    const unscreened = aNewOrder();
    delete unscreened.policy;
    expect(wanted(unscreened)).toEqual([]);
    expect(wanted(aNewOrder())).toEqual([]);
    for (const decision of ['pass', 'fail', 'fraudulent'] as const)
      expect(wanted(anOrder(decision))).toEqual([]);
  });

  it('to catch up while it has no answer, unless a cancel was asked', () => {
    const order = anOrder(unanswered());
    expect(wanted(order)).toEqual(['catch-up']);
    queueAction(order, { kind: 'cancel' }, 'caller', sinceStart(0));
    expect(wanted(order)).toEqual([]);
  });

  it('to be screened again after an error, once the pause is over', () => {
    const order = anOrder('error');
    expect(wanted(order)).toEqual([]);
    passDeadline(order, 'rescreen', sinceStart(MINUTE));
    expect(wantedJobs(order, START)).toMatchObject([{ kind: 'catch-up', rescreen: true }]);
  });

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
    currentAttempt(order).transactionId = 'made';
    expect(wanted(order)).toContain('gateway');
  });

  it('a look at what a declined attempt without an answer may have left, and nothing to follow from it', () => {
    const order = anOrder(unanswered(), { whenUnavailable: 'decline' });
    expect(wanted(order)).toEqual(['look-up']);
    applyLookUp(
      order,
      currentAttempt(order),
      { kind: 'found', transactionId: 'late', decision: 'fail' },
      sinceStart(MINUTE),
    );
    expect(order).toMatchObject({ phase: 'declined', action: 'decline', decision: 'fail' });
    expect(currentAttempt(order)).toMatchObject({ transactionId: 'late', cancelBy: sinceStart(5 * DAY) });
    expect(wanted(order)).toEqual([]);
  });

  it('that look before the order may end, however it ended', () => {
    const order = anOrder(unanswered(), { whenUnavailable: 'decline' });
    setPhase(order, 'closed', sinceStart(HOUR));
    expect(wantedJobs(order, START + HOUR).filter(mustFinish)).toMatchObject([{ kind: 'look-up' }]);
  });

  it('no look when surely nothing was sent', () => {
    expect(wanted(anOrder(unanswered(false), { whenUnavailable: 'decline' }))).toEqual([]);
  });

  it('the look of an earlier attempt, but never while the next one is being screened', () => {
    const order = anOrder(unanswered(), { whenUnavailable: 'decline' });
    addAttempt(order, {}, sinceStart(MINUTE));
    expect(wanted(order)).toEqual([]);
    screen(order, answered('pass', 'second'));
    expect(wanted(order)).toEqual(['look-up']);
  });

  it('attention when that look meets a wrong key, once', () => {
    const order = anOrder(unanswered(), { whenUnavailable: 'decline' });
    const attempt = currentAttempt(order);
    expect(applyLookUp(order, attempt, { kind: 'forbidden' }, sinceStart(0))).toEqual(['order.attention']);
    expect(applyLookUp(order, attempt, { kind: 'forbidden' }, sinceStart(0))).toEqual([]);
    expect(wanted(order)).toEqual(['look-up']);
    applyLookUp(order, attempt, { kind: 'none' }, sinceStart(0));
    expect(attention(order)).toEqual([]);
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

  it('a read that the service did not answer to be tried again, until it is over', () => {
    const order = anOrder('pass');
    expect(wantedJobs(order, START, 'operator')).toMatchObject([{ kind: 'read', source: 'operator' }]);
    setPhase(order, 'canceled', sinceStart(0));
    expect(wantedJobs(order, START, 'operator')).toEqual([]);
  });

  it('only the gateway’s result and the card’s end done before it ends', () => {
    const order = anOrder('review', PRE);
    currentAttempt(order).cardRef = 'card-1';
    applyGatewayResult(order, { result: 'pass' }, sinceStart(0));
    expect(wanted(order)).toEqual(['poll', 'gateway', 'forget-card']);
    expect(
      wantedJobs(order, START)
        .filter(mustFinish)
        .map((job) => job.kind),
    ).toEqual(['gateway', 'forget-card']);
  });
});
