import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invoiceNumberOf } from '../../src/orders/screen-request.ts';
import {
  answered,
  attention,
  DAY,
  found,
  HOUR,
  MINUTE,
  NOT_SENT,
  sinceStart,
  unanswered,
} from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { type Life, RECHECK, screened } from './life.ts';

describe('a transaction that a lookup finds by an invoice number of two attempts', () => {
  /** Attempt 1 left a create that nobody has seen; then attempt 2’s lookup found a transaction, an hour after. */
  function secondFound(): Life {
    const life = screened(unanswered(), { invoicePerAttempt: false, screeningDeadlineMs: HOUR }).until(HOUR);
    life.break('catch-up', 'canceled');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, HOUR);
    return life.end({ kind: 'retry-screening', outcome: found('pass', 't-1', HOUR) }, HOUR);
  }

  it('belongs to attempt 1, with the window of its create', () => {
    const { transactions, attempts } = secondFound().order.state;
    expect(transactions).toMatchObject([
      { id: 't-1', attempt: 1, decision: 'pass', found: 'lookup', cancelBy: sinceStart(5 * DAY) },
    ]);
    expect(attempts[0]).toMatchObject({ decision: 'pass' });
    expect(attempts[0]).not.toHaveProperty('unseen');
  });

  it('never answers attempt 2, which stays pending with attention', () => {
    const life = secondFound();
    const { state } = life.order;
    expect(state.attempts[1]?.answer).toMatchObject({ decision: 'pending', action: 'hold' });
    expect(state.attempts[1]?.answer).not.toHaveProperty('transactionId');
    expect(state).toMatchObject({ phase: 'screening', decision: 'pending', reason: 'earlier-attempt' });
    expect(attention(state)).toEqual(['transaction-unseen']);
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject({
      attempt: 2,
      unseenSince: sinceStart(HOUR),
      knownTransactionIds: ['t-1'],
    });
  });

  it('leaves attempt 2 an error with attention at the screening deadline', () => {
    const life = secondFound().until(2 * HOUR);
    expect(life.order.state).toMatchObject({ phase: 'decided', decision: 'error', action: 'hold' });
    expect(attention(life.order.state)).toEqual(['transaction-unseen', 'no-decision']);
    expect(life.order.state.transactions).toHaveLength(1);
  });

  it('belongs to attempt 2 when attempt 1 left no create that nobody has seen', () => {
    const life = screened(answered('fail', 't-1'), { invoicePerAttempt: false });
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    life.end({ kind: 'retry-screening', outcome: found('pass', 't-2', MINUTE) }, MINUTE);
    expect(life.order.state).toMatchObject({ decision: 'pass', action: 'proceed' });
    expect(life.order.state.transactions.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['t-1', 1],
      ['t-2', 2],
    ]);
  });

  it('of attempt 2 is its own by default: each attempt has an invoice number of its own', () => {
    const life = screened(unanswered(), { screeningDeadlineMs: HOUR })
      .until(HOUR)
      .break('catch-up', 'canceled');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, HOUR);
    expect(life.calls('retry-screening')[0]?.request.invoiceNumber).toBe('order-1~2');
    life.end({ kind: 'retry-screening', outcome: found('pass', 't-2', HOUR) }, HOUR);
    expect(life.order.state).toMatchObject({ decision: 'pass', transactions: [{ id: 't-2', attempt: 2 }] });
    expect(life.underWay).toContain('look-up:1');
  });
});

describe('the cancel window', () => {
  it('of a rescreen that a lookup finds counts from the rescreen’s own create', () => {
    const life = screened('error', { rescreenOnError: { tries: 0, pauseMs: MINUTE } }).until(3 * DAY);
    life.take(RECHECK).end({ kind: 'read', outcome: undefined }, 3 * DAY);
    expect(life.order.state.attempts[0]?.unseen).toMatchObject({ since: sinceStart(3 * DAY) });
    life.end({ kind: 'catch-up', outcome: found('review', 't-2', 3 * DAY) }, 3 * DAY + HOUR);
    expect(life.order.state.transactions.at(-1)).toMatchObject({ id: 't-2', cancelBy: sinceStart(8 * DAY) });
  });

  it('of a rescreen that is under way keeps the order open: its fail is canceled', () => {
    const late = 2 * HOUR + 20 * MINUTE;
    const life = screened('error', {
      workflow: 'post-acceptance',
      cancelWindowMs: HOUR,
      rescreenOnError: { tries: 1, pauseMs: 2 * HOUR },
      screeningDeadlineMs: 2 * HOUR + MINUTE,
    }).until(late);
    life.end({ kind: 'catch-up', outcome: answered('fail', 't-2', 2 * HOUR) }, late);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 't-2' } }]);
  });

  it('after an outage counts from the create that was sent then: a later fail is canceled', () => {
    const life = screened(NOT_SENT);
    life.end({ kind: 'catch-up', outcome: answered('review', 't-1', 20 * HOUR) }, 20 * HOUR);
    expect(life.order.state.transactions).toMatchObject([{ cancelBy: sinceStart(140 * HOUR) }]);
    life.end({ kind: 'poll', outcome: { kind: 'read', decision: 'fail' } }, 130 * HOUR);
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(140 * HOUR - 30_000) } }]);
  });
});

describe('an invoice number', () => {
  it('of an order whose id ends like a later create’s is no other order’s', () => {
    expect(invoiceNumberOf('1001', undefined, { attempt: 2, create: 1 }, true)).toBe('1001~2');
    expect(invoiceNumberOf('1001~2', undefined, { attempt: 1, create: 1 }, true)).toBe('1001~2~1');
    expect(invoiceNumberOf('1001~2', undefined, { attempt: 2, create: 1 }, true)).toBe('1001~2~2');
    expect(invoiceNumberOf('1001~1.2', undefined, { attempt: 1, create: 1 }, true)).toBe('1001~1.2~1');
    expect(invoiceNumberOf('1001-2', undefined, { attempt: 1, create: 1 }, true)).toBe('1001-2');
  });

  it('of a rescreen is none that another attempt has', () => {
    const life = screened('error', { rescreenOnError: { tries: 0, pauseMs: MINUTE } }).until(3 * DAY);
    life.take(RECHECK).end({ kind: 'read', outcome: undefined }, 3 * DAY);
    expect(life.calls('catch-up')[0]?.request.invoiceNumber).toBe('order-1~1.2');
  });

  it('of 64 characters stays as it is for the first create, and is cut for a later one', () => {
    const id = '7'.repeat(64);
    expect(invoiceNumberOf(id, undefined, { attempt: 1, create: 1 }, true)).toBe(id);
    const second = invoiceNumberOf(id, undefined, { attempt: 2, create: 1 }, true);
    expect(second).toMatch(/^7{53}~[0-9a-f]{8}~2$/);
  });

  it('tells two long ids apart that have the same beginning', () => {
    const [one, other] = ['a', 'b'].map((end) =>
      invoiceNumberOf('x'.repeat(64) + end, undefined, { attempt: 1, create: 1 }, true),
    );
    expect(one).not.toBe(other);
    expect([one?.length, other?.length]).toEqual([64, 64]);
  });

  const id = fc.string({ unit: fc.constantFrom('😀', 'a', '~', '1', '字'), minLength: 1, maxLength: 80 });
  const counted = fc.integer({ min: 1, max: 80 });
  const which = fc.record({ attempt: counted, create: counted });
  property([id, which])('has at most 64 characters, none of them half of one', (orderId, one) => {
    const invoice = invoiceNumberOf(orderId, undefined, one, true);
    expect(invoice.length).toBeLessThanOrEqual(64);
    expect(() => encodeURIComponent(invoice)).not.toThrow();
  });

  property([id, which, id, which])('is of one order and one create', (one, first, other, second) => {
    fc.pre(one !== other || !isDeepStrictEqual(first, second));
    expect(invoiceNumberOf(one, undefined, first, true)).not.toBe(
      invoiceNumberOf(other, undefined, second, true),
    );
  });
});
