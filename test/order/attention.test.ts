import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { HINT, RECHECK, screened } from './life.ts';

const FORBIDDEN = { kind: 'forbidden' } as const;

describe('a wrong key that a cancel met', () => {
  const refusedByKey = () => screened('review').polled('fail', HOUR).portalEnds('forbidden');

  it('stands although a read succeeds', () => {
    const life = refusedByKey()
      .take(RECHECK)
      .read('fail', 2 * HOUR);
    expect(life.attention).toEqual(['wrong-key']);
    expect(life.find('portal').effect.forbiddenKnown).toBe(true);
    expect(life.underWay).toContain('portal:1');
  });

  it('ends when the cancel succeeds or is withdrawn', () => {
    expect(refusedByKey().portalEnds({ kind: 'done', code: '200' }).attention).toEqual([]);
    const withdrawn = refusedByKey().withdraw(1).portalEnds('not-sent');
    expect(withdrawn).toMatchObject({ told: ['withdrawn'], attention: [] });
  });

  it('is another matter than the wrong key of a read: each ends with its own call', () => {
    const life = refusedByKey()
      .take(RECHECK)
      .end({ kind: 'read', outcome: FORBIDDEN }, 2 * HOUR);
    expect(life.attention).toEqual(['wrong-key', 'wrong-key']);
    life.read('fail', 3 * HOUR);
    expect(life.state.attention).toMatchObject([{ cause: { operation: 'cancel', action: 1 } }]);
  });
});

it('attention to a missing gateway result ends when the order is canceled', () => {
  const life = screened('pass', { workflow: 'pre-gateway' }).until(DAY);
  expect(life.attention).toEqual(['gateway-late']);
  expect(life.portal('cancel', DAY).portalEnds('done', DAY).attention).toEqual([]);
});

describe('an order that is over', () => {
  it('ends a day later although the gateway’s result is never accepted, and a person is told', () => {
    const life = screened('pass', { workflow: 'pre-gateway', events: 'all' }).gateway('pass', MINUTE);
    expect(life.until(6 * DAY - 1)).toMatchObject({ phase: 'closed', attention: [] });
    expect(life.order.over).toBeUndefined();
    life.until(6 * DAY).break('gateway', 'canceled');
    expect(life.attention).toEqual(['gateway-not-sent']);
    expect(life.state.attempts[0]?.gateway?.sent).toBe('not-sent');
    expect(life.order.over).toBe(true);
    expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
    // It still runs, so it can be acknowledged.
    expect(life.acknowledge(7 * DAY).replies.at(-1)).toEqual({ cleared: 1 });
    expect(life.state).toMatchObject({ attention: [], journal: [{ what: 'acknowledge', because: 'seen' }] });
  });

  it('says nothing of a gateway’s result that was sent when it gives up a lookup', () => {
    const life = screened(unanswered(), { workflow: 'pre-gateway', whenUnavailable: 'decline' });
    life.retry(2, MINUTE).retried('pass', MINUTE).gateway('pass', MINUTE, 2);
    life.end({ kind: 'gateway', outcome: { kind: 'sent' } }, 2 * MINUTE).until(7 * DAY);
    expect(life.attention).toEqual(['transaction-unseen']);
  });

  it('ends a day later although a lookup is never answered, and a person is told', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' }).until(HOUR + DAY - 1);
    expect(life).toMatchObject({ phase: 'closed', attention: [], underWay: ['look-up:1'] });
    expect(life.until(HOUR + DAY)).toMatchObject({
      attention: ['transaction-unseen'],
      order: { over: true },
    });
    expect(life.state.attention[0]?.words).toContain('invoice number order-1 ');
  });

  it('looks a transaction up for longer than a day while a cancel waits for it', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' }).portal('cancel', MINUTE);
    expect(life.until(4 * DAY)).toMatchObject({ attention: [], underWay: ['look-up:1'] });
    expect(life.lookedUp('fail', 4 * DAY).underWay).toEqual(['portal:1']);
  });
});

describe('an acknowledge', () => {
  it('is refused while a deadline is ahead', () => {
    const life = screened('review').until(4.5 * DAY);
    expect(life.attention).toEqual(['review-unresolved']);
    life
      .acknowledge(4.6 * DAY)
      .acknowledge(5 * DAY)
      .acknowledge(5 * DAY);
    const refusal = expect.objectContaining({ code: 'attention-stands' });
    expect(life.replies).toEqual([{ refusal }, { cleared: 1 }, { cleared: 0 }]);
  });

  it('is refused while an answer without a decision is read again, until the window closes', () => {
    const outcome = { kind: 'unreadable', words: 'no known decision' } as const;
    const life = screened('pass').take(HINT).end({ kind: 'read', outcome }, HOUR);
    life.acknowledge(2 * HOUR);
    expect(life.replies).toEqual([{ refusal: expect.objectContaining({ code: 'attention-stands' }) }]);
    expect(life.calls('last-read')).toHaveLength(1);
    expect(life.underWay).toEqual([expect.stringContaining('last-read')]);
  });

  it('resolves what a deadline of a passive order raised, which nobody can decide or cancel', () => {
    const passive = { passive: true, workflow: 'pre-gateway' } as const;
    const life = screened('review', passive).until(4.6 * DAY);
    expect(life.attention).toEqual(['gateway-late', 'review-unresolved']);
    expect(life.override('proceed', 4.6 * DAY).portal('cancel', 4.6 * DAY).told).toEqual([
      'passive',
      'passive',
    ]);
    expect(life.acknowledge(4.6 * DAY).replies.at(-1)).toEqual({ cleared: 2 });
  });

  it('resolves what may be resolved, and leaves the rest', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, HOUR);
    life.portal('report-fraud').portalEnds({ kind: 'refused', code: '400' });
    expect(life.attention).toEqual(['wrong-key', 'portal-refused']);
    life.acknowledge(2 * HOUR).acknowledge(3 * HOUR);
    expect(life.told.slice(1)).toEqual(['answered', 'attention-stands']);
    expect(life.attention).toEqual(['wrong-key']);
  });

  it('with a time leaves what was raised after it: the person hasn’t seen it', () => {
    const life = screened('review');
    const refuse = (kind: 'report-fraud' | 'customer-code', at: number) =>
      life.portal(kind, at).portalEnds({ kind: 'refused', code: '400' }, at);
    const seen = (at: number) =>
      life.ask({ kind: 'acknowledge', request: { reason: 'seen', until: sinceStart(at) } }, 4 * HOUR);
    refuse('report-fraud', HOUR);
    const since = life.state.attention[0]?.since;
    refuse('customer-code', 2 * HOUR);
    expect(seen(HOUR).replies.at(-1)).toEqual({ cleared: 1 });
    expect(life.state.attention).toMatchObject([{ since: sinceStart(2 * HOUR) }]);
    expect([since, seen(HOUR).told.at(-1)]).toEqual([sinceStart(HOUR), 'attention-stands']);
    expect(seen(2 * HOUR).attention).toEqual([]);
  });
});

describe('attention', () => {
  it('to a decision after an override ends when the order is canceled', () => {
    const life = screened('review')
      .override('proceed', HOUR)
      .take(HINT)
      .read('fail', 2 * HOUR);
    life.portal('cancel', 3 * HOUR).portalEnds('done', 3 * HOUR);
    expect([life.phase, life.attention]).toEqual(['canceled', []]);
  });

  it('asks for no decision where a person has decided', () => {
    const life = screened(unanswered()).override('proceed', HOUR).until(DAY);
    expect([life.action, life.attention]).toEqual(['proceed', []]);
  });

  it('to a status that is no longer read can be acknowledged', () => {
    const life = screened('review', { workflow: 'pre-gateway', reviewBeforeGateway: 'proceed' });
    life.end({ kind: 'poll', outcome: { kind: 'unreadable', words: 'no' } }, MINUTE);
    life.gateway('fail', 2 * MINUTE).acknowledge(3 * MINUTE);
    expect([life.told, life.attention]).toEqual([['answered', 'answered'], []]);
  });

  it('is raised where a fail is found after the end of an order that a person let proceed', () => {
    const life = screened(unanswered()).override('proceed', HOUR).until(DAY);
    life
      .break('catch-up', 'canceled')
      .until(5 * DAY + HOUR)
      .acknowledge(5 * DAY + HOUR);
    expect(life.lookedUp('fail', 5 * DAY + HOUR).attention).not.toEqual([]);
  });
});
