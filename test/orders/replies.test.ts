import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import { answerNow } from '../../src/orders/answers.ts';
import { isFinished, mayContinueAsNew } from '../../src/orders/kernel.ts';
import type { Request } from '../../src/orders/order.ts';
import { answered, aPolicy, HOUR, MINUTE, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, screened, told } from './life.ts';

const CANCEL: Request = { kind: 'portal', fields: { kind: 'cancel' } };

function cancelOf(transactionId: string): Request {
  return { kind: 'portal', fields: { kind: 'cancel', transactionId } };
}

/** An order of several attempts, so that as many cancels can wait. */
function ofAttempts(count: number) {
  const life = screened('fail');
  for (let number = 2; number <= count; number += 1) {
    life.ask({ kind: 'retry', request: { attempt: number, transaction: {} } }, 0);
    life.end({ kind: 'retry-screening', outcome: answered('fail', `t-${number}`) }, 0);
  }
  return life;
}

describe('who waits for the end of a portal action', () => {
  it('are two at most: the next is told requested at once', () => {
    const life = screened('review');
    const tickets = [1, 2, 3].map(() => life.ask(CANCEL, HOUR));
    expect(tickets.map((ticket) => told(life, ticket))).toEqual([undefined, undefined, 'requested']);
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, HOUR);
    expect(tickets.map((ticket) => told(life, ticket))).toEqual(['done', 'done', 'requested']);
  });

  it('are six at most, whatever they wait for', () => {
    const life = ofAttempts(4);
    const asks = ['t-2', 't-3', 't-4'].flatMap((id) => [cancelOf(id), cancelOf(id)]);
    const tickets = asks.map((ask) => life.ask(ask, MINUTE));
    expect(life.order.replies).toHaveLength(6);
    expect(tickets.map((ticket) => told(life, ticket))).toEqual(Array(6).fill(undefined));
    const seventh = life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, MINUTE);
    expect(told(life, seventh)).toBe('requested');
    expect(life.order.state.actions).toHaveLength(4);
  });

  it('are told requested after ten seconds, each after their own', () => {
    const life = screened('review');
    const first = life.ask(CANCEL, HOUR);
    const second = life.ask(CANCEL, HOUR + 5_000);
    life.until(HOUR + 10_000);
    expect([told(life, first), told(life, second)]).toEqual(['requested', undefined]);
    life.until(HOUR + 15_000);
    expect(told(life, second)).toBe('requested');
    expect(life.order.replies).toEqual([]);
    expect(life.underWay).toContain('portal:1');
  });

  it('get the number that withdraw takes', () => {
    const life = screened('review');
    life.ask(CANCEL, HOUR);
    const ticket = life.ask({ kind: 'withdraw', request: { number: 1 } }, HOUR);
    life.until(HOUR + MINUTE);
    expect(life.replies.get(ticket)).toMatchObject({ portal: { number: 1, status: 'requested' } });
  });

  it('get the service’s own words when it refuses', () => {
    const life = screened('review');
    const ticket = life.ask(CANCEL, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'refused', code: '409', message: 'Too old' } }, HOUR);
    expect(life.replies.get(ticket)).toMatchObject({
      refusal: { code: 'refused-by-screening-service', serviceCode: '409', serviceMessage: 'Too old' },
    });
  });

  it('get the chargeback as the service echoed it, now and when they ask again', () => {
    const fields: PortalFields = { kind: 'chargeback', reason_code: '10.4', due_date: '2026-04-01' };
    const life = screened('pass');
    const chargeback = { reason_code: '10.4' };
    const first = life.ask({ kind: 'portal', fields }, HOUR);
    life.end({ kind: 'portal', outcome: { kind: 'done', chargeback } }, HOUR);
    const again = life.ask({ kind: 'portal', fields }, 2 * HOUR);
    for (const ticket of [first, again]) {
      expect(life.replies.get(ticket)).toMatchObject({ portal: { status: 'done', chargeback } });
    }
    expect(life.calls('portal')).toHaveLength(1);
  });
});

describe('a checkout that was told pending', () => {
  const asked = (life: Life, attempt = 1) => {
    const ticket = life.ask({ kind: 'decision', request: { attempt } }, MINUTE);
    const reply = life.replies.get(ticket);
    return reply !== undefined && 'checkout' in reply ? reply.checkout : undefined;
  };
  const resolve = (life: Life, decision: 'pass' | 'fail') =>
    life.end({ kind: 'poll', outcome: { kind: 'read', decision } }, HOUR);

  it('is told so until there is a decision, then the first one with the action of now', () => {
    const life = screened(unanswered(), { whenUnavailable: 'proceed', autoCancel: false });
    expect(asked(life)).toMatchObject({ decision: 'pending', action: 'proceed', reason: 'timeout' });
    life.end({ kind: 'catch-up', outcome: answered('review') }, MINUTE);
    const review = asked(life);
    expect(review).toMatchObject({ decision: 'review', action: 'hold', phase: 'review', attempt: 1 });
    expect(review).toHaveProperty('transactionId');
    expect(review).not.toHaveProperty('reason');
    resolve(life, 'fail');
    expect(asked(life)).toMatchObject({ decision: 'review', action: 'cancel', phase: 'decided' });
    expect(life.order.state.attempts[0]?.answer).toMatchObject({ decision: 'pending', action: 'proceed' });
  });

  it('keeps the error that came first, with the action of now', () => {
    const life = screened(unanswered());
    life.end({ kind: 'catch-up', outcome: answered('error', 't-1') }, MINUTE);
    expect(asked(life)).toMatchObject({ decision: 'error', action: 'hold' });
    life.until(HOUR);
    life.end({ kind: 'catch-up', outcome: answered('pass', 't-2') }, HOUR);
    expect(asked(life)).toMatchObject({ decision: 'error', action: 'proceed', phase: 'decided' });
  });

  it('and declined stays so, whatever turns up', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' });
    const given = asked(life);
    expect(given).toMatchObject({ decision: 'pending', action: 'decline', phase: 'declined' });
    const found = { kind: 'found' as const, transactionId: 'late', decision: 'pass' as const };
    life.end({ kind: 'look-up', outcome: found }, MINUTE);
    expect(life.order.state.decision).toBe('pass');
    expect(asked(life)).toEqual(given);
  });

  it('is told of its own attempt, also when another one came', () => {
    const life = screened(unanswered(), { rescreenOnError: { tries: 0, pauseMs: MINUTE } });
    life.end({ kind: 'catch-up', outcome: answered('error', 't-1') }, MINUTE);
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    life.end({ kind: 'retry-screening', outcome: unanswered() }, MINUTE);
    expect(asked(life, 1)).toMatchObject({ attempt: 1, decision: 'error', transactionId: 't-1' });
    expect(asked(life, 1)).not.toHaveProperty('reason');
    expect(asked(life, 2)).toMatchObject({ attempt: 2, decision: 'pending', reason: 'timeout' });
    life.end({ kind: 'catch-up', outcome: answered('pass', 't-2') }, MINUTE);
    expect(asked(life, 2)).toMatchObject({ decision: 'pass', action: 'proceed', transactionId: 't-2' });
  });

  it('is told of a closed order by its record', () => {
    const life = screened(unanswered());
    life.end({ kind: 'catch-up', outcome: answered('pass') }, MINUTE).until(6 * 24 * HOUR);
    expect(life.order.state.phase).toBe('closed');
    expect(answerNow(life.order.state, 1)).toMatchObject({ decision: 'pass', phase: 'closed' });
    expect(answerNow(life.order.state, 2)).toBeUndefined();
  });

  it('any other answer stands', () => {
    const life = screened('review', { autoCancel: false });
    const given = asked(life);
    resolve(life, 'fail');
    expect(life.order.state).toMatchObject({ decision: 'fail', action: 'cancel' });
    expect(asked(life)).toEqual(given);
  });
});

describe('an order of which a caller waits', () => {
  it('does not continue as new, nor finish, until the reply', () => {
    const life = screened('pass');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    life.break('portal');
    expect(mayContinueAsNew(life.order)).toBe(false);
    life.until(HOUR + 10_000);
    expect(mayContinueAsNew(life.order)).toBe(true);
  });

  it('waits for the answer of another attempt, too', () => {
    const life = screened('fail');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, 0);
    expect([mayContinueAsNew(life.order), isFinished(life.order)]).toEqual([false, false]);
    life.end({ kind: 'retry-screening', outcome: answered('fail', 'second') }, 0);
    expect(mayContinueAsNew(life.order)).toBe(true);
  });
});

describe('what is asked before the policy is known', () => {
  it('waits for it, as a portal action does, and is judged then', () => {
    const life = aLife();
    const ticket = life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, 0);
    expect(told(life, ticket)).toBeUndefined();
    expect(life.order.state.actions).toEqual([]);
    screened('review', {}, life);
    expect(life.underWay).toContain('portal:1');
    life.end({ kind: 'portal', outcome: { kind: 'done' } }, 500);
    expect(told(life, ticket)).toBe('done');
  });

  it('and what the policy forbids is refused with its reason', () => {
    const life = aLife();
    const ticket = life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, 0);
    screened('review', { passive: true }, life);
    expect(told(life, ticket)).toBe('passive');
  });

  it.each([
    ['pre-gateway', 'answered'],
    ['pre-acceptance', 'gateway-result-out-of-turn'],
  ] as const)('of the gateway waits for the policy to name the workflow: %s', (workflow, answer) => {
    const life = aLife();
    const ticket = life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
    expect(told(life, ticket)).toBeUndefined();
    screened('review', { workflow }, life);
    expect(told(life, ticket)).toBe(answer);
    expect(life.order.state.attempts[0]?.gateway?.result).toBe(
      workflow === 'pre-gateway' ? 'pass' : undefined,
    );
  });

  it.each<Request>([
    CANCEL,
    { kind: 'gateway-result', request: { result: 'pass' } },
    { kind: 'override', request: { action: 'proceed', reason: 'seen' } },
  ])('is refused as busy until a failed checkout’s catch-up has brought the policy: %j', (request) => {
    const life = aLife().checkOut(undefined);
    expect(told(life, life.ask(request, 1_000))).toBe('busy');
    const policy = aPolicy({ workflow: 'pre-gateway' });
    life.end({ kind: 'catch-up', outcome: answered('review'), policy }, 2_000);
    expect(told(life, life.ask(request, 3_000))).not.toBe('busy');
  });
});
