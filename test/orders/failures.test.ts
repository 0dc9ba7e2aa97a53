import { describe, expect, it } from 'vitest';
import {
  answered,
  aPolicy,
  DAY,
  HOUR,
  MINUTE,
  NOT_SENT,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { aLife, type Life, RECHECK, screened } from './life.ts';

const RETRIED = ['poll', 'gateway', 'look-up', 'catch-up', 'read'] as const;
type Activity = (typeof RETRIED)[number] | 'portal';
const FORBIDDEN = { kind: 'forbidden' } as const;

/** Returns an order of which this activity runs. */
function withRunning(kind: Activity): Life {
  if (kind === 'catch-up') return screened(unanswered(), { events: 'all' });
  if (kind === 'look-up') return screened(unanswered(), { whenUnavailable: 'decline', events: 'all' });
  const life = screened('review', { workflow: 'pre-gateway', events: 'all' });
  if (kind === 'gateway') life.gateway('pass', 0);
  if (kind === 'portal') life.portal('report-fraud', 0);
  return kind === 'read' ? life.take(RECHECK) : life;
}

const withCard = () => screened('pass', {}, aLife({ cardRef: 'card-1' }));

describe('an activity that fails for good', () => {
  it.each(RETRIED)('%s starts again after five minutes', (kind) => {
    const life = withRunning(kind);
    const { key } = life.find(kind).effect;
    life.break(kind);
    expect(life.order.retryAt).toEqual({ [key]: sinceStart(5 * MINUTE) });
    expect(life.until(5 * MINUTE - 1).underWay).not.toContain(key);
    expect(life.until(5 * MINUTE).underWay).toContain(key);
    expect(life.order.retryAt).toEqual({});
  });

  it('does not start again when it isn’t wanted any more', () => {
    const life = screened('review').break('poll').take(RECHECK).read('pass', MINUTE);
    expect([life.underWay, life.order.retryAt]).toEqual([[], {}]);
  });

  it('pauses five minutes also where the order has learned no newer moment for days', () => {
    const life = screened('review').break('poll');
    expect(life.order.now).toBe(sinceStart(0));
    expect(life.calls('timer').at(-1)).toMatchObject({ at: sinceStart(5 * MINUTE), leastMs: 5 * MINUTE });
    expect(life.calls('timer')[0]).not.toHaveProperty('leastMs');
  });

  it('keeps its pause when the order continues as new', () => {
    const again = screened('review').break('poll').continued();
    expect(again.underWay).toEqual([]);
    expect(again.until(5 * MINUTE).calls('poll')).toHaveLength(1);
  });

  it('by delivering gives these events up, and a person is told', () => {
    const life = screened('review', { events: 'all' });
    expect(life.outbox).toEqual(['order.decided']);
    life.break('deliver');
    expect([life.attention, life.outbox]).toEqual([['events-undelivered'], []]);
    life.take(RECHECK).read('pass', DAY).end({ kind: 'deliver' }, DAY);
    expect(life.state).toMatchObject({ attention: [], events: { delivered: 1, waiting: 0 } });
  });

  it('by delivering, which a person ended, keeps these events and sends them again after a pause', () => {
    const life = screened('review', { events: 'all' }).break('deliver', 'by-hand');
    expect(life.state).toMatchObject({ attention: [], events: { delivered: 0, waiting: 1, paused: true } });
    expect(life.until(5 * MINUTE).calls('deliver')).toHaveLength(2);
    life.end({ kind: 'deliver' }, 6 * MINUTE);
    expect(life.state.events).toMatchObject({ delivered: 1, waiting: 0 });
    expect(life.state.events).not.toHaveProperty('paused');
  });

  it('by deleting the card leaves it to the stash, but deletes it again where a person ended it', () => {
    expect(withCard().underWay).toEqual(['forget-card:1']);
    expect(
      withCard()
        .break('forget-card')
        .until(5 * MINUTE)
        .calls('forget-card'),
    ).toHaveLength(1);
    const ended = withCard().break('forget-card', 'by-hand');
    expect(ended.state.attempts[0]?.cardForgotten).toBeUndefined();
    expect(ended.until(5 * MINUTE).calls('forget-card')).toHaveLength(2);
  });

  it('by screening another attempt answers its checkout, and goes on in the background', () => {
    const life = screened('fail');
    const ticket = life.retry(2, MINUTE);
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
    const request = life.calls('catch-up')[0]?.request;
    const unread = { mayBeSkipped: true, policyMissing: true };
    expect(request).toMatchObject({ unseenSince: sinceStart(0), ...unread });
    expect(request).not.toHaveProperty('workflow');
    const policy = aPolicy({ workflow: 'pre-gateway', events: false });
    life.caughtUp('pass', HOUR, policy);
    expect(life.order).not.toHaveProperty('policyMissing');
    const { workflow } = policy;
    expect(life.state).toMatchObject({ workflow, decision: 'pass', phase: 'awaiting-gateway', policy });
  });

  it('cancels nothing and sends no action until the policy is known; a passive one proceeds then', () => {
    const life = aLife().checkOut(undefined);
    life.caughtUp(NOT_SENT, HOUR, aPolicy({ passive: true, workflow: 'post-acceptance' }));
    expect(life.state).toMatchObject({ action: 'proceed', wouldBe: 'hold' });
    expect(life.calls('catch-up').at(-1)?.request).not.toHaveProperty('policyMissing');
    life.caughtUp(answered('fail'), 2 * HOUR);
    expect(life.state).toMatchObject({ action: 'proceed', wouldBe: 'cancel', actions: [] });
  });
});

describe('a wrong key', () => {
  it.each([...RETRIED, 'portal'] as const)(
    'met by the %s is reported once, and it begins anew, knowing that',
    (kind) => {
      const life = withRunning(kind);
      for (const at of [MINUTE, HOUR]) life.end({ kind, outcome: FORBIDDEN }, at);
      expect(life.attention).toEqual(['wrong-key']);
      expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
      expect(life.calls(kind).map(({ request }) => request.forbiddenKnown)).toEqual([false, true, true]);
    },
  );

  it('stays open while nothing was sent with it, and ends with the call that met it', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, MINUTE);
    life.portal('report-fraud');
    life.withdraw(1);
    expect(life.portalEnds('not-sent').attention).toEqual(['wrong-key']);
    life.portal('cancel');
    expect(life.portalEnds('done').attention).toEqual([]);
    expect(life.underWay).toEqual([]);
  });
});
