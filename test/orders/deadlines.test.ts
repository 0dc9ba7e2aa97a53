import { describe, expect, it } from 'vitest';
import type { Policy } from '../../src/contract/policy.ts';
import type { OrderState } from '../../src/contract/state.ts';
import type { Decision } from '../../src/contract/words.ts';
import { applyReading } from '../../src/orders/apply-reading.ts';
import { applyGatewayResult } from '../../src/orders/concerns/gateway.ts';
import { nextDeadline } from '../../src/orders/deadlines.ts';
import { applyPortalOutcome, queueAction } from '../../src/orders/portal-records.ts';
import { setPhase } from '../../src/orders/record.ts';
import {
  aNewOrder,
  anOrder,
  answered,
  attention,
  DAY,
  HOUR,
  lifeOf,
  MINUTE,
  next,
  passUntil,
  screen,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';

function read(order: OrderState, decision: Decision, at: number): void {
  applyReading(order, { kind: 'read', decision }, 'poll', sinceStart(at));
}

describe('what happens by itself', () => {
  it('to a pass: it is read once more half a day before the window closes, and closed with it', () => {
    const order = anOrder('pass');
    expect(lifeOf(order)).toEqual([
      ['recheck', 4.5 * DAY],
      ['window-closes', 5 * DAY],
    ]);
    expect(order).toMatchObject({ phase: 'closed', decision: 'pass', action: 'proceed' });
  });

  it('to a pass: it isn’t read again when it was read as late as that, or the policy turns it off, or is passive', () => {
    const late = anOrder('review');
    read(late, 'pass', 4.6 * DAY);
    expect(next(late).kind).toBe('window-closes');
    expect(next(anOrder('pass', { recheckLeadTimeMs: 0 })).kind).toBe('window-closes');
    expect(next(anOrder('pass', { passive: true })).kind).toBe('window-closes');
  });

  it('to a review: attention half a day before the window closes, and the end after 30 days', () => {
    const order = anOrder('review');
    const lead = next(order);
    expect(lead).toMatchObject({
      kind: 'review-lead',
      at: 4.5 * DAY,
      follows: { events: ['order.attention'] },
    });
    expect(lead.follows.cancel).toBe(false);
    expect(order).toMatchObject({ phase: 'review', action: 'hold' });
    expect(next(order)).toMatchObject({
      kind: 'review-limit',
      at: 30 * DAY,
      follows: { events: ['order.attention'] },
    });
    expect(order).toMatchObject({ phase: 'closed', action: 'hold', endedAt: expect.any(String) });
    expect(attention(order)).toEqual(['review-unresolved', 'review-limit']);
  });

  it('to a review that the policy cancels: a cancel with the service, whatever autoCancel says', () => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel', autoCancel: false });
    expect(next(order).follows).toEqual({
      kinds: ['review-lead', 'cancel-reminder'],
      events: ['order.attention'],
      cancel: true,
      read: false,
    });
    expect(order).toMatchObject({ phase: 'decided', decision: 'review', action: 'cancel' });
    expect(order.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
  });

  it('to a review that the policy cancels while somebody’s cancel is under way: no second one', () => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel' });
    queueAction(order, { kind: 'cancel' }, 'caller', sinceStart(4 * DAY));
    expect(next(order).follows.cancel).toBe(false);
    expect(order).toMatchObject({ phase: 'decided', action: 'cancel' });
  });

  it('to a review in passive mode: attention, never a cancel', () => {
    const order = anOrder('review', { onUnresolvedReview: 'cancel', passive: true });
    expect(next(order).follows.cancel).toBe(false);
    expect(order.action).toBe('proceed');
  });

  it.each([
    ['after the window', 7 * DAY],
    ['between its last call and its end', 5 * DAY - 10_000],
  ])('to a review that fails %s: it is closed at once, without a reminder', (_when, at) => {
    const order = anOrder('review');
    next(order);
    read(order, 'fail', at);
    const { kinds } = passUntil(order, sinceStart(Math.max(at, 5 * DAY)), sinceStart(at));
    expect(kinds).toEqual(['cancel-reminder', 'window-closes']);
    expect(attention(order)).toEqual(['failed-after-window']);
  });

  it('to a declined order: it is closed after an hour', () => {
    const order = anOrder('fail');
    expect(lifeOf(order)).toEqual([['retry-over', HOUR]]);
    expect(order).toMatchObject({ phase: 'closed', action: 'decline' });
  });

  it('to a fail after acceptance that nobody cancels: attention, then the end of the window', () => {
    const order = anOrder('fail', { workflow: 'post-acceptance', autoCancel: false });
    expect(lifeOf(order)).toEqual([
      ['cancel-reminder', 4.5 * DAY],
      ['window-closes', 5 * DAY],
    ]);
    expect(attention(order)).toEqual(['cancel-due']);
  });

  it('to a fail after acceptance whose cancel was asked in the last half day: nobody is reminded of it', () => {
    const order = anOrder('review', { workflow: 'post-acceptance' });
    next(order);
    read(order, 'fail', 4.7 * DAY);
    queueAction(order, { kind: 'cancel' }, 'policy', sinceStart(4.7 * DAY));
    expect(next(order)).toMatchObject({ kind: 'cancel-reminder', follows: { events: [] } });
    expect(attention(order)).toEqual([]);
  });

  it('to a skipped order: nothing, it is closed', () => {
    const order = anOrder({ kind: 'skipped', rule: 2 });
    expect(lifeOf(order)).toEqual([['nothing-left', 0]]);
    expect(order).toMatchObject({ phase: 'closed', decision: 'skipped', action: 'proceed' });
  });

  it('to a skipped order before the gateway: its result is waited for, for a day', () => {
    expect(lifeOf(anOrder({ kind: 'skipped', rule: 0 }, { workflow: 'pre-gateway' }))).toEqual([
      ['gateway-over', DAY],
    ]);
    const told = anOrder({ kind: 'skipped', rule: 0 }, { workflow: 'pre-gateway' });
    applyGatewayResult(told, { result: 'pass' }, sinceStart(HOUR));
    expect(next(told).kind).toBe('nothing-left');
    expect(told.attempts[0]?.gateway).toMatchObject({ result: 'pass', sent: 'recorded' });
  });

  it('to an order canceled before anybody was told to go to the gateway: nothing, no result is waited for', () => {
    const order = anOrder('review', { workflow: 'pre-gateway', reviewBeforeGateway: 'hold' });
    const record = queueAction(order, { kind: 'cancel' }, 'caller', sinceStart(HOUR));
    applyPortalOutcome(order, record, { kind: 'done' }, sinceStart(HOUR));
    expect(lifeOf(order)).toEqual([['nothing-left', HOUR]]);
  });

  it('to an order whose gateway says nothing: attention after a day, once', () => {
    const order = anOrder('pass', { workflow: 'pre-gateway' });
    expect(lifeOf(order)).toEqual([
      ['gateway-late', DAY],
      ['recheck', 4.5 * DAY],
      ['window-closes', 5 * DAY],
    ]);
    expect(attention(order)).toEqual(['gateway-late']);
  });

  it('to a pass that turns into a review after the lead time: attention at once, and again after each turn', () => {
    const order = anOrder('pass');
    read(order, 'review', 4.8 * DAY);
    expect(next(order).follows.events).toEqual(['order.attention']);
    read(order, 'pass', 4.85 * DAY);
    expect(attention(order)).toEqual([]);
    read(order, 'review', 4.9 * DAY);
    expect(next(order).follows.events).toEqual(['order.attention']);
  });

  it('before the first answer, and after the end: nothing', () => {
    const unscreened = aNewOrder();
    expect(nextDeadline(unscreened)).toBeUndefined();
    const closed = anOrder('pass');
    setPhase(closed, 'closed', sinceStart(0));
    expect(nextDeadline(closed)).toBeUndefined();
  });

  const policies: Partial<Policy>[] = [
    {},
    { passive: true },
    { autoCancel: false },
    { onUnresolvedReview: 'cancel' },
    { whenUnavailable: 'proceed' },
    { whenUnavailable: 'decline' },
    { cancelWindowMs: 10_000 },
    { screeningDeadlineMs: 7 * DAY },
    { rescreenOnError: { tries: 0, pauseMs: MINUTE } },
  ];
  for (const workflow of ['pre-gateway', 'pre-acceptance', 'post-acceptance'] as const) {
    it.each(policies)(
      `ends in ${workflow} with %o, whatever the decision, when nobody does anything`,
      (policy) => {
        for (const decision of ['pass', 'fail', 'review', 'fraudulent', 'error'] as const) {
          const order = anOrder(decision, { ...policy, workflow });
          lifeOf(order);
          expect(['closed', 'canceled']).toContain(order.phase);
        }
        const pending = anOrder(unanswered(), { ...policy, workflow });
        lifeOf(pending);
        expect(pending.phase).toBe('closed');
      },
    );
  }

  it('again for another attempt, whose deadlines are its own', async () => {
    const { addAttempt } = await import('../../src/orders/record.ts');
    const order = anOrder('fail');
    addAttempt(order, {}, sinceStart(30 * MINUTE));
    screen(order, answered('fail', 'second'), 30 * MINUTE);
    expect(lifeOf(order)).toEqual([['retry-over', 90 * MINUTE]]);
  });
});
