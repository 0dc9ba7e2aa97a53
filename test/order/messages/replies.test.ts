import { describe, expect, it } from 'vitest';
import { isFinished, mayContinueAsNew } from '../../../src/order/kernel.ts';
import type { Request } from '../../../src/order/order.ts';
import { answered, aPolicy, DAY, HOUR, MINUTE, NO_RESCREENS, unanswered } from '../../fixtures/orders.ts';
import { aLife, screened } from '../life.ts';

const CANCEL: Request = { kind: 'portal', request: { fields: { kind: 'cancel' } } };
const PASSED: Request = { kind: 'gateway-result', request: { result: 'pass' } };

describe('who waits for the end of a portal action', () => {
  it('are two at most: the next is told requested at once', () => {
    const life = screened('review').portal('cancel').portal('cancel').portal('cancel');
    expect(life.told).toEqual(['waits', 'waits', 'requested']);
    expect(life.portalEnds('done').told).toEqual(['done', 'done', 'requested']);
  });

  it('are told requested after ten seconds, each after their own, with the number that withdraw takes', () => {
    const life = screened('review')
      .portal('cancel', HOUR)
      .portal('cancel', HOUR + 5_000);
    expect(life.until(HOUR + 10_000).told).toEqual(['requested', 'waits']);
    expect(life.until(HOUR + 15_000).told).toEqual(['requested', 'requested']);
    expect(life.replies[1]).toMatchObject({ portal: { number: 1 } });
    expect(life.underWay).toContain('portal:1');
  });

  it('get the service’s own words when it refuses', () => {
    const outcome = { kind: 'refused', code: '409', message: 'Too old' } as const;
    const refusal = { code: 'refused-by-screening-service', serviceCode: '409', serviceMessage: 'Too old' };
    expect(screened('review').portal('cancel').portalEnds(outcome).replies).toMatchObject([{ refusal }]);
  });

  it('get the chargeback as the service echoed it, now and when they ask again', () => {
    const portal = { status: 'done', chargeback: { reason_code: '10.4' } };
    const life = screened('pass')
      .portal('chargeback')
      .portalEnds({ kind: 'done', ...portal });
    expect(life.portal('chargeback', 2 * HOUR).replies).toMatchObject([{ portal }, { portal }]);
    expect(life.calls('portal')).toHaveLength(1);
  });
});

describe('a checkout that was told pending', () => {
  it('is told so until there is a decision, then the first one with the action of now', () => {
    const life = screened(unanswered(), { whenUnavailable: 'proceed', autoCancel: false });
    const pending = { decision: 'pending', action: 'proceed' };
    expect(life.checkout()).toMatchObject({ checkout: { ...pending, reason: 'timeout' } });
    const review = life.caughtUp('review', MINUTE).checkout();
    const answer = { decision: 'review', action: 'hold', phase: 'review', transactionId: expect.any(String) };
    expect(review).toMatchObject({ checkout: answer });
    expect(review).not.toHaveProperty('checkout.reason');
    const now = life.polled('fail', HOUR).checkout();
    expect(now).toMatchObject({ checkout: { decision: 'review', action: 'cancel', phase: 'decided' } });
    expect(life.state.attempts[0]?.answer).toMatchObject(pending);
  });

  it('keeps the error that came first, with the action of now', () => {
    const life = screened(unanswered()).caughtUp(answered('error', 't-1'), MINUTE);
    expect(life.checkout()).toMatchObject({ checkout: { decision: 'error', action: 'hold' } });
    life.until(HOUR).caughtUp(answered('pass', 't-2'), HOUR);
    expect(life.checkout()).toMatchObject({ checkout: { decision: 'error', action: 'proceed' } });
  });

  it('and declined stays so, whatever turns up', () => {
    const life = screened(unanswered(), { whenUnavailable: 'decline' });
    const given = life.checkout();
    expect(given).toMatchObject({ checkout: { decision: 'pending', action: 'decline', phase: 'declined' } });
    expect(life.lookedUp('pass', MINUTE).decision).toBe('pass');
    expect(life.checkout()).toEqual(given);
  });

  it.each(['pass', 'review', 'fail'] as const)(
    'and declined stays so where a %s turns up after the close',
    (found) => {
      const life = screened(unanswered(), { whenUnavailable: 'decline', events: 'all' }).until(2 * HOUR);
      expect(life.phase).toBe('closed');
      life.lookedUp(found, 3 * HOUR);
      expect(life.state).toMatchObject({ phase: 'closed', decision: found, action: 'decline' });
      expect(life.outbox).toEqual(['order.decided', 'order.closed']);
    },
  );

  it('is told of its own attempt, also when another one came', () => {
    const life = screened(unanswered(), NO_RESCREENS);
    life.caughtUp(answered('error', 't-1'), MINUTE).retry(2, MINUTE).retried(unanswered(), MINUTE);
    expect(life.checkout(1)).toMatchObject({
      checkout: { attempt: 1, decision: 'error', transactionId: 't-1' },
    });
    expect(life.checkout(1)).not.toHaveProperty('checkout.reason');
    expect(life.checkout(2)).toMatchObject({
      checkout: { attempt: 2, decision: 'pending', reason: 'timeout' },
    });
    life.caughtUp(answered('pass', 't-2'), MINUTE);
    const passed = { decision: 'pass', action: 'proceed', transactionId: 't-2' };
    expect(life.checkout(2)).toMatchObject({ checkout: passed });
    expect(life.checkout(1)).toMatchObject({ checkout: { decision: 'error', action: 'hold' } });
  });
});

describe('the answer to a checkout', () => {
  it('is given to whoever waits for it, also to one who asks afterwards, and stands', () => {
    const life = aLife();
    expect(life.checkout()).toBeUndefined();
    const given = screened('review', { autoCancel: false }, life).checkout();
    expect(given).toMatchObject({ checkout: { decision: 'review', action: 'hold' } });
    expect(life.replies[0]).toEqual(given);
    expect(life.polled('fail', HOUR).action).toBe('cancel');
    expect(life.checkout()).toEqual(given);
  });
});

it('an order of which a caller waits does not continue as new until the reply', () => {
  const life = screened('pass').portal('report-fraud').break('portal');
  expect(mayContinueAsNew(life.order)).toBe(false);
  expect(mayContinueAsNew(life.until(HOUR + 10_000).order)).toBe(true);
});

describe('what is asked before the policy is known', () => {
  it('waits for it, as a portal action does, and is judged then', () => {
    const life = aLife().portal('cancel', 0);
    expect(life).toMatchObject({ told: ['waits'], actions: [] });
    expect(screened('review', {}, life).underWay).toContain('portal:1');
    expect(screened('review', { passive: true }, aLife().portal('cancel', 0)).told).toEqual(['passive']);
  });

  it.each([
    ['pre-gateway', 'answered', 'pass'],
    ['pre-acceptance', 'gateway-result-out-of-turn', undefined],
  ] as const)('of the gateway waits for the policy to name the workflow: %s', (workflow, answer, result) => {
    const life = aLife().gateway('pass', 0);
    expect(life.told).toEqual(['waits']);
    expect(screened('review', { workflow }, life).told).toEqual([answer]);
    expect(life.state.attempts[0]?.gateway?.result).toBe(result);
  });

  it.each<Request>([CANCEL, PASSED, { kind: 'override', request: { action: 'proceed', reason: 'seen' } }])(
    'is refused as busy until a failed checkout’s catch-up has brought the policy: %j',
    (request) => {
      const life = aLife().checkOut(undefined).ask(request, 1_000);
      life.caughtUp('review', 2_000, aPolicy({ workflow: 'pre-gateway' })).ask(request, 3_000);
      expect(life.told).toEqual(['busy', expect.not.stringMatching('busy')]);
    },
  );
});

it('an order that is over says so only when nothing must be finished any more', () => {
  const life = screened('pass', { events: 'all' })
    .portal('report-fraud', 4.9 * DAY)
    .until(5 * DAY);
  expect(life.phase).toBe('closed');
  expect(life.outbox).not.toContain('order.closed');
  expect(life.portalEnds('done', 5 * DAY).outbox).toContain('order.closed');
  expect(isFinished(life.order)).toBe(false);
  for (const minute of [1, 2]) life.end({ kind: 'deliver' }, 5 * DAY + minute * MINUTE);
  expect([isFinished(life.order), life.order.running]).toEqual([true, []]);
});
