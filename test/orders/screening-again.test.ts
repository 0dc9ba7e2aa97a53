import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/contract/words.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import { isFinished, mayContinueAsNew } from '../../src/orders/kernel.ts';
import {
  answered,
  attention,
  DAY,
  found,
  HOUR,
  MINUTE,
  NOT_SENT,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { type Life, RECHECK, screened, told } from './life.ts';

const DONE = { kind: 'done', code: '200' } as const;

/** Has an operator ask for another screening of an order whose decision is «error» to the end. */
function recheck(life: Life, at: number): Life {
  return life.take(RECHECK).end({ kind: 'read', outcome: undefined }, at);
}

function cancel(life: Life, at: number, transactionId?: string): number {
  const fields = { kind: 'cancel' as const, ...(transactionId !== undefined && { transactionId }) };
  return life.ask({ kind: 'portal', fields }, at);
}

/** An order whose second attempt is being screened. */
function withRetry(): Life {
  const life = screened('fail');
  life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
  return life;
}

describe('an order that was given up and is screened again', () => {
  it('is looked for by the number that its first create may have been sent with; after that it has another', () => {
    const life = screened(unanswered(), { invoicePerAttempt: true, screeningDeadlineMs: HOUR }).until(HOUR);
    recheck(life.break('catch-up', 'canceled'), 2 * HOUR);
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject({
      invoiceNumber: 'order-1',
      unseenSince: sinceStart(0),
    });
    life.end({ kind: 'catch-up', outcome: found('error') }, 2 * HOUR).until(2 * HOUR + MINUTE);
    expect(life.calls('catch-up').at(-1)?.request.invoiceNumber).toBe('order-1~1.2');
  });

  it('is not screened beside a create that is on its way', () => {
    const life = screened(unanswered(), { screeningDeadlineMs: HOUR }).until(HOUR);
    expect(life.order.state.phase).toBe('decided');
    recheck(life, 2 * HOUR);
    expect(life.order.state.phase).toBe('screening');
    expect(life.calls('catch-up')).toHaveLength(1);
    life.end({ kind: 'catch-up', outcome: answered('pass', 'first') }, 3 * HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', transactions: [{ id: 'first' }] });
    expect(life.calls('catch-up')).toHaveLength(1);
  });
});

it('a screening in the background says since when a create may be under way', () => {
  const life = screened(NOT_SENT);
  expect(life.calls('catch-up')[0]?.request).not.toHaveProperty('unseenSince');
  life.end({ kind: 'catch-up', outcome: { kind: 'forbidden', unseenSince: sinceStart(1) } }, MINUTE);
  expect(life.calls('catch-up')[1]?.request).toMatchObject({ unseenSince: sinceStart(1) });
  life.end({ kind: 'catch-up', outcome: { kind: 'forbidden' } }, 2 * MINUTE);
  expect(life.calls('catch-up')[2]?.request).not.toHaveProperty('unseenSince');
});

describe('a cancel', () => {
  it('while the order is screened again looks for the transaction that this may have made', () => {
    const life = screened('error').until(MINUTE);
    cancel(life, HOUR);
    life.break('catch-up', 'canceled');
    const found = { kind: 'found', transactionId: 'second', decision: 'error' } as const;
    life.end({ kind: 'look-up', outcome: found }, HOUR);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'second' } }]);
  });

  it('right behind a retry waits for the new attempt’s transaction', () => {
    const life = withRetry();
    const ticket = cancel(life, MINUTE);
    expect(life.calls('portal')).toEqual([]);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 'second') }, MINUTE);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 'second' } }]);
    life.end({ kind: 'portal', outcome: DONE }, MINUTE);
    expect(told(life, ticket)).toBe('done');
  });

  it('of a transaction from before the order was screened again has the window of that transaction', () => {
    const life = screened('error', {
      screeningDeadlineMs: DAY,
      rescreenOnError: { tries: 0, pauseMs: MINUTE },
    });
    const rescreened = answered('pass', 'second', 4 * DAY);
    recheck(life, 4 * DAY).end({ kind: 'catch-up', outcome: rescreened }, 4 * DAY);
    const ask = (transactionId: string, at: number) =>
      refusalOf(life.order, { kind: 'portal', fields: { kind: 'cancel', transactionId } }, sinceStart(at));
    expect(ask(TRANSACTION_ID, 5 * DAY)).toMatchObject({
      code: 'cancel-window-closed',
      cancelBy: sinceStart(5 * DAY),
    });
    expect(ask('second', 8 * DAY)).toBeUndefined();
    cancel(life, 4 * DAY, TRANSACTION_ID);
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
  });

  it('of an earlier attempt’s transaction goes at once while the next one is being screened', () => {
    const life = withRetry().end({ kind: 'retry-screening', outcome: unanswered() }, MINUTE);
    const ticket = cancel(life, HOUR, TRANSACTION_ID);
    expect(life.underWay).toContain('catch-up:2:0');
    life.end({ kind: 'portal', outcome: DONE }, HOUR);
    expect(told(life, ticket)).toBe('done');
    expect(life.order.state).toMatchObject({ phase: 'screening', decision: 'pending', cancelAsked: false });
  });
});

describe('a cancel of an order whose screening was given up', () => {
  /** The cancel's look-up has found a transaction, and the cancel is on its way. */
  function lookedUp(decision: Decision): Life {
    const life = screened(unanswered(), { screeningDeadlineMs: HOUR, events: 'all' }).until(HOUR);
    life.break('catch-up', 'canceled');
    cancel(life, HOUR);
    return life.end({ kind: 'look-up', outcome: { kind: 'found', transactionId: 'found', decision } }, HOUR);
  }

  it.each([
    ['pass', 'proceed', 'decided'],
    ['review', 'hold', 'review'],
    ['fail', 'cancel', 'decided'],
  ] as const)(
    'finds its decision %s: that means %s also when the cancel is withdrawn',
    (found, action, phase) => {
      const life = lookedUp(found);
      expect(life.order.state.events.last?.at(-1)).toMatchObject({
        type: 'order.decided',
        data: { decision: found, action },
      });
      life.ask({ kind: 'withdraw', request: { number: 1 } }, HOUR);
      life.end({ kind: 'portal', outcome: { kind: 'not-sent' } }, HOUR);
      expect(life.order.state).toMatchObject({ decision: found, action, phase });
      expect(attention(life.order.state)).toEqual([]);
    },
  );

  it('finds an error again, which tells nothing new', () => {
    const { state } = lookedUp('error').order;
    expect(state).toMatchObject({ decision: 'error', action: 'hold', phase: 'decided' });
    expect(attention(state)).toEqual(['no-decision']);
    expect(state.events.sequence).toBe(2);
  });
});

describe('another attempt', () => {
  it('of an order whose decision is error to the end clears what was the matter', () => {
    const life = screened({ kind: 'refused', reason: 'card-data-expired' });
    expect(attention(life.order.state)).toEqual(['no-decision']);
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    life.end({ kind: 'retry-screening', outcome: answered('pass', 'second') }, MINUTE);
    expect(attention(life.order.state)).toEqual([]);
    expect(life.order.state.reason).toBeUndefined();
  });
});

describe('a retry that comes while the attempt before it is being screened, as after a reset', () => {
  const retry = (life: Life, attempt: number) =>
    life.ask({ kind: 'retry', request: { attempt, transaction: {} } }, MINUTE);
  const screenNext = (life: Life, transactionId: string) =>
    life.end({ kind: 'retry-screening', outcome: answered('fail', transactionId) }, MINUTE);

  it('is held until its turn comes, and so are those after it', () => {
    const life = screened('fail');
    const [second, third, fourth] = [2, 3, 4].map((attempt) => retry(life, attempt));
    expect(life.underWay).toEqual(['retry:2']);
    expect(mayContinueAsNew(life.order)).toBe(false);
    screenNext(life, 'second');
    expect(life.underWay).toEqual(['retry:3']);
    screenNext(life, 'third');
    screenNext(life, 'fourth');
    for (const [index, ticket] of [second, third, fourth].entries())
      expect(life.replies.get(ticket ?? 0)).toMatchObject({ checkout: { attempt: index + 2 } });
    expect(life.order.earlyRetries).toEqual([]);
  });

  it('is refused when its turn does not come', () => {
    const life = screened('fail');
    retry(life, 2);
    const fourth = retry(life, 4);
    expect(told(life, fourth)).toBeUndefined();
    screenNext(life, 'second');
    expect(told(life, fourth)).toBe('retry-out-of-turn');
    expect(isFinished(life.until(2 * HOUR).order)).toBe(true);
  });
});
