import { describe, expect, it } from 'vitest';
import { describe as inWords } from '../../src/orders/describe.ts';
import { isFinished } from '../../src/orders/kernel.ts';
import { answered, DAY, HOUR, MINUTE, sinceStart } from '../fixtures/orders.ts';
import { aLife, screened, told } from './life.ts';

describe('the checkout', () => {
  it('answers whoever waits for the checkout, also one who asks afterwards', () => {
    const life = aLife();
    const early = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    expect(life.replies.get(early)).toBeUndefined();
    screened('pass', {}, life);
    const later = life.ask({ kind: 'decision', request: { attempt: 1 } }, 10);
    for (const ticket of [early, later]) {
      expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'pass', action: 'proceed' } });
    }
  });

  it('of an order that can’t be screened at all says why, and starts nothing', () => {
    const refusal = { code: 'unknown-integration', message: 'No such integration.' } as const;
    const life = aLife().checkOut({ began: sinceStart(0), at: sinceStart(1), refusal });
    expect(life.refusal).toEqual(refusal);
    expect(life.commands).toEqual([]);
  });
});

describe('what is asked', () => {
  it('and can’t be taken any more by now is refused', () => {
    const life = screened('pass');
    const ticket = life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    expect(told(life, ticket)).toBe('retry-out-of-turn');
    expect(life.order.state.attempts).toHaveLength(1);
  });

  it('twice for the same attempt is screened once, and answers both', () => {
    const life = screened('fail');
    const request = { attempt: 2, transaction: {} };
    const tickets = [
      life.ask({ kind: 'retry', request }, MINUTE),
      life.ask({ kind: 'retry', request }, MINUTE),
    ];
    expect(life.underWay).toEqual(['retry:2']);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 'second') }, MINUTE + 500);
    for (const ticket of tickets) {
      expect(life.replies.get(ticket)).toMatchObject({ checkout: { attempt: 2, transactionId: 'second' } });
    }
  });

  it('with the start is taken after the checkout', () => {
    const life = aLife();
    const ticket = life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 0);
    expect(told(life, ticket)).toBeUndefined();
    screened('fail', {}, life);
    expect(life.underWay).toContain('retry:2');
    expect(life.calls('retry-screening')[0]?.request).toMatchObject({ startedAt: sinceStart(0) });
  });
});

describe('an order that is over', () => {
  it('says so only when nothing must be finished any more, and shows what keeps it open', () => {
    const life = screened('pass', { events: 'all' }).until(5 * DAY - HOUR);
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 5 * DAY - HOUR);
    life.until(5 * DAY);
    expect(life.order.state).toMatchObject({ phase: 'closed', endedAt: expect.any(String) });
    expect(life.outbox).not.toContain('order.closed');
    expect(inWords(life.order)).toContain('- report-fraud (action 1)');
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, 5 * DAY + MINUTE);
    expect(life.outbox).toContain('order.closed');
    expect(inWords(life.order)).toMatch(/kept open by\n\n- \d events? to be delivered\n/);
    expect(isFinished(life.order)).toBe(false);
    life.end({ kind: 'deliver' }, 5 * DAY + MINUTE);
    life.end({ kind: 'deliver' }, 5 * DAY + 2 * MINUTE);
    expect(isFinished(life.order)).toBe(true);
    expect(life.order.running).toEqual([]);
    expect(inWords(life.order)).not.toContain('kept open');
  });

  it('waits for the gateway’s result to be sent, also while that pauses', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
    life.until(5 * DAY).break('gateway');
    expect(life.order.state.endedAt).toBe(sinceStart(5 * DAY));
    expect(isFinished(life.order)).toBe(false);
    life.until(5 * DAY + 5 * MINUTE).end({ kind: 'gateway', outcome: { kind: 'sent' } }, 5 * DAY);
    expect(isFinished(life.order)).toBe(true);
  });
});
