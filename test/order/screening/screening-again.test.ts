import { describe, expect, it } from 'vitest';
import type { ScreeningOutcome } from '../../../src/contract/activity-contract.ts';
import { isFinished, mayContinueAsNew } from '../../../src/order/kernel.ts';
import {
  answered,
  cancelOf,
  DAY,
  found,
  HOUR,
  MINUTE,
  NO_RESCREENS,
  NOT_SENT,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../../fixtures/orders.ts';
import { aLife, type Life, RECHECK, screened } from '../life.ts';
import { sentTo } from '../lives.ts';

/** Has an operator ask for another screening of an order whose decision is «error» to the end. */
function recheck(life: Life, at: number): Life {
  return life.take(RECHECK).end({ kind: 'read', outcome: undefined }, at);
}

/** An order whose second attempt is being screened. */
const withRetry = () => screened('fail').retry(2, MINUTE);

describe('an order that was given up and is screened again', () => {
  const givenUp = () => screened(unanswered(), { screeningDeadlineMs: HOUR }).until(HOUR);

  it('is looked for by the number that its first create may have been sent with; after that it has another', () => {
    const life = recheck(givenUp().break('catch-up', 'canceled'), 2 * HOUR);
    const request = () => life.calls('catch-up').at(-1)?.request;
    expect(request()).toMatchObject({ invoiceNumber: 'order-1', unseenSince: sinceStart(0) });
    life.caughtUp(found('error'), 2 * HOUR).until(2 * HOUR + MINUTE);
    expect(request()?.invoiceNumber).toBe('order-1~1.2');
  });
});

describe('a recheck that anybody with access to Temporal may have sent', () => {
  const inError = () => screened('error', { screeningDeadlineMs: DAY, ...NO_RESCREENS });

  it.each([
    ['without its time, as a signal without a payload key', {}],
    ['that was stored, from before the order’s phase', { sentAt: sinceStart(0) }],
  ])('%s, only reads', (_what, sent) => {
    const life = inError().take({ kind: 'signal', signal: { kind: 'recheck', ...sent } });
    expect(life.underWay).toEqual(['read:1']);
    life.end({ kind: 'read', outcome: undefined }, HOUR);
    expect(life).toMatchObject({ phase: 'decided', decision: 'error', underWay: [] });
    expect(recheck(inError(), HOUR).phase).toBe('screening');
  });
});

it('an error to the end suggests no recheck where the deleted card is needed', () => {
  const life = screened('error', { workflow: 'pre-gateway', ...NO_RESCREENS }, aLife({ cardRef: 'card-1' }));
  expect(life.state.attention[0]?.words).toMatch(/: decide manually, or send another attempt\.$/);
});

it.each(['pre-acceptance', 'pre-gateway'] as const)(
  'a passive order that would be declined takes the attempt that the customer makes elsewhere: %s',
  (workflow) => {
    const life = screened('fail', { workflow, passive: true }).retry(2, MINUTE).retried('review', MINUTE);
    const wouldBe = workflow === 'pre-gateway' ? 'proceed' : 'hold';
    expect(life.replies).toMatchObject([{ checkout: { attempt: 2, action: 'proceed', wouldBe } }]);
    expect(life.retry(3, HOUR).told).toEqual(['answered', 'retry-out-of-turn']);
  },
);

it('a passive order’s next attempt ends the attention to the review of the one before', () => {
  const life = screened('fail', { passive: true })
    .take(RECHECK)
    .read('review', HOUR)
    .until(5 * DAY - MINUTE);
  expect(life).toMatchObject({ attention: ['review-unresolved'], state: { wouldBe: 'decline' } });
  expect(life.retry(2, 5 * DAY - MINUTE).attention).toEqual([]);
});

it('a screening in the background says since when a create may be under way', () => {
  const life = screened(NOT_SENT).caughtUp({ kind: 'forbidden', unseenSince: sinceStart(1) }, MINUTE);
  const calls = life.caughtUp({ kind: 'forbidden' }, 2 * MINUTE).calls('catch-up');
  expect(calls.map(({ request }) => request.unseenSince)).toEqual([undefined, sinceStart(1), undefined]);
});

it('a screening in the background waits as long as its own checkout was asked to', () => {
  const asked = (ms: number) => ({ ...NOT_SENT, notBefore: sinceStart(ms) });
  const notBefore = (life: Life) => life.calls('catch-up').map(({ request }) => request.notBefore);
  expect(notBefore(screened(asked(HOUR)))).toEqual([sinceStart(HOUR)]);
  expect(notBefore(withRetry().retried(asked(HOUR), MINUTE))).toEqual([sinceStart(HOUR)]);
});

it('an attempt without a decision has the action that follows from its own transaction; the policy stays', () => {
  const life = screened('fail', { whenUnavailable: 'proceed', reviewLeadTimeMs: MINUTE }).retry(2, MINUTE);
  life.end({ kind: 'retry-screening', outcome: NOT_SENT, whenUnavailable: 'decline' }, MINUTE);
  expect(life.replies).toMatchObject([{ checkout: { attempt: 2, decision: 'pending', action: 'decline' } }]);
  expect(life.state.policy).toMatchObject({ whenUnavailable: 'decline', reviewLeadTimeMs: MINUTE });
  life.retry(3, HOUR).retried(NOT_SENT, HOUR);
  expect(life.replies[1]).toMatchObject({ checkout: { attempt: 3, action: 'decline' } });
});

describe('a cancel', () => {
  it('of a transaction from before the order was screened again has the window of that transaction', () => {
    const life = recheck(screened('error', { screeningDeadlineMs: DAY, ...NO_RESCREENS }), 4 * DAY);
    life.caughtUp(answered('pass', 'second', 4 * DAY), 4 * DAY).portal(cancelOf(TRANSACTION_ID), 4 * DAY);
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
    life
      .portalEnds('refused', 4 * DAY)
      .portal(cancelOf(TRANSACTION_ID), 5 * DAY)
      .portal(cancelOf('second'), 8 * DAY);
    expect(life.told.slice(1)).toEqual(['cancel-window-closed', 'waits']);
    expect(life.replies[1]).toMatchObject({ refusal: { cancelBy: sinceStart(5 * DAY) } });
  });

  it('of an earlier attempt’s transaction goes at once while the next one is being screened', () => {
    const life = withRetry().retried(unanswered(), MINUTE).portal(cancelOf(TRANSACTION_ID));
    expect(life.underWay).toContain('catch-up:2:0');
    expect(life.portalEnds('done').actions).toEqual(['done']);
    expect(life.state).toMatchObject({ phase: 'screening', decision: 'pending' });
  });
});

describe('a cancel of an order whose screening was given up', () => {
  /** The cancel’s lookup has found a transaction, and the cancel is on its way. */
  function lookedUp(decision: 'pass' | 'review' | 'fail'): Life {
    const life = screened(unanswered(), { screeningDeadlineMs: HOUR, events: 'all' }).until(HOUR);
    return life.break('catch-up', 'canceled').portal('cancel').lookedUp(decision);
  }

  it.each([
    ['pass', 'hold', 'proceed', 'decided'],
    ['review', 'hold', 'hold', 'review'],
    ['fail', 'cancel', 'cancel', 'decided'],
  ] as const)(
    'finds its decision %s: that means %s, and %s when the cancel is withdrawn',
    (decision, meanwhile, action, phase) => {
      const life = lookedUp(decision);
      const event = { type: 'order.decided', data: { decision, action: meanwhile } };
      expect(life.state.events.last?.at(-1)).toMatchObject(event);
      life.withdraw(1).portalEnds('not-sent');
      expect(life).toMatchObject({ decision, action, phase, attention: [] });
    },
  );
});

describe('a retry that comes while the attempt before it is being screened, as after a reset', () => {
  it('is held until its turn comes, and so are those after it', () => {
    const life = [2, 3, 4].reduce((before, attempt) => before.retry(attempt, MINUTE), screened('fail'));
    for (const attempt of [2, 3, 4]) {
      expect(life.underWay).toEqual([`retry:${attempt}`]);
      expect([mayContinueAsNew(life.order), isFinished(life.order)]).toEqual([false, false]);
      life.retried(answered('fail', `t-${attempt}`), MINUTE);
    }
    expect(life.replies).toMatchObject([2, 3, 4].map((attempt) => ({ checkout: { attempt } })));
    expect(life.order.earlyRetries).toEqual([]);
  });

  it('is followed by the payment gateway’s result of its attempt, which is remembered', () => {
    const sent = { updateId: 'u-1', key: { name: 'k-1', fingerprint: 'f-1' } };
    const result = { attempt: 3, result: 'pass' } as const;
    const input = () => {
      const request = { kind: 'gateway-result', request: result } as const;
      return { kind: 'request', request, sent, at: sinceStart(MINUTE) } as const;
    };
    const life = screened('fail', { workflow: 'pre-gateway' })
      .retry(2, MINUTE)
      .retry(3, MINUTE)
      .take(input());
    expect(life.told).toEqual(['waits', 'waits', 'waits']);
    life.retried('fail', MINUTE).take(input());
    expect(life.told).toEqual(['answered', 'waits', 'answered', 'answered']);
    life.retried(answered('pass', 't-3'), 2 * MINUTE);
    expect(life.state.attempts).toMatchObject([{}, {}, { gateway: { result: 'pass' } }]);
    expect(life.calls('gateway').map(({ request }) => request.transactionId)).toEqual(['t-3']);
  });

  it('is refused when its turn does not come, and so is the payment gateway’s result', () => {
    const life = screened('fail', { workflow: 'pre-gateway' }).retry(2, MINUTE).retry(3, MINUTE);
    life.gateway('pass', MINUTE, 3).retried('pass', MINUTE);
    expect(life.told).toEqual(['answered', 'retry-out-of-turn', 'unknown-attempt']);
    expect(life.order.earlyRetries).toEqual([]);
  });

  it('is refused when its turn does not come', () => {
    const life = withRetry().retry(4, MINUTE);
    expect(life.told).toEqual(['waits', 'waits']);
    expect(life.retried('fail', MINUTE).told).toEqual(['answered', 'retry-out-of-turn']);
    expect(isFinished(life.until(2 * HOUR).order)).toBe(true);
  });
});

describe('a catch-up that was running at the screening deadline', () => {
  it.each<ScreeningOutcome>([
    unanswered(),
    { kind: 'forbidden' },
    { kind: 'refused', reason: 'refused' },
    answered('error'),
  ])('and ends $kind changes neither the reason nor what was sent', (outcome) => {
    const policy = { events: 'all', ...NO_RESCREENS } as const;
    const life = screened(unanswered(), policy).until(DAY);
    const { outbox } = life;
    expect(life.caughtUp(outcome, DAY).state).toMatchObject({
      decision: 'error',
      reason: 'screening-deadline',
    });
    expect(life).toMatchObject({ outbox, attention: ['no-decision'] });
  });
});

describe('a cancel while an order whose decision is «error» is screened again', () => {
  const rescreenOnError = { tries: 1, pauseMs: MINUTE };
  const again = () =>
    screened('error', { screeningDeadlineMs: DAY, rescreenOnError, events: 'all' }).until(HOUR);

  it('that names its transaction is sent beside one that names none, which follows the newest', () => {
    const named = cancelOf(TRANSACTION_ID);
    for (const [one, other] of [
      [named, 'cancel'],
      ['cancel', named],
    ] as const) {
      const life = again().portal(one).portal(other).portal(one).portal(other);
      expect(life.actions).toHaveLength(2);
      life.break('catch-up', 'canceled').lookedUp('pass', HOUR, 'second');
      expect(sentTo(life).sort()).toEqual([TRANSACTION_ID, 'second'].sort());
    }
  });

  it('twice is one request if the screening brings nothing new', () => {
    const life = again().portal('cancel').portal(cancelOf(TRANSACTION_ID));
    life.break('catch-up', 'canceled').lookedUp('none', HOUR);
    expect(life.calls('portal')).toHaveLength(1);
    expect(life.portalEnds('done')).toMatchObject({ actions: ['done', 'done'], told: ['done', 'done'] });
    expect(life.calls('portal')).toHaveLength(1);
  });

  it('that names none is sent though the other was done before a second transaction is found, and told once', () => {
    const life = again().portal(cancelOf(TRANSACTION_ID)).portal('cancel');
    life.break('catch-up', 'canceled').portalEnds('done').lookedUp('pass', HOUR, 'second');
    expect(sentTo(life)).toEqual([TRANSACTION_ID, 'second']);
    expect(life.portalEnds('done').actions).toEqual(['done', 'done']);
    expect(life.outbox.filter((type) => type === 'order.canceled')).toHaveLength(1);
  });
});

const SKIPPED = { kind: 'skipped', rule: 0 } as const;

/** An order whose first attempt was declined, and whose second one is being screened. */
function retrying(workflow: 'pre-gateway' | 'pre-acceptance' = 'pre-acceptance'): Life {
  const transaction = { payment: { method: 'gift card' } };
  return screened('fail', { workflow, events: 'all' }).retry(2, MINUTE, transaction);
}

const skipped = () => retrying('pre-gateway').retried(SKIPPED, MINUTE);

it('a later attempt that policy skips proceeds, says so, and leaves the first attempt’s transaction on record', () => {
  const { state, order, underWay } = skipped();
  const decided = { decision: 'skipped', action: 'proceed' };
  expect(state).toMatchObject({ ...decided, phase: 'decided', attention: [] });
  expect(state.attempts.map(({ decision }) => decision)).toEqual(['fail', 'skipped']);
  expect(state.transactions).toMatchObject([{ id: TRANSACTION_ID, attempt: 1 }]);
  expect(state.attempts[1]?.answer).toMatchObject({ ...decided, attempt: 2 });
  expect(order.outbox.map(({ type, data }) => [type, data.decision, data.attempt])).toEqual([
    ['order.decided', 'fail', 1],
    ['order.decided', 'skipped', 2],
  ]);
  expect(underWay.filter((key) => !key.startsWith('deliver'))).toEqual([]);
});

it('a catch-up is told that the skip rules were not read only where the checkout failed before', () => {
  const maySkip = (life: Life) => life.calls('catch-up').map(({ request }) => request.mayBeSkipped);
  const broken = retrying()
    .break('retry-screening')
    .until(MINUTE + 10_000);
  expect(maySkip(broken)).toEqual([true]);
  broken.caughtUp(SKIPPED, 2 * MINUTE);
  expect(broken.state).toMatchObject({ phase: 'closed', decision: 'skipped', action: 'proceed' });
  expect(broken.state).not.toHaveProperty('reason');

  expect(maySkip(retrying().retried(unanswered(), MINUTE))).toEqual([undefined]);
  const again = retrying()
    .break('retry-screening')
    .until(MINUTE + 10_000);
  again.caughtUp(answered('error', 'second'), 2 * MINUTE).until(4 * MINUTE);
  expect(maySkip(again)).toEqual([true, undefined]);
});

it('an attempt that breaks a rule of ours is not blamed on the screening service', () => {
  const words = 'payment.creditCard is required';
  const { state } = retrying().retried({ kind: 'refused', reason: 'invalid-request', words }, MINUTE);
  expect(state.attention).toMatchObject([
    { code: 'no-decision', words: `The transaction is invalid and was not sent: ${words}.` },
  ]);
});

it('a later attempt whose activity broke is screened ten seconds later, not five minutes', () => {
  const life = screened('fail').retry(2, MINUTE).break('retry-screening');
  const call = life.timers.find(({ effect }) => effect.key.startsWith('retry:'))?.effect.call;
  expect(call).toMatchObject({ leastMs: 10_000 });
});
