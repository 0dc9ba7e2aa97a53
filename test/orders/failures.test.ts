import { describe, expect, it } from 'vitest';
import { resumed } from '../../src/orders/kernel.ts';
import {
  answered,
  aPolicy,
  attention,
  DAY,
  HOUR,
  MINUTE,
  NOT_SENT,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { aLife, Life, RECHECK, screened } from './life.ts';

type Activity = 'poll' | 'gateway' | 'look-up' | 'catch-up' | 'portal' | 'read';

/** Returns an order of which this activity runs. */
function withRunning(kind: Activity): Life {
  if (kind === 'catch-up') return screened(unanswered(), { events: 'all' });
  if (kind === 'look-up') return screened(unanswered(), { whenUnavailable: 'decline', events: 'all' });
  const life = screened('review', { workflow: 'pre-gateway', events: 'all' });
  if (kind === 'gateway') life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
  if (kind === 'portal') life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 0);
  return kind === 'read' ? life.take(RECHECK) : life;
}

describe('an activity that fails for good', () => {
  it.each(['poll', 'gateway', 'look-up', 'catch-up', 'read'] as const)(
    '%s starts again after five minutes',
    (kind) => {
      const life = withRunning(kind);
      const { key } = life.find(kind).effect;
      life.break(kind);
      expect(life.underWay).not.toContain(key);
      expect(life.order.retryAt).toEqual({ [key]: sinceStart(5 * MINUTE) });
      life.until(5 * MINUTE - 1);
      expect(life.underWay).not.toContain(key);
      life.until(5 * MINUTE);
      expect(life.underWay).toContain(key);
      expect(life.order.retryAt).toEqual({});
    },
  );

  it('does not start again when it isn’t wanted any more', () => {
    const life = screened('review').break('poll').take(RECHECK);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'pass' } }, MINUTE);
    expect(life.underWay).toEqual([]);
    expect(life.order.retryAt).toEqual({});
  });

  it('pauses five minutes also where the order has learned no newer moment for days', () => {
    const life = screened('review').break('poll');
    expect(life.order.now).toBe(sinceStart(0));
    expect(life.calls('timer').at(-1)).toMatchObject({ at: sinceStart(5 * MINUTE), leastMs: 5 * MINUTE });
    expect(life.calls('timer')[0]).not.toHaveProperty('leastMs');
  });

  it('keeps its pause when the order continues as new', () => {
    const life = screened('review').break('poll');
    const again = new Life(resumed(structuredClone(life.order)));
    expect(again.underWay).toEqual([]);
    expect(again.until(5 * MINUTE).calls('poll')).toHaveLength(1);
  });

  it('by delivering gives these events up, and a person is told', () => {
    const life = screened('review', { events: 'all' });
    expect(life.outbox).toEqual(['order.decided']);
    life.break('deliver');
    expect(attention(life.order.state)).toEqual(['events-undelivered']);
    expect(life.outbox).toEqual([]);
    life.take(RECHECK);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'pass' } }, DAY);
    life.end({ kind: 'deliver' }, DAY);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.events).toMatchObject({ delivered: 1, waiting: 0 });
  });

  it('by delivering, which a person ended, keeps these events and sends them again after a pause', () => {
    const life = screened('review', { events: 'all' }).breakByHand('deliver');
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.events).toMatchObject({ delivered: 0, waiting: 1, paused: true });
    expect(life.until(5 * MINUTE).calls('deliver')).toHaveLength(2);
    life.end({ kind: 'deliver' }, 6 * MINUTE);
    expect(life.order.state.events).toMatchObject({ delivered: 1, waiting: 0 });
    expect(life.order.state.events).not.toHaveProperty('paused');
  });

  it('by deleting the card, which a person ended, deletes it again after a pause', () => {
    const life = screened('pass', {}, aLife({ cardRef: 'card-1' })).breakByHand('forget-card');
    expect(life.order.state.attempts[0]?.cardForgotten).toBeUndefined();
    expect(life.until(5 * MINUTE).calls('forget-card')).toHaveLength(2);
  });

  it('by deleting the card leaves it to the stash', () => {
    const life = screened('pass', {}, aLife({ cardRef: 'card-1' }));
    expect(life.underWay).toEqual(['forget-card:1']);
    expect(life.break('forget-card').underWay).toEqual([]);
  });

  it('by screening another attempt answers its checkout, and goes on in the background', () => {
    const life = screened('fail');
    const ticket = life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    life.break('retry-screening');
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { attempt: 2, decision: 'pending' } });
    expect(life.calls('catch-up')[0]?.request).toMatchObject({ unseenSince: sinceStart(MINUTE) });
  });
});

describe('a checkout that failed', () => {
  it('is answered without a decision, and the catch-up brings the policy', () => {
    const life = aLife({ answerBy: 9_000 });
    const ticket = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    life.checkOut(undefined);
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'pending', action: 'hold' } });
    expect(life.order.policyMissing).toBe(true);
    const [call] = life.calls('catch-up');
    expect(call?.request).toMatchObject({
      unseenSince: sinceStart(0),
      mayBeSkipped: true,
      policyMissing: true,
    });
    expect(call?.request).not.toHaveProperty('workflow');
    const policy = aPolicy({ workflow: 'pre-gateway', events: false });
    life.end({ kind: 'catch-up', outcome: answered('pass'), policy }, HOUR);
    expect(life.order).not.toHaveProperty('policyMissing');
    expect(life.order.state).toMatchObject({
      workflow: 'pre-gateway',
      decision: 'pass',
      phase: 'awaiting-gateway',
      policy,
    });
  });

  it('cancels nothing and sends no action until the policy is known; a passive one proceeds then', () => {
    const life = aLife().checkOut(undefined);
    expect(life.order.state.action).toBe('hold');
    const policy = aPolicy({ passive: true, workflow: 'post-acceptance' });
    life.end({ kind: 'catch-up', outcome: NOT_SENT, policy }, HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', wouldBe: 'hold' });
    expect(life.calls('catch-up').at(-1)?.request).not.toHaveProperty('policyMissing');
    life.end({ kind: 'catch-up', outcome: answered('fail') }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ action: 'proceed', wouldBe: 'cancel', actions: [] });
  });
});

describe('a wrong key', () => {
  it.each(['poll', 'gateway', 'look-up', 'catch-up', 'portal', 'read'] as const)(
    'met by the %s is reported once, and it begins anew, knowing that',
    (kind) => {
      const life = withRunning(kind);
      for (const at of [MINUTE, HOUR]) life.end({ kind, outcome: { kind: 'forbidden' } }, at);
      expect(attention(life.order.state)).toEqual(['wrong-key']);
      expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
      expect(life.calls(kind).map(({ request }) => request.forbiddenKnown)).toEqual([false, true, true]);
    },
  );

  it('stays open while nothing was sent with it', () => {
    const life = screened('review').end({ kind: 'poll', outcome: { kind: 'forbidden' } }, MINUTE);
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    life.ask({ kind: 'withdraw', request: { number: 1 } }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'not-sent' } }, HOUR);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
  });

  it('ends with the call that met it, however that ends', () => {
    const life = screened('review').end({ kind: 'poll', outcome: { kind: 'forbidden' } }, MINUTE);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(life.underWay).toEqual([]);
    expect(attention(life.order.state)).toEqual([]);
  });
});
