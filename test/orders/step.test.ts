import { describe, expect, it } from 'vitest';
import { describe as inWords } from '../../src/orders/describe.ts';
import type { Input } from '../../src/orders/order.ts';
import { nothingLeft } from '../../src/orders/step.ts';
import { aLife, type Life, screened, told } from './life.ts';
import { answered, attention, DAY, HOUR, MINUTE, sinceStart, TRANSACTION_ID } from './support.ts';

const RECHECK: Input = { kind: 'signal', signal: 'recheck' };
const CANCELLATION: Input = { kind: 'signal', signal: 'cancellation' };
const HINT = { source: 'webhook', receivedAt: sinceStart(0) };

function read(decision: 'pass' | 'fail' | 'review') {
  return { kind: 'read', decision } as const;
}

function events({ order }: Life): string[] {
  return order.outbox.map(({ type }) => type);
}

describe('the first screening', () => {
  it('answers whoever waits for the checkout, also one who asks afterwards', () => {
    const life = aLife();
    const early = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    expect(life.replies.get(early)).toBeUndefined();
    screened('pass', {}, life);
    const later = life.ask({ kind: 'decision', request: { attempt: 1 } }, 10);
    for (const ticket of [early, later]) {
      expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'pass', action: 'proceed' } });
    }
    expect(life.order.rules).toBe(1);
  });

  it('that broke down is followed by a read of the policy, and the caller is told pending', () => {
    const life = aLife();
    const ticket = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    life.break('first-screening');
    expect(life.underWay).toEqual(['first']);
    const [call] = life.calls('policy');
    expect(call?.request).toMatchObject({ startedAt: sinceStart(0) });
    const { policy } = screened('pass').order.state;
    if (policy === undefined) throw new Error('it is known');
    life.end({ kind: 'policy', policy, rules: 1 }, 3_000);
    expect(life.replies.get(ticket)).toMatchObject({ checkout: { decision: 'pending', action: 'hold' } });
    expect(life.underWay).toEqual(['catch-up:1:0']);
    expect(life.calls('catch-up')[0]?.request.unseenSince).toBe(sinceStart(0));
  });

  it('whose policy can’t be read either is tried again after a pause', () => {
    const life = aLife();
    life.break('first-screening').break('policy');
    expect(life.underWay).toEqual(['pause:first']);
    life.end({ kind: 'pause' }, 5 * MINUTE);
    expect(life.underWay).toEqual(['first']);
    expect(life.calls('policy')).toHaveLength(2);
  });

  it('that the order’s own input forbids refuses everyone who waits, and leaves nothing to do', () => {
    const life = aLife();
    const tickets = [
      life.ask({ kind: 'decision', request: { attempt: 1 } }, 0),
      life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, 0),
    ];
    const refused = { code: 'unknown-integration', message: 'No such integration.' } as const;
    life.take({ kind: 'end', number: life.find('first-screening').number, end: { how: 'failed', refused } });
    expect(tickets.map((ticket) => told(life, ticket))).toEqual([
      'unknown-integration',
      'unknown-integration',
    ]);
    expect(life.order.effects).toEqual([]);
    expect(nothingLeft(life.order)).toBe(true);
  });
});

describe('what is asked', () => {
  it('and can’t be taken any more by now is late', () => {
    const life = screened('pass');
    const ticket = life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    expect(told(life, ticket)).toBe('late');
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

  it('for an attempt that the run before a reset had waits until its turn comes', () => {
    const life = aLife({ wasReset: true });
    const ticket = life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 0);
    expect(told(life, ticket)).toBeUndefined();
    screened('fail', {}, life);
    expect(life.underWay).toContain('retry:2');
    expect(life.calls('retry-screening')[0]?.request).toMatchObject({
      wasReset: true,
      startedAt: sinceStart(0),
    });
  });

  it('by an acknowledge clears what needs attention, and says how much', () => {
    const life = screened({ kind: 'refused', reason: 'refused' });
    expect(attention(life.order.state)).toEqual(['no-decision']);
    const ticket = life.ask({ kind: 'acknowledge', request: { reason: 'seen' } }, MINUTE);
    expect(life.replies.get(ticket)).toEqual({ ticket, cleared: 1 });
    expect(attention(life.order.state)).toEqual([]);
  });
});

describe('a signal', () => {
  it('sets a flag only: a look at the status brings the time and the decision', () => {
    const life = screened('pass').take(RECHECK);
    expect(life.order.now).toBe(sinceStart(0));
    expect(life.calls('look')[0]?.request.transactionId).toBe(TRANSACTION_ID);
    life.end({ kind: 'look', outcome: read('fail') }, HOUR);
    expect(life.order.now).toBe(sinceStart(HOUR));
    expect(life.order.state).toMatchObject({
      decision: 'fail',
      action: 'cancel',
      lastRead: { at: sinceStart(HOUR), source: 'operator' },
    });
  });

  it('while a look is under way asks for no second one', () => {
    const life = screened('pass').take(RECHECK).take({ kind: 'signal', signal: 'review-hint', hint: HINT });
    expect(life.calls('look')).toHaveLength(1);
    life.end({ kind: 'look', outcome: read('pass') }, HOUR);
    expect(life.underWay).toEqual([]);
    expect(life.order.state.hints.unread).toBe(false);
  });

  it('of a cancellation is no cancel: a person is told, once the time is known', () => {
    const life = screened('pass').take(CANCELLATION);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.calls('look')[0]?.request).not.toHaveProperty('transactionId');
    life.end({ kind: 'look', outcome: undefined }, HOUR);
    expect(attention(life.order.state)).toEqual(['cancellation-requested']);
    expect(life.order.state).toMatchObject({ phase: 'decided', attention: [{ since: sinceStart(HOUR) }] });
  });

  it('of a recheck has an order screened again whose decision is «error» to the end', () => {
    const life = screened({ kind: 'refused', reason: 'refused' }).take(RECHECK);
    life.end({ kind: 'look', outcome: undefined }, HOUR);
    expect(life.order.state.phase).toBe('screening');
    expect(life.underWay).toEqual(['catch-up:1:1']);
  });

  it('during the first screening keeps a hint until the decision is there', () => {
    const life = aLife().take({ kind: 'signal', signal: 'review-hint', hint: HINT });
    expect(life.underWay).toEqual(['first']);
    screened('review', {}, life);
    expect(life.underWay).toContain('look');
  });
});

describe('a look', () => {
  it('that the service does not answer is followed by a read that goes on', () => {
    const life = screened('pass').take(RECHECK);
    life.end({ kind: 'look', outcome: { kind: 'unanswered' } }, HOUR);
    expect(life.underWay).toEqual([`read:${TRANSACTION_ID}`]);
    life.end({ kind: 'read', outcome: read('fail') }, 2 * HOUR);
    expect(life.order.state).toMatchObject({ decision: 'fail', lastRead: { source: 'operator' } });
  });

  it('that was begun before a deadline still counts when its answer comes after it', () => {
    const life = screened('pass');
    life.until(5 * DAY - 1).take(RECHECK);
    life.end({ kind: 'look', outcome: read('review') }, 5 * DAY + 100);
    expect(life.order.state.decision).toBe('review');
    expect(life.order.state.endedAt).toBeUndefined();
  });

  it('in review: one begun before the last applied reading ended only asks for another', () => {
    const life = screened('review').take(RECHECK);
    life.end({ kind: 'look', outcome: read('review') }, 10_000);
    life.end({ kind: 'poll', outcome: read('pass') }, 11_000, { began: 9_000 });
    expect(life.order.state).toMatchObject({ decision: 'review', phase: 'review' });
    expect(life.underWay).toContain('look');
    life.end({ kind: 'look', outcome: read('fail') }, 12_000);
    expect(life.order.state).toMatchObject({
      decision: 'fail',
      action: 'cancel',
      lastRead: { source: 'poll' },
    });
  });

  it('of an earlier attempt’s transaction says nothing about the order', () => {
    const life = screened(
      {
        kind: 'unreadable',
        reason: 'unknown-decision',
        seen: { transactionId: 'first', found: false, sentFrom: sinceStart(0), sentUntil: sinceStart(0) },
      },
      {
        rescreenOnError: { tries: 0, pauseMs: MINUTE },
      },
    ).take({ kind: 'signal', signal: 'review-hint', hint: HINT });
    expect(life.calls('look')[0]?.request.transactionId).toBe('first');
    life.order.effects = life.order.effects.map((one) =>
      one.effect.kind === 'look' ? { ...one, transactionId: 'another' } : one,
    );
    life.end({ kind: 'look', outcome: read('pass') }, MINUTE);
    expect(life.order.state.decision).toBe('error');
  });
});

describe('the time', () => {
  it('never goes back: an end that is earlier than what is known counts from then', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'customer-code', customerCode: 'c' } }, HOUR);
    life.end({ kind: 'poll', outcome: read('pass') }, MINUTE);
    expect(life.order.now).toBe(sinceStart(HOUR));
    expect(life.order.state.lastRead?.at).toBe(sinceStart(HOUR));
  });

  it('passes every deadline on the way, each at its own moment', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 4.9 * DAY);
    expect(life.order.state.attention).toMatchObject([
      { code: 'review-unresolved', since: sinceStart(4.5 * DAY) },
    ]);
  });
});

describe('what comes together', () => {
  it('the poll’s fail and the gateway’s fail: the poll’s end is taken first, and the order is canceled', () => {
    const life = screened('review', { workflow: 'pre-gateway', autoCancel: false });
    const message = life.asked({ kind: 'gateway-result', request: { result: 'fail' } }, MINUTE);
    life.together(message, life.ended({ kind: 'poll', outcome: read('fail') }, MINUTE));
    expect(life.order.state).toMatchObject({ decision: 'fail', action: 'cancel', phase: 'decided' });
    expect(life.replies.get(message.ticket)).toMatchObject({ gateway: { result: 'fail', action: 'cancel' } });
  });
});

describe('an order that is over', () => {
  it('says so only when nothing must be finished any more, and shows what keeps it open', () => {
    const life = screened('pass', { events: 'all' }).until(5 * DAY - HOUR);
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, 5 * DAY - HOUR);
    life.until(5 * DAY);
    expect(life.order.state).toMatchObject({ phase: 'closed', endedAt: expect.any(String) });
    expect(events(life)).not.toContain('order.closed');
    expect(inWords(life.order)).toContain('- report-fraud (action 1)');
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, 5 * DAY + MINUTE);
    expect(events(life)).toContain('order.closed');
    expect(inWords(life.order)).toMatch(/kept open by\n\n- \d events? to be delivered\n/);
    expect(nothingLeft(life.order)).toBe(false);
    life.end({ kind: 'deliver' }, 5 * DAY + MINUTE);
    life.end({ kind: 'deliver' }, 5 * DAY + 2 * MINUTE);
    expect(nothingLeft(life.order)).toBe(true);
    expect(life.order.effects).toEqual([]);
    expect(inWords(life.order)).not.toContain('kept open');
  });

  it('waits for the gateway’s result to be sent, also while that pauses', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
    life.until(5 * DAY).break('gateway');
    expect(life.order.state.endedAt).toBe(sinceStart(5 * DAY));
    expect(nothingLeft(life.order)).toBe(false);
    life.end({ kind: 'pause' }, 5 * DAY).end({ kind: 'gateway', outcome: { kind: 'sent' } }, 5 * DAY);
    expect(nothingLeft(life.order)).toBe(true);
  });

  it('reads nothing any more', () => {
    const life = screened('pass')
      .until(5 * DAY)
      .take(RECHECK)
      .take({ kind: 'signal', signal: 'review-hint', hint: HINT });
    expect(life.calls('look')).toEqual([]);
    expect(life.underWay).toEqual([]);
  });
});
