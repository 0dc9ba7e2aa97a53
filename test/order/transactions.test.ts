import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currentAttempt } from '../../src/order/record.ts';
import { invoiceNumberOf } from '../../src/order/screening/checkout.ts';
import { cancelByOf, lastCall, transactionOf, windowOpen } from '../../src/order/transactions.ts';
import { answerNow } from '../../src/order/view/answers.ts';
import {
  answered,
  DAY,
  found,
  HOUR,
  MINUTE,
  NO_RESCREENS,
  NOT_SENT,
  START,
  sinceStart,
  TRANSACTION_ID,
  unanswered,
} from '../fixtures/orders.ts';
import { property } from '../support/property.ts';
import { HINT, type Life, RECHECK, screened } from './life.ts';

/** An order with the decision «error», which an operator has screened again after three days. */
function rescreened(): Life {
  const life = screened('error', NO_RESCREENS).until(3 * DAY);
  return life.take(RECHECK).end({ kind: 'read', outcome: undefined }, 3 * DAY);
}

describe('a transaction that a lookup finds by an invoice number of two attempts', () => {
  /** Attempt 1 was given up without an answer after an hour. Then attempt 2’s lookup found a transaction. */
  function secondFound(): Life {
    const policy = { invoicePerAttempt: false, screeningDeadlineMs: HOUR };
    const life = screened(unanswered(), policy).until(HOUR).break('catch-up', 'canceled');
    return life.retry(2, HOUR).retried(found('pass', 't-1', HOUR), HOUR);
  }

  it('belongs to attempt 1, with the window of its create', () => {
    const { transactions, attempts } = secondFound().state;
    const found = { decision: 'pass', found: 'lookup', cancelBy: sinceStart(5 * DAY) };
    expect(transactions).toMatchObject([{ id: 't-1', attempt: 1, ...found }]);
    expect(attempts[0]).toMatchObject({ decision: 'pass' });
    expect(attempts[0]).not.toHaveProperty('unseen');
  });

  it('answers neither attempt: attempt 2 may have created it', () => {
    const answer = answerNow(secondFound().state, 1);
    expect(answer).toMatchObject({ attempt: 1, decision: 'pending' });
    expect(answer).not.toHaveProperty('transactionId');
  });

  it('answers attempt 1 if policy skipped attempt 2, which created nothing', () => {
    const policy = { invoicePerAttempt: false, workflow: 'pre-gateway', whenUnavailable: 'proceed' } as const;
    const life = screened(unanswered(), policy).gateway('fail', MINUTE).break('catch-up', 'canceled');
    life.retry(2, MINUTE).retried({ kind: 'skipped', rule: 0 }, MINUTE).lookedUp('review', HOUR);
    const answer = { attempt: 1, decision: 'review', transactionId: 'found' };
    expect(answerNow(life.state, 1)).toMatchObject(answer);
  });

  it('leaves attempt 1 its decline, which is final', () => {
    const life = screened(unanswered(), { invoicePerAttempt: false, whenUnavailable: 'decline' });
    const { state } = life.retry(2, MINUTE).retried(found('pass', 't-1', MINUTE), MINUTE);
    expect(state.transactions).toMatchObject([{ attempt: 1, found: 'lookup' }]);
    expect(state.attempts[0]?.answer).toMatchObject({ decision: 'pending', action: 'decline' });
    expect(answerNow(state, 1)).toEqual(state.attempts[0]?.answer);
  });

  it('never answers attempt 2, which stays pending with attention', () => {
    const life = secondFound();
    const answer = life.state.attempts[1]?.answer;
    expect(answer).toMatchObject({ decision: 'pending', action: 'hold' });
    expect(answer).not.toHaveProperty('transactionId');
    const state = { phase: 'screening', decision: 'pending', reason: 'earlier-attempt' };
    expect(life.state).toMatchObject(state);
    expect(life.attention).toEqual(['transaction-unseen']);
    const request = { attempt: 2, unseenSince: sinceStart(HOUR), knownTransactionIds: ['t-1'] };
    expect(life.calls('catch-up').at(-1)?.request).toMatchObject(request);
    // It is an error at the screening deadline.
    life.until(2 * HOUR);
    expect(life.state).toMatchObject({ phase: 'decided', decision: 'error', action: 'hold' });
    expect(life.attention).toEqual(['transaction-unseen', 'no-decision']);
    expect(life.state.transactions).toHaveLength(1);
  });
});

function cancelBys({ state }: Life): Record<string, string> {
  return Object.fromEntries(state.transactions.map(({ id, cancelBy }) => [id, cancelBy]));
}

describe('the cancel window', () => {
  it('keeps a hundredth of a short window', () => {
    expect(lastCall(sinceStart(10_000), 10_000)).toBe(sinceStart(9_900));
  });

  property([fc.integer({ min: 1_000, max: 5 * DAY }), fc.double({ min: 0, max: 1, noNaN: true })])(
    'is never open in its last 30 s or hundredth, whichever is less, and always before',
    (ms, share) => {
      const at = START + ms * share;
      expect(windowOpen(sinceStart(ms), ms, at)).toBe(at < START + ms - Math.min(30_000, ms / 100));
    },
  );

  it('of a transaction that is seen again stays', () => {
    const life = screened(answered('error', 't-1'))
      .until(MINUTE)
      .caughtUp(found('pass', 'T-1', MINUTE), 2 * MINUTE);
    expect(cancelBys(life)).toEqual({ 't-1': sinceStart(5 * DAY) });
    expect(life.state.transactions).toMatchObject([{ decision: 'pass', source: 'rescreen' }]);
  });

  it('of a create that may have been sent counts from the first one, whatever is tried since', () => {
    const life = screened(unanswered()).break('catch-up').until(HOUR);
    expect(life.calls('catch-up')).toHaveLength(2);
    expect(life.state.attempts[0]?.unseen?.since).toBe(sinceStart(0));
  });

  it('of an order is that of the transaction with the decision when a later one comes to nothing', () => {
    const life = screened('error', { screeningDeadlineMs: HOUR }).until(HOUR);
    life
      .take(HINT)
      .read('pass', HOUR)
      .caughtUp(answered('error', 'second', HOUR), HOUR);
    const attempt = currentAttempt(life.state);
    expect(transactionOf(life.state, attempt)?.id).toBe(TRANSACTION_ID);
    expect(cancelByOf(life.state, attempt)).toBe(sinceStart(5 * DAY));
    expect(cancelBys(life)).toMatchObject({ second: sinceStart(5 * DAY + HOUR) });
  });

  it('of a transaction that the run before a reset made counts from the order’s start when a lookup before a cancel finds it', () => {
    // The activity knows of the reset, and says that the create may have been sent since the order's start.
    const outcome = { kind: 'found', transactionId: 't-1', decision: 'pass' } as const;
    const life = screened(unanswered(HOUR), { screeningDeadlineMs: DAY }).portal('cancel');
    life.break('catch-up', 'canceled').end({ kind: 'look-up', outcome, sentFrom: sinceStart(0) }, HOUR);
    expect(cancelBys(life)).toEqual({ 't-1': sinceStart(5 * DAY) });
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(5 * DAY - 30_000) } }]);
  });

  it('of a rescreen that a lookup finds counts from the rescreen’s own create', () => {
    const life = rescreened();
    expect(life.state.attempts[0]?.unseen).toMatchObject({ since: sinceStart(3 * DAY) });
    life.caughtUp(found('review', 't-2', 3 * DAY), 3 * DAY + HOUR);
    expect(life.state.transactions.at(-1)).toMatchObject({ id: 't-2', cancelBy: sinceStart(8 * DAY) });
  });

  it('of a rescreen that is under way keeps the order open: its fail is canceled', () => {
    const late = 2 * HOUR + 20 * MINUTE;
    const rescreenOnError = { tries: 1, pauseMs: 2 * HOUR };
    const times = { cancelWindowMs: HOUR, screeningDeadlineMs: 2 * HOUR + MINUTE };
    const life = screened('error', { workflow: 'post-acceptance', rescreenOnError, ...times }).until(late);
    life.caughtUp(answered('fail', 't-2', 2 * HOUR), late);
    expect(life.calls('portal')).toMatchObject([{ request: { transactionId: 't-2' } }]);
  });

  it('after an outage counts from the create that was sent then: a later fail is canceled', () => {
    const life = screened(NOT_SENT).caughtUp(answered('review', 't-1', 20 * HOUR), 20 * HOUR);
    expect(life.state.transactions).toMatchObject([{ cancelBy: sinceStart(140 * HOUR) }]);
    life.polled('fail', 130 * HOUR);
    expect(life.calls('portal')).toMatchObject([{ request: { notAfter: sinceStart(140 * HOUR - 30_000) } }]);
  });
});

describe('a decision that a lookup finds after the order closed without one', () => {
  it.each([
    ['pass', 'proceed', []],
    ['review', 'hold', []],
    ['fail', 'cancel', ['failed-after-window']],
  ] as const)(
    'is the order’s: %s means %s, is sent, and replaces the attention',
    (decision, action, left) => {
      const policy = { events: 'all', screeningDeadlineMs: DAY, whenUnavailable: 'proceed' } as const;
      const life = screened(unanswered(), policy).until(DAY).break('catch-up', 'canceled');
      life.until(5 * DAY + HOUR);
      expect(life.state).toMatchObject({ phase: 'closed', decision: 'error', action: 'proceed' });
      expect(life.attention).toEqual(['no-decision']);
      const before = life.state.events.sequence;
      life.lookedUp(decision, 5 * DAY + HOUR);
      expect(life.state).toMatchObject({ phase: 'closed', decision, action });
      expect(life.attention).toEqual(left);
      expect(life.state.events.sequence).toBeGreaterThan(before);
      expect(life.calls('portal')).toEqual([]);
    },
  );
});

describe('an invoice number', () => {
  const LONG = '7'.repeat(64);
  const invoiceOf = (orderId: string, attempt = 1, invoice?: string, perAttempt = true) =>
    invoiceNumberOf(orderId, invoice, { attempt, create: 1 }, perAttempt);

  it.each<[string, string, unknown]>([
    ['is the order’s id', invoiceOf('o-1'), 'o-1'],
    ['is its own, without #', invoiceOf('o-1', 3, '#i-9', false), 'i-9'],
    ['is another for each attempt', invoiceOf('o-1', 3, 'i-9'), 'i-9~3'],
    ['of an order whose id ends like a later create’s is no other order’s', invoiceOf('1001~2'), '1001~2~1'],
    ['of its second attempt', invoiceOf('1001~2', 2), '1001~2~2'],
    ['of one whose id ends like a rescreen’s', invoiceOf('1001~1.2'), '1001~1.2~1'],
    ['of an id with a hyphen stays', invoiceOf('1001-2'), '1001-2'],
    ['of 64 characters stays as it is for the first create', invoiceOf(LONG), LONG],
    [
      'of 64 characters is cut for a later one',
      invoiceOf(LONG, 2),
      expect.stringMatching(/^7{53}~[0-9a-f]{8}~2$/),
    ],
    ['of more is cut', invoiceOf('o-1', 1, 'x'.repeat(500), false), expect.stringMatching(/^x.{63}$/)],
  ])('%s', (_what, invoice, expected) => {
    expect(invoice).toEqual(expected);
  });

  it('of a rescreen is none that another attempt has', () => {
    expect(rescreened().calls('catch-up')[0]?.request.invoiceNumber).toBe('order-1~1.2');
  });

  it('tells two long ids apart that have the same beginning', () => {
    expect(invoiceOf(`${LONG}a`)).not.toBe(invoiceOf(`${LONG}b`));
  });

  const id = fc.string({ unit: fc.constantFrom('😀', 'a', '~', '1', '字'), minLength: 1, maxLength: 80 });
  const counted = fc.integer({ min: 1, max: 80 });
  const which = fc.record({ attempt: counted, create: counted });
  property([id, which, id, which])('is of one order and one create', (one, first, other, second) => {
    fc.pre(one !== other || !isDeepStrictEqual(first, second));
    const invoice = invoiceNumberOf(one, undefined, first, true);
    expect(invoice).not.toBe(invoiceNumberOf(other, undefined, second, true));
    expect(invoice.length).toBeLessThanOrEqual(64);
    // No half of a character is left.
    expect(() => encodeURIComponent(invoice)).not.toThrow();
  });
});
