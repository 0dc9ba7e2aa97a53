import { describe, expect, it } from 'vitest';
import type { GatewayResult } from '../../src/contract/words.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { describe as inWords } from '../../src/orders/describe.ts';
import { answered, DAY, MINUTE, sinceStart } from '../fixtures/orders.ts';
import { type Life, screened } from './life.ts';

const PRE = { workflow: 'pre-gateway' } as const;

describe('a result that contradicts the recorded one', () => {
  const said = (life: Life, result: GatewayResult, at: number, attempt = 1) => {
    const ask = { kind: 'gateway-result', request: { attempt, result } } as const;
    const refused = refusalOf(life.order, ask, sinceStart(at));
    if (refused !== undefined) return { refused: refused.code, words: refused.message };
    const reply = life.replies.get(life.ask(ask, at));
    if (reply !== undefined && 'refusal' in reply)
      return { failed: reply.refusal.code, words: reply.refusal.message };
    return reply !== undefined && 'gateway' in reply ? { answered: reply.gateway.result } : {};
  };
  const announced = ({ order }: Life) =>
    order.outbox.filter(({ type }) => type === 'order.attention').map(({ data }) => data.attention);

  it.each([
    ['fail', 'pass', 'declined', 'refund'],
    ['pass', 'fail', 'decided', 'cancel'],
    ['pass', 'error', 'decided', 'payment'],
  ] as const)(
    '%s and then %s: the first one stays, attention names both, and the error says what to do',
    (first, second, phase, advice) => {
      const life = screened('pass', { ...PRE, events: 'all' });
      expect(said(life, first, MINUTE)).toEqual({ answered: first });
      const told = said(life, second, 2 * MINUTE);
      expect(told).toMatchObject({ failed: 'gateway-result-mismatch' });
      expect(told.words).toContain(advice);
      const { state } = life.order;
      expect(state).toMatchObject({ phase, attention: [{ code: 'gateway-contradiction' }] });
      expect(state.attention[0]?.words).toMatch(new RegExp(`\\b${first}\\b.*\\b${second}\\b`));
      expect(state.attempts[0]?.gateway).toMatchObject({
        result: first,
        contradictions: [{ result: second, at: sinceStart(2 * MINUTE) }],
      });
      expect(announced(life)).toHaveLength(1);
      // Again: the same error, and nothing is recorded.
      expect(said(life, second, 3 * MINUTE)).toEqual({ refused: told.failed, words: told.words });
      expect(said(life, first, 3 * MINUTE)).toEqual({ answered: first });
      expect(announced(life)).toHaveLength(1);
      expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual([first]);
    },
  );

  it('is told of an earlier attempt, too: it may be paid twice', () => {
    const life = screened('pass', { ...PRE, events: 'all' });
    said(life, 'fail', MINUTE);
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 2 * MINUTE);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 'second') }, 2 * MINUTE);
    expect(said(life, 'pass', 3 * MINUTE)).toMatchObject({ failed: 'gateway-result-mismatch' });
    expect(life.order.state.attention).toMatchObject([{ code: 'gateway-contradiction' }]);
    expect(life.order.state.phase).toBe('awaiting-gateway');
  });

  it('is refused without a trace once the order is over', () => {
    const life = screened('pass', PRE);
    said(life, 'fail', MINUTE);
    life.until(30 * DAY);
    expect(said(life, 'pass', 30 * DAY)).toMatchObject({
      refused: 'order-closed',
      words: expect.stringContaining('refund'),
    });
  });

  it('is shown with the order', () => {
    const life = screened('pass', PRE);
    said(life, 'fail', MINUTE);
    said(life, 'pass', 2 * MINUTE);
    expect(inWords(life.order)).toContain('but was later reported as pass');
  });
});
