import { describe, expect, it } from 'vitest';
import { aPolicy, DAY, HOUR, MINUTE, NOT_SENT, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, RECHECK, screened } from './life.ts';

const FORBIDDEN = { kind: 'forbidden' } as const;
const ALL = { events: 'all' } as const;
const PRE = { workflow: 'pre-gateway', ...ALL } as const;

/** For each activity an order of which it runs. */
const RUNNING = {
  poll: () => screened('review', ALL),
  gateway: () => screened('pass', PRE).gateway('pass', 0),
  'look-up': () => screened(unanswered(), { whenUnavailable: 'decline', ...ALL }),
  'catch-up': () => screened(unanswered(), ALL),
  read: () => screened('pass', ALL).take(RECHECK),
  portal: () => screened('pass', ALL).portal('report-fraud', 0),
} satisfies Record<string, () => Life>;

const withCard = () => screened('pass', {}, aLife({ cardRef: 'card-1' }));

describe('an activity that fails for good', () => {
  it.each(['poll', 'gateway', 'look-up', 'catch-up', 'read'] as const)(
    '%s starts again after five minutes',
    (kind) => {
      const life = RUNNING[kind]();
      const { key } = life.find(kind).effect;
      life.break(kind);
      expect(life.order.retryAt).toEqual({ [key]: sinceStart(5 * MINUTE) });
      expect(life.until(5 * MINUTE - 1).underWay).not.toContain(key);
      expect(life.until(5 * MINUTE).underWay).toContain(key);
      expect(life.order.retryAt).toEqual({});
    },
  );

  it('pauses five minutes also where the order has learned no newer moment, or continues as new', () => {
    const life = screened('review').break('poll');
    expect(life.calls('timer').at(-1)).toMatchObject({ at: sinceStart(5 * MINUTE), leastMs: 5 * MINUTE });
    expect(life.calls('timer')[0]).not.toHaveProperty('leastMs');
    const again = life.continued();
    expect(again.underWay).toEqual([]);
    expect(again.until(5 * MINUTE).calls('poll')).toHaveLength(1);
  });

  it('by deleting the card leaves it to the stash, but deletes it again where a person ended it', () => {
    expect(
      withCard()
        .break('forget-card')
        .until(5 * MINUTE)
        .calls('forget-card'),
    ).toHaveLength(1);
    const ended = withCard()
      .break('forget-card', 'by-hand')
      .until(5 * MINUTE);
    expect(ended.calls('forget-card')).toHaveLength(2);
  });

  it('by screening another attempt answers its checkout, and is caught up once it can’t send a create any more', () => {
    const life = screened('fail', { whenUnavailable: 'proceed' }).retry(2, MINUTE).break('retry-screening');
    const checkout = { attempt: 2, decision: 'pending', action: 'hold' };
    expect(life.replies).toMatchObject([{ checkout }]);
    expect(life.calls('catch-up')).toEqual([]);
    life.until(MINUTE + 10_000);
    expect(life.calls('catch-up')[0]?.request).toMatchObject({ unseenSince: sinceStart(MINUTE) });
  });
});

describe('a checkout that failed', () => {
  it('is answered without a decision, and the catch-up brings the policy', () => {
    const life = aLife().checkOut(undefined);
    expect(life.checkout()).toMatchObject({ checkout: { decision: 'pending', action: 'hold' } });
    const request = life.calls('catch-up')[0]?.request;
    const unread = { mayBeSkipped: true, policyMissing: true };
    expect(request).toMatchObject({ unseenSince: sinceStart(0), ...unread });
    expect(request).not.toHaveProperty('workflow');
    const policy = aPolicy({ workflow: 'pre-gateway', events: false });
    life.caughtUp('pass', HOUR, policy);
    expect(life.order).not.toHaveProperty('policyMissing');
    expect(life).toMatchObject({ decision: 'pass', phase: 'awaiting-gateway' });
    expect(life.state).toMatchObject({ workflow: 'pre-gateway', policy });
  });

  it('keeps the workflow that its request named, which the policy follows', () => {
    const life = aLife({ workflow: 'post-acceptance' }).checkOut(undefined);
    expect(life.calls('catch-up')[0]?.request).toMatchObject({ workflow: 'post-acceptance' });
  });

  it('goes on after the deadline until it has the policy, and only then is its create looked up', () => {
    const life = aLife().checkOut(undefined).until(DAY);
    const request = { attempt: 2, transaction: {} };
    expect(life.ask({ kind: 'retry', request }, DAY)).toMatchObject({ decision: 'error', told: ['busy'] });
    life.break('catch-up').until(DAY + 5 * MINUTE);
    const policy = aPolicy({ events: false, cancelWindowMs: 2 * DAY });
    expect(life.caughtUp(unanswered(), DAY + HOUR, policy).state).toMatchObject({
      decision: 'error',
      policy,
    });
    expect(life.calls('look-up')).toHaveLength(1);
    expect(life.lookedUp('pass', DAY + 2 * HOUR).decision).toBe('pass');
    expect(life.checkout()).toMatchObject({ checkout: { cancelBy: sinceStart(2 * DAY) } });
  });

  it('is screened again after a recheck, also if the policy comes only then', () => {
    const life = aLife().checkOut(undefined).until(DAY).take(RECHECK);
    life.end({ kind: 'read', outcome: undefined }, DAY + MINUTE);
    expect(life.phase).toBe('screening');
    life.caughtUp(unanswered(), DAY + 2 * MINUTE, aPolicy());
    expect([life.phase, life.underWay]).toEqual([
      'screening',
      [expect.stringMatching('deliver:'), 'catch-up:1:1'],
    ]);
  });

  it('that has no policy a day after its end is given up, also if it comes then', () => {
    const life = aLife()
      .checkOut(undefined)
      .until(6 * DAY - 1);
    expect([life.phase, life.attention]).toEqual(['closed', ['no-decision']]);
    const { id } = life.until(6 * DAY).find('catch-up');
    expect(life.commands.at(-1)).toEqual({ do: 'cancel', id });
    life.caughtUp(unanswered(), 6 * DAY + 1, aPolicy());
    expect(life).toMatchObject({ attention: ['no-decision', 'transaction-unseen'], order: { over: true } });
    expect(life.calls('look-up')).toEqual([]);
  });

  it('cancels nothing and sends no action until the policy is known; a passive one proceeds then', () => {
    const life = aLife().checkOut(undefined);
    life.caughtUp(NOT_SENT, HOUR, aPolicy({ passive: true, workflow: 'post-acceptance' }));
    expect(life.state).toMatchObject({ action: 'proceed', wouldBe: 'hold' });
    expect(life.calls('catch-up').at(-1)?.request).not.toHaveProperty('policyMissing');
    const { state } = life.caughtUp('fail', 2 * HOUR);
    expect(state).toMatchObject({ action: 'proceed', wouldBe: 'cancel', actions: [] });
  });
});

describe('a wrong key', () => {
  it.each(Object.keys(RUNNING) as (keyof typeof RUNNING)[])(
    'met by the %s is reported once, and it begins anew, knowing that',
    (kind) => {
      const life = RUNNING[kind]();
      const isKnown = () => life.find(kind).effect.forbiddenKnown;
      const before = isKnown();
      const known = [MINUTE, HOUR].map((at) => life.end({ kind, outcome: FORBIDDEN }, at) && isKnown());
      expect(life.attention).toEqual(['wrong-key']);
      expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
      expect([before, ...known]).toEqual([false, true, true]);
    },
  );

  it('that a read of the same transaction no longer meets is no longer known to the poll', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, MINUTE).take(RECHECK);
    expect(life.find('poll').effect.forbiddenKnown).toBe(true);
    life.read('review', HOUR);
    expect([life.attention, life.find('poll').effect.forbiddenKnown]).toEqual([[], false]);
    expect(life.end({ kind: 'poll', outcome: FORBIDDEN }, 2 * HOUR).attention).toEqual(['wrong-key']);
  });

  it('that an action meets whose withdrawal ends it is told to nobody', () => {
    const life = screened('pass', ALL).portal('report-fraud').withdraw(1);
    const { outbox } = life;
    expect(life.portalEnds('forbidden')).toMatchObject({ attention: [], outbox });
  });

  it('stays open while nothing was sent with it, and ends with the call that met it', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, MINUTE);
    life.portal('report-fraud').withdraw(1).portalEnds('not-sent');
    expect(life.attention).toEqual(['wrong-key']);
    expect(life.portal('cancel').portalEnds('done')).toMatchObject({ attention: [], underWay: [] });
  });
});
