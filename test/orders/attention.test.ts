import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { attention, DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { type Life, RECHECK, screened, told } from './life.ts';

const FORBIDDEN = { kind: 'forbidden' } as const;
const PRE = { workflow: 'pre-gateway', events: 'all' } as const;

const reports = ({ outbox }: Life) => outbox.filter((type) => type === 'order.attention').length;

/** Resolves what may be resolved. @returns how much, or the code of the refusal */
function acknowledge(life: Life, at: number): number | string | undefined {
  const ask = { kind: 'acknowledge' as const, request: { reason: 'seen' } };
  const refused = refusalOf(life.order, ask, sinceStart(at));
  if (refused !== undefined) return refused.code;
  const reply = life.replies.get(life.ask(ask, at));
  return reply !== undefined && 'cleared' in reply ? reply.cleared : undefined;
}

describe('a wrong key that a cancel met', () => {
  /** A review that failed, and whose cancel the screening service does not accept the key for. */
  function refusedByKey(): Life {
    const life = screened('review', { events: 'all' });
    life.end({ kind: 'poll', outcome: { kind: 'read', decision: 'fail' } }, HOUR);
    return life.end({ kind: 'portal', outcome: FORBIDDEN }, HOUR);
  }

  it('stands although a read succeeds', () => {
    const life = refusedByKey();
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    expect(life.calls('portal').at(-1)?.request.forbiddenKnown).toBe(true);
    life.take(RECHECK).end({ kind: 'read', outcome: { kind: 'read', decision: 'fail' } }, 2 * HOUR);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    expect(life.underWay).toContain('portal:1');
  });

  it('ends when the cancel succeeds', () => {
    const life = refusedByKey().end({ kind: 'portal', outcome: { kind: 'done', code: '200' } }, 2 * HOUR);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.phase).toBe('canceled');
  });

  it('ends when the cancel is withdrawn', () => {
    const life = refusedByKey();
    const ticket = life.ask({ kind: 'withdraw', request: { number: 1 } }, 2 * HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'not-sent' } }, 2 * HOUR);
    expect(told(life, ticket)).toBe('withdrawn');
    expect(attention(life.order.state)).toEqual([]);
  });

  it('is another matter than the wrong key of a read: each ends with its own call', () => {
    const life = refusedByKey()
      .take(RECHECK)
      .end({ kind: 'read', outcome: FORBIDDEN }, 2 * HOUR);
    expect(attention(life.order.state)).toEqual(['wrong-key', 'wrong-key']);
    life.end({ kind: 'read', outcome: { kind: 'read', decision: 'fail' } }, 3 * HOUR);
    expect(life.order.state.attention).toMatchObject([{ cause: { operation: 'cancel', action: 1 } }]);
  });
});

describe('an order that is over', () => {
  it('ends a day later although the gateway’s result is never accepted, and a person is told', () => {
    const life = screened('pass', PRE);
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, MINUTE);
    life.until(6 * DAY - 1);
    expect(life.order.state).toMatchObject({ phase: 'closed', attention: [] });
    expect(life.order.over).toBeUndefined();
    life.until(6 * DAY).break('gateway', 'canceled');
    expect(attention(life.order.state)).toEqual(['gateway-not-sent']);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBe('given-up');
    expect(life.order.over).toBe(true);
    expect(reports(life)).toBe(1);
  });

  it('ends a day later although a lookup is never answered, and a person is told', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline', events: 'all' });
    life.until(HOUR + DAY - 1);
    expect(life.order.state).toMatchObject({ phase: 'closed', attention: [] });
    expect(life.underWay).toContain('look-up:1');
    life.until(HOUR + DAY);
    expect(attention(life.order.state)).toEqual(['transaction-unseen']);
    expect(life.order.state.attention[0]?.words).toContain('invoice number order-1 ');
    expect(life.underWay).not.toContain('look-up:1');
    expect(life.order.over).toBe(true);
  });

  it('has no timer for what it does not owe', () => {
    const life = screened('pass', { events: 'all' }).until(5 * DAY);
    expect(life.order.state.phase).toBe('closed');
    expect(life.timers).toEqual([]);
  });
});

describe('an acknowledge', () => {
  it('is refused while the call keeps failing, or a deadline is ahead', () => {
    const wrongKey = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, HOUR);
    expect(acknowledge(wrongKey, 2 * HOUR)).toBe('attention-stands');
    const unresolved = screened('review').until(4.5 * DAY);
    expect(attention(unresolved.order.state)).toEqual(['review-unresolved']);
    expect(acknowledge(unresolved, 4.6 * DAY)).toBe('attention-stands');
    expect(acknowledge(unresolved, 5 * DAY)).toBe(1);
  });

  it('resolves what may be resolved, and leaves the rest', () => {
    const life = screened('review').end({ kind: 'poll', outcome: FORBIDDEN }, HOUR);
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'refused', code: '400' } }, HOUR);
    expect(attention(life.order.state)).toEqual(['wrong-key', 'portal-refused']);
    expect(acknowledge(life, 2 * HOUR)).toBe(1);
    expect(attention(life.order.state)).toEqual(['wrong-key']);
    expect(acknowledge(life, 3 * HOUR)).toBe('attention-stands');
  });

  it('is taken of an order that is over and still runs', () => {
    const life = screened('pass', PRE);
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, MINUTE);
    life.until(6 * DAY);
    expect(acknowledge(life, 7 * DAY)).toBe(1);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.journal).toMatchObject([{ what: 'acknowledge', because: 'seen' }]);
  });

  it('with nothing to resolve is fine, and says so', () => {
    expect(acknowledge(screened('pass'), HOUR)).toBe(0);
  });
});
