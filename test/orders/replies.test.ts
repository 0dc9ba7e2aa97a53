import { describe, expect, it } from 'vitest';
import { answerNow } from '../../src/orders/answers.ts';
import { describe as inWords } from '../../src/orders/describe.ts';
import { isFinished, mayContinueAsNew } from '../../src/orders/kernel.ts';
import type { Request } from '../../src/orders/order.ts';
import { answered, aPolicy, DAY, HOUR, MINUTE, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, screened } from './life.ts';

const CANCEL: Request = { kind: 'portal', fields: { kind: 'cancel' } };
const PASSED: Request = { kind: 'gateway-result', request: { result: 'pass' } };

/** Returns the answer to another call for the attempt. */
function asked(life: Life, attempt = 1) {
  const reply = life.replies.get(life.ask({ kind: 'decision', request: { attempt } }, MINUTE));
  return reply !== undefined && 'checkout' in reply ? reply.checkout : undefined;
}

describe('who waits for the end of a portal action', () => {
  it('are two at most: the next is told requested at once', () => {
    const life = screened('review');
    const tickets = [1, 2, 3].map(() => life.portal('cancel'));
    const told = () => tickets.map((ticket) => life.told(ticket));
    expect(told()).toEqual([undefined, undefined, 'requested']);
    life.portalEnds('done');
    expect(told()).toEqual(['done', 'done', 'requested']);
  });

  it('are six at most, whatever they wait for', () => {
    const life = screened('fail');
    for (const number of [2, 3, 4]) {
      life.retry(number, 0);
      life.retried(answered('fail', `t-${number}`), 0);
    }
    const cancels = ['t-2', 't-3', 't-4'].map(
      (transactionId) => ({ kind: 'cancel', transactionId }) as const,
    );
    const tickets = [...cancels, ...cancels].map((fields) => life.portal(fields, MINUTE));
    expect(tickets.map((ticket) => life.told(ticket))).toEqual(Array(6).fill(undefined));
    expect(life.told(life.portal('report-fraud', MINUTE))).toBe('requested');
    expect(life.state.actions).toHaveLength(4);
  });

  it('are told requested after ten seconds, each after their own', () => {
    const life = screened('review');
    const tickets = [life.portal('cancel', HOUR), life.portal('cancel', HOUR + 5_000)];
    const told = () => tickets.map((ticket) => life.told(ticket));
    life.until(HOUR + 10_000);
    expect(told()).toEqual(['requested', undefined]);
    life.until(HOUR + 15_000);
    expect(told()).toEqual(['requested', 'requested']);
    expect(life.underWay).toContain('portal:1');
  });

  it('get the number that withdraw takes', () => {
    const life = screened('review');
    life.portal('cancel');
    const ticket = life.withdraw(1);
    life.until(HOUR + MINUTE);
    expect(life.replies.get(ticket)).toMatchObject({ portal: { number: 1, status: 'requested' } });
  });

  it('get the service’s own words when it refuses', () => {
    const life = screened('review');
    const ticket = life.portal('cancel');
    life.portalEnds({ kind: 'refused', code: '409', message: 'Too old' });
    expect(life.replies.get(ticket)).toMatchObject({
      refusal: { code: 'refused-by-screening-service', serviceCode: '409', serviceMessage: 'Too old' },
    });
  });

  it('get the chargeback as the service echoed it, now and when they ask again', () => {
    const life = screened('pass');
    const chargeback = { reason_code: '10.4' };
    const first = life.portal('chargeback');
    life.portalEnds({ kind: 'done', chargeback });
    for (const ticket of [first, life.portal('chargeback', 2 * HOUR)])
      expect(life.replies.get(ticket)).toMatchObject({ portal: { status: 'done', chargeback } });
    expect(life.calls('portal')).toHaveLength(1);
  });
});

describe('a checkout that was told pending', () => {
  it('is told so until there is a decision, then the first one with the action of now', () => {
    const life = screened(unanswered(), { whenUnavailable: 'proceed', autoCancel: false });
    expect(asked(life)).toMatchObject({ decision: 'pending', action: 'proceed', reason: 'timeout' });
    life.caughtUp('review', MINUTE);
    const review = asked(life);
    expect(review).toMatchObject({ decision: 'review', action: 'hold', phase: 'review', attempt: 1 });
    expect(review).toHaveProperty('transactionId');
    expect(review).not.toHaveProperty('reason');
    life.polled('fail', HOUR);
    expect(asked(life)).toMatchObject({ decision: 'review', action: 'cancel', phase: 'decided' });
    expect(life.state.attempts[0]?.answer).toMatchObject({ decision: 'pending', action: 'proceed' });
  });

  it('keeps the error that came first, with the action of now', () => {
    const life = screened(unanswered()).caughtUp(answered('error', 't-1'), MINUTE);
    expect(asked(life)).toMatchObject({ decision: 'error', action: 'hold' });
    life.until(HOUR).caughtUp(answered('pass', 't-2'), HOUR);
    expect(asked(life)).toMatchObject({ decision: 'error', action: 'proceed', phase: 'decided' });
  });

  it('and declined stays so, whatever turns up', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' });
    const given = asked(life);
    expect(given).toMatchObject({ decision: 'pending', action: 'decline', phase: 'declined' });
    expect(life.lookedUp('pass', MINUTE).state.decision).toBe('pass');
    expect(asked(life)).toEqual(given);
  });

  it('is told of its own attempt, also when another one came', () => {
    const life = screened(unanswered(), { rescreenOnError: { tries: 0, pauseMs: MINUTE } });
    life.caughtUp(answered('error', 't-1'), MINUTE).retry(2, MINUTE);
    life.retried(unanswered(), MINUTE);
    expect(asked(life, 1)).toMatchObject({ attempt: 1, decision: 'error', transactionId: 't-1' });
    expect(asked(life, 1)).not.toHaveProperty('reason');
    expect(asked(life, 2)).toMatchObject({ attempt: 2, decision: 'pending', reason: 'timeout' });
    life.caughtUp(answered('pass', 't-2'), MINUTE);
    expect(asked(life, 2)).toMatchObject({ decision: 'pass', action: 'proceed', transactionId: 't-2' });
  });

  it('is told of a closed order by its record', () => {
    const { state } = screened(unanswered())
      .caughtUp('pass', MINUTE)
      .until(6 * DAY);
    expect(answerNow(state, 1)).toMatchObject({ decision: 'pass', phase: 'closed' });
    expect(answerNow(state, 2)).toBeUndefined();
  });
});

describe('the answer to a checkout', () => {
  it('is given to whoever waits for it, also to one who asks afterwards, and stands', () => {
    const life = aLife();
    const early = life.ask({ kind: 'decision', request: { attempt: 1 } }, 0);
    expect(life.told(early)).toBeUndefined();
    const given = asked(screened('review', { autoCancel: false }, life));
    expect(given).toMatchObject({ decision: 'review', action: 'hold' });
    expect(life.replies.get(early)).toEqual({ checkout: given });
    expect(life.polled('fail', HOUR).state).toMatchObject({ decision: 'fail', action: 'cancel' });
    expect(asked(life)).toEqual(given);
  });

  it('of an order that can’t be screened at all says why, and starts nothing', () => {
    const refusal = { code: 'unknown-integration', message: 'No such integration.' } as const;
    const life = aLife().checkOut({ began: sinceStart(0), at: sinceStart(1), refusal });
    expect([life.refusal, life.commands]).toEqual([refusal, []]);
  });
});

describe('a retry', () => {
  it('that can’t be taken any more by now is refused', () => {
    const life = screened('pass');
    expect(life.told(life.retry(2, MINUTE))).toBe('retry-out-of-turn');
    expect(life.state.attempts).toHaveLength(1);
  });

  it('twice for the same attempt is screened once, and answers both', () => {
    const life = screened('fail');
    const tickets = [life.retry(2, MINUTE), life.retry(2, MINUTE)];
    expect(life.underWay).toEqual(['retry:2']);
    life.retried('pass', MINUTE);
    const checkout = { attempt: 2, transactionId: 'second' };
    for (const ticket of tickets) expect(life.replies.get(ticket)).toMatchObject({ checkout });
  });

  it('with the start is taken after the checkout', () => {
    const life = aLife();
    expect(life.told(life.retry(2, 0))).toBeUndefined();
    expect(screened('fail', {}, life).underWay).toContain('retry:2');
  });
});

describe('an order of which a caller waits', () => {
  it('does not continue as new, nor finish, until the reply', () => {
    const life = screened('pass');
    life.portal('report-fraud');
    expect(mayContinueAsNew(life.break('portal').order)).toBe(false);
    expect(mayContinueAsNew(life.until(HOUR + 10_000).order)).toBe(true);
  });

  it('waits for the answer of another attempt, too', () => {
    const life = screened('fail');
    life.retry(2, 0);
    expect([mayContinueAsNew(life.order), isFinished(life.order)]).toEqual([false, false]);
    expect(mayContinueAsNew(life.retried('fail', 0).order)).toBe(true);
  });
});

describe('what is asked before the policy is known', () => {
  it('waits for it, as a portal action does, and is judged then', () => {
    const life = aLife();
    const ticket = life.portal('cancel', 0);
    expect(life.told(ticket)).toBeUndefined();
    expect(life.state.actions).toEqual([]);
    expect(screened('review', {}, life).underWay).toContain('portal:1');
    const passive = aLife();
    const forbidden = passive.portal('cancel', 0);
    expect(screened('review', { passive: true }, passive).told(forbidden)).toBe('passive');
  });

  it.each([
    ['pre-gateway', 'answered', 'pass'],
    ['pre-acceptance', 'gateway-result-out-of-turn', undefined],
  ] as const)('of the gateway waits for the policy to name the workflow: %s', (workflow, answer, result) => {
    const life = aLife();
    const ticket = life.ask(PASSED, 0);
    expect(life.told(ticket)).toBeUndefined();
    expect(screened('review', { workflow }, life).told(ticket)).toBe(answer);
    expect(life.state.attempts[0]?.gateway?.result).toBe(result);
  });

  it.each<Request>([CANCEL, PASSED, { kind: 'override', request: { action: 'proceed', reason: 'seen' } }])(
    'is refused as busy until a failed checkout’s catch-up has brought the policy: %j',
    (request) => {
      const life = aLife().checkOut(undefined);
      expect(life.told(life.ask(request, 1_000))).toBe('busy');
      life.caughtUp('review', 2_000, aPolicy({ workflow: 'pre-gateway' }));
      expect(life.told(life.ask(request, 3_000))).not.toBe('busy');
    },
  );
});

describe('an order that is over', () => {
  it('says so only when nothing must be finished any more, and shows what keeps it open', () => {
    const life = screened('pass', { events: 'all' }).until(5 * DAY - HOUR);
    life.portal('report-fraud', 5 * DAY - HOUR);
    life.until(5 * DAY);
    expect(life.state).toMatchObject({ phase: 'closed', endedAt: expect.any(String) });
    expect(life.outbox).not.toContain('order.closed');
    expect(inWords(life.order)).toContain('- report-fraud (action 1)');
    life.portalEnds('done', 5 * DAY + MINUTE);
    expect(life.outbox).toContain('order.closed');
    expect(inWords(life.order)).toMatch(/kept open by\n\n- \d events? to be delivered\n/);
    expect(isFinished(life.order)).toBe(false);
    for (const minute of [1, 2]) life.end({ kind: 'deliver' }, 5 * DAY + minute * MINUTE);
    expect([isFinished(life.order), life.order.running]).toEqual([true, []]);
    expect(inWords(life.order)).not.toContain('kept open');
  });

  it('waits for the gateway’s result to be sent, also while that pauses', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    life.ask(PASSED, 0);
    life.until(5 * DAY).break('gateway');
    expect(life.state.endedAt).toBe(sinceStart(5 * DAY));
    expect(isFinished(life.order)).toBe(false);
    life.until(5 * DAY + 5 * MINUTE).end({ kind: 'gateway', outcome: { kind: 'sent' } }, 5 * DAY);
    expect(isFinished(life.order)).toBe(true);
  });
});
