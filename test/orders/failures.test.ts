import { describe, expect, it } from 'vitest';
import type { Input } from '../../src/orders/order.ts';
import { aLife, type Life, screened } from './life.ts';
import { attention, DAY, HOUR, MINUTE, sinceStart, unanswered } from './support.ts';

const RECHECK: Input = { kind: 'signal', signal: 'recheck' };

function events({ order }: Life): string[] {
  return order.outbox.map(({ type }) => type);
}

describe('an activity that fails for good', () => {
  it.each(['poll', 'gateway', 'look-up', 'catch-up'] as const)(
    '%s is begun again after five minutes',
    (kind) => {
      const life =
        kind === 'catch-up'
          ? screened(unanswered())
          : kind === 'look-up'
            ? screened(unanswered(), { whenUnavailable: 'decline' })
            : screened('review', { workflow: 'pre-gateway' });
      if (kind === 'gateway') life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
      const { key } = life.find(kind).effect;
      life.break(kind);
      expect(life.underWay).toContain(`pause:${key}`);
      expect(life.underWay).not.toContain(key);
      expect(life.calls('pause')).toMatchObject([{ ms: 5 * MINUTE }]);
      life.end({ kind: 'pause' }, 5 * MINUTE);
      expect(life.underWay).toContain(key);
      expect(life.order.paused).toEqual([]);
    },
  );

  it.each(['look', 'retry-screening'] as const)(
    'by a worker without the integration’s settings refuses nothing that is screened already: %s',
    (kind) => {
      const life = screened(kind === 'look' ? 'review' : 'fail');
      if (kind === 'look') life.take(RECHECK);
      else life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
      const refused = { code: 'unknown-integration', message: 'no integration «default»' } as const;
      life.take({ kind: 'end', number: life.find(kind).number, end: { how: 'failed', refused } });
      expect(life.order.refused).toBeUndefined();
      expect(life.find(kind === 'look' ? 'read' : 'catch-up')).toBeDefined();
    },
  );

  it('is not begun again when it isn’t wanted any more', () => {
    const life = screened('review').break('poll').take(RECHECK);
    life.end({ kind: 'look', outcome: { kind: 'read', decision: 'pass' } }, MINUTE);
    expect(life.underWay).toEqual([]);
    expect(life.order.paused).toEqual([]);
  });

  it('by delivering gives these events up, and a person is told', () => {
    const life = screened('review', { events: 'all' });
    expect(events(life)).toEqual(['order.decided']);
    life.break('deliver');
    expect(attention(life.order.state)).toEqual(['events-undelivered']);
    expect(events(life)).toEqual([]);
    life.take({ kind: 'signal', signal: 'recheck' });
    life.end({ kind: 'look', outcome: { kind: 'read', decision: 'pass' } }, DAY);
    life.end({ kind: 'deliver' }, DAY);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.events).toMatchObject({ delivered: 1, waiting: 0 });
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

describe('a wrong key', () => {
  it.each(['poll', 'gateway', 'look-up', 'catch-up', 'portal', 'read'] as const)(
    'met by the %s is reported once, and it begins anew, knowing that',
    (kind) => {
      const life =
        kind === 'catch-up'
          ? screened(unanswered(), { events: 'all' })
          : kind === 'look-up'
            ? screened(unanswered(), { whenUnavailable: 'decline', events: 'all' })
            : screened('review', { workflow: 'pre-gateway', events: 'all' });
      if (kind === 'gateway') life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
      if (kind === 'portal') life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 0);
      if (kind === 'read') life.take(RECHECK).end({ kind: 'look', outcome: { kind: 'unanswered' } }, 0);
      for (const at of [MINUTE, HOUR]) life.end({ kind, outcome: { kind: 'forbidden' } }, at);
      expect(attention(life.order.state)).toEqual(['wrong-key']);
      expect(events(life).filter((type) => type === 'order.attention')).toHaveLength(1);
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
});
