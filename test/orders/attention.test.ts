import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { type Life, RECHECK, screened } from './life.ts';

const FORBIDDEN = { kind: 'forbidden' } as const;
const PRE = { workflow: 'pre-gateway', events: 'all' } as const;

/** Resolves what may be resolved. @returns how much, or the code of the refusal */
function acknowledge(life: Life, at: number): number | string | undefined {
  const ask = { kind: 'acknowledge' as const, request: { reason: 'seen' } };
  const refused = refusalOf(life.order, ask, sinceStart(at));
  if (refused !== undefined) return refused.code;
  const reply = life.replies.get(life.ask(ask, at));
  return reply !== undefined && 'cleared' in reply ? reply.cleared : undefined;
}

describe('a wrong key that a cancel met', () => {
  const refusedByKey = () => screened('review').polled('fail', HOUR).portalEnds('forbidden');

  it('stands although a read succeeds', () => {
    const life = refusedByKey();
    expect(life.attention).toEqual(['wrong-key']);
    expect(life.calls('portal').at(-1)?.request.forbiddenKnown).toBe(true);
    life.take(RECHECK).read('fail', 2 * HOUR);
    expect(life.attention).toEqual(['wrong-key']);
    expect(life.underWay).toContain('portal:1');
  });

  it('ends when the cancel succeeds or is withdrawn', () => {
    expect(refusedByKey().portalEnds({ kind: 'done', code: '200' }).attention).toEqual([]);
    const life = refusedByKey();
    const ticket = life.withdraw(1);
    life.portalEnds('not-sent');
    expect([life.told(ticket), life.attention]).toEqual(['withdrawn', []]);
  });

  it('is another matter than the wrong key of a read: each ends with its own call', () => {
    const life = refusedByKey().take(RECHECK);
    life.end({ kind: 'read', outcome: FORBIDDEN }, 2 * HOUR);
    expect(life.attention).toEqual(['wrong-key', 'wrong-key']);
    life.read('fail', 3 * HOUR);
    expect(life.state.attention).toMatchObject([{ cause: { operation: 'cancel', action: 1 } }]);
  });
});

describe('an order that is over', () => {
  it('ends a day later although the gateway’s result is never accepted, and a person is told', () => {
    const life = screened('pass', PRE);
    life.gateway('pass', MINUTE);
    life.until(6 * DAY - 1);
    expect(life.state).toMatchObject({ phase: 'closed', attention: [] });
    expect(life.order.over).toBeUndefined();
    life.until(6 * DAY).break('gateway', 'canceled');
    expect(life.attention).toEqual(['gateway-not-sent']);
    expect(life.state.attempts[0]?.gateway?.sent).toBe('given-up');
    expect(life.order.over).toBe(true);
    expect(life.outbox.filter((type) => type === 'order.attention')).toHaveLength(1);
    // It still runs, so it can be acknowledged.
    expect(acknowledge(life, 7 * DAY)).toBe(1);
    expect(life.state).toMatchObject({ attention: [], journal: [{ what: 'acknowledge', because: 'seen' }] });
  });

  it('ends a day later although a lookup is never answered, and a person is told', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' }).until(HOUR + DAY - 1);
    expect(life.state).toMatchObject({ phase: 'closed', attention: [] });
    expect(life.underWay).toContain('look-up:1');
    life.until(HOUR + DAY);
    expect(life.state.attention).toMatchObject([
      { code: 'transaction-unseen', words: expect.stringContaining('invoice number order-1 ') },
    ]);
    expect(life.underWay).not.toContain('look-up:1');
    expect(life.order.over).toBe(true);
  });

  it('has no timer for what it does not owe', () => {
    const life = screened('pass', { events: 'all' }).until(5 * DAY);
    expect([life.state.phase, life.timers]).toEqual(['closed', []]);
  });
});

describe('an acknowledge', () => {
  it('is refused while a deadline is ahead', () => {
    const life = screened('review').until(4.5 * DAY);
    expect(life.attention).toEqual(['review-unresolved']);
    expect(acknowledge(life, 4.6 * DAY)).toBe('attention-stands');
    expect(acknowledge(life, 5 * DAY)).toBe(1);
    expect(acknowledge(life, 5 * DAY)).toBe(0);
  });

  it('resolves what may be resolved, and leaves the rest', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, HOUR);
    life.portal('report-fraud');
    life.portalEnds({ kind: 'refused', code: '400' });
    expect(life.attention).toEqual(['wrong-key', 'portal-refused']);
    expect(acknowledge(life, 2 * HOUR)).toBe(1);
    expect(life.attention).toEqual(['wrong-key']);
    expect(acknowledge(life, 3 * HOUR)).toBe('attention-stands');
  });
});
