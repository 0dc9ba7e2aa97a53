import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { isFinished, mayContinueAsNew } from '../../src/orders/kernel.ts';
import {
  answered,
  DAY,
  found,
  HOUR,
  MINUTE,
  NOT_SENT,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { type Life, RECHECK, screened } from './life.ts';

/** Has an operator ask for another screening of an order whose decision is «error» to the end. */
function recheck(life: Life, at: number): Life {
  return life.take(RECHECK).end({ kind: 'read', outcome: undefined }, at);
}

/** An order whose second attempt is being screened. */
function withRetry(): Life {
  const life = screened('fail');
  life.retry(2, MINUTE);
  return life;
}

const cancelOf = (transactionId: string) => ({ kind: 'cancel', transactionId }) as const;
const canceled = (life: Life) => life.calls('portal').map(({ request }) => request.transactionId);

describe('an order that was given up and is screened again', () => {
  const givenUp = () => screened(unanswered(), { screeningDeadlineMs: HOUR }).until(HOUR);

  it('is looked for by the number that its first create may have been sent with; after that it has another', () => {
    const life = recheck(givenUp().break('catch-up', 'canceled'), 2 * HOUR);
    const request = () => life.calls('catch-up').at(-1)?.request;
    expect(request()).toMatchObject({ invoiceNumber: 'order-1', unseenSince: sinceStart(0) });
    life.caughtUp(found('error'), 2 * HOUR).until(2 * HOUR + MINUTE);
    expect(request()?.invoiceNumber).toBe('order-1~1.2');
  });

  it('is not screened beside a create that is on its way', () => {
    const life = givenUp();
    expect(life.state.phase).toBe('decided');
    expect(recheck(life, 2 * HOUR).state.phase).toBe('screening');
    life.caughtUp(answered('pass', 'first'), 3 * HOUR);
    expect(life.state).toMatchObject({ decision: 'pass', transactions: [{ id: 'first' }] });
    expect(life.calls('catch-up')).toHaveLength(1);
  });
});

it('a screening in the background says since when a create may be under way', () => {
  const life = screened(NOT_SENT).caughtUp({ kind: 'forbidden', unseenSince: sinceStart(1) }, MINUTE);
  life.caughtUp({ kind: 'forbidden' }, 2 * MINUTE);
  const since = life.calls('catch-up').map(({ request }) => request.unseenSince);
  expect(since).toEqual([undefined, sinceStart(1), undefined]);
});

describe('a cancel', () => {
  it('while the order is screened again looks for the transaction that this may have made', () => {
    const life = screened('error').until(MINUTE);
    life.portal('cancel');
    life.break('catch-up', 'canceled').lookedUp('error', HOUR, 'second');
    expect(canceled(life)).toEqual(['second']);
  });

  it('right behind a retry waits for the new attempt’s transaction', () => {
    const life = withRetry();
    const ticket = life.portal('cancel', MINUTE);
    expect(canceled(life)).toEqual([]);
    expect(canceled(life.retried('pass', MINUTE))).toEqual(['second']);
    expect(life.portalEnds('done', MINUTE).told(ticket)).toBe('done');
  });

  it('of a transaction from before the order was screened again has the window of that transaction', () => {
    const rescreenOnError = { tries: 0, pauseMs: MINUTE };
    const life = recheck(screened('error', { screeningDeadlineMs: DAY, rescreenOnError }), 4 * DAY);
    life.caughtUp(answered('pass', 'second', 4 * DAY), 4 * DAY);
    const ask = (transactionId: string, at: number) =>
      refusalOf(life.order, { kind: 'portal', fields: cancelOf(transactionId) }, sinceStart(at));
    const closed = { code: 'cancel-window-closed', cancelBy: sinceStart(5 * DAY) };
    expect(ask(TRANSACTION_ID, 5 * DAY)).toMatchObject(closed);
    expect(ask('second', 8 * DAY)).toBeUndefined();
    life.portal(cancelOf(TRANSACTION_ID), 4 * DAY);
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
  });

  it('of an earlier attempt’s transaction goes at once while the next one is being screened', () => {
    const life = withRetry().retried(unanswered(), MINUTE);
    const ticket = life.portal(cancelOf(TRANSACTION_ID));
    expect(life.underWay).toContain('catch-up:2:0');
    expect(life.portalEnds('done').told(ticket)).toBe('done');
    expect(life.state).toMatchObject({ phase: 'screening', decision: 'pending', cancelAsked: false });
  });
});

describe('a cancel of an order whose screening was given up', () => {
  /** The cancel’s lookup has found a transaction, and the cancel is on its way. */
  function lookedUp(decision: 'pass' | 'review' | 'fail' | 'error'): Life {
    const life = screened(unanswered(), { screeningDeadlineMs: HOUR, events: 'all' }).until(HOUR);
    life.break('catch-up', 'canceled').portal('cancel');
    return life.lookedUp(decision);
  }

  it.each([
    ['pass', 'proceed', 'decided'],
    ['review', 'hold', 'review'],
    ['fail', 'cancel', 'decided'],
  ] as const)(
    'finds its decision %s: that means %s also when the cancel is withdrawn',
    (decision, action, phase) => {
      const life = lookedUp(decision);
      const event = { type: 'order.decided', data: { decision, action } };
      expect(life.state.events.last?.at(-1)).toMatchObject(event);
      life.withdraw(1);
      expect(life.portalEnds('not-sent').state).toMatchObject({ decision, action, phase, attention: [] });
    },
  );

  it('finds an error again, which tells nothing new', () => {
    const { state, attention } = lookedUp('error');
    expect(state).toMatchObject({ decision: 'error', action: 'hold', phase: 'decided' });
    expect([attention, state.events.sequence]).toEqual([['no-decision'], 2]);
  });
});

it('another attempt of an order whose decision is error to the end clears what was the matter', () => {
  const life = screened({ kind: 'refused', reason: 'card-data-expired' });
  expect(life.attention).toEqual(['no-decision']);
  life.retry(2, MINUTE);
  expect(life.retried('pass', MINUTE).attention).toEqual([]);
  expect(life.state.reason).toBeUndefined();
});

describe('a retry that comes while the attempt before it is being screened, as after a reset', () => {
  it('is held until its turn comes, and so are those after it', () => {
    const life = screened('fail');
    const tickets = [2, 3, 4].map((attempt) => life.retry(attempt, MINUTE));
    for (const attempt of [2, 3, 4]) {
      expect(life.underWay).toEqual([`retry:${attempt}`]);
      expect(mayContinueAsNew(life.order)).toBe(false);
      life.retried(answered('fail', `t-${attempt}`), MINUTE);
    }
    for (const [index, ticket] of tickets.entries())
      expect(life.replies.get(ticket)).toMatchObject({ checkout: { attempt: index + 2 } });
    expect(life.order.earlyRetries).toEqual([]);
  });

  it('is refused when its turn does not come', () => {
    const life = withRetry();
    const fourth = life.retry(4, MINUTE);
    expect(life.told(fourth)).toBeUndefined();
    expect(life.retried('fail', MINUTE).told(fourth)).toBe('retry-out-of-turn');
    expect(isFinished(life.until(2 * HOUR).order)).toBe(true);
  });
});
