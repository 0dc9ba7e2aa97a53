import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import { createCardStash } from '../../src/cards/index.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import {
  aCatchUp,
  aWorld,
  expectNoSecret,
  failureOf,
  ORDER_ID,
  outcomeOf,
  perform,
  requests,
  sandbox,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

describe('a further attempt at checkout', () => {
  it('is screened without a look the first time it is called', async () => {
    const outcome = await outcomeOf(aWorld().checkout.screenRetry, aCatchUp('review'));
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'review', adopted: false });
    expect(requests('status-by-invoice')).toBe(0);
    expectNoSecret(outcome);
  });

  it('looks first when it is called again, and adopts what the lost call made', async () => {
    const world = aWorld();
    const lost = await screened(world, 'review');
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), { attempt: 2 });
    expect(outcome).toMatchObject({ kind: 'answered', adopted: true, transactionId: lost });
    expect(requests('create-transaction')).toBe(1);
  });

  it('called again creates nothing: the create of the call before may be on its way for longer than a customer waits', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), { attempt: 2 });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', maybeSent: true });
    expect(requests('create-transaction')).toBe(0);
    expect(requests('status-by-invoice')).toBeGreaterThan(1);
  });

  it('called again finds what arrives while the customer waits', async () => {
    const world = aWorld();
    const faults = [{ operation: 'create-transaction', kind: 'delay', delayMs: 300, times: 1 }] as const;
    sandbox.control.setFaults({ faults: [...faults] });
    const late = outcomeOf(world.checkout.screenRetry, aCatchUp('review'));
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), { attempt: 2 });
    await late;
    expect(outcome).toMatchObject({ kind: 'answered', adopted: true, transactionId: theTransaction().id });
    expect(requests('create-transaction')).toBe(1);
  });

  it('called again answers at once where an earlier attempt’s transaction hides its own', async () => {
    const world = aWorld();
    const known = await screened(world, 'fail');
    const request = aCatchUp('review', { knownTransactionIds: [known] });
    const outcome = await outcomeOf(world.checkout.screenRetry, request, { attempt: 2 });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', maybeSent: true });
    expect(requests('create-transaction')).toBe(1);
    expect(requests('status-by-invoice')).toBeLessThanOrEqual(2);
  });

  it('is skipped by the rule of the settings, though it lacks what a screening needs', async () => {
    const world = aWorld({ skip: [{ currency: ['EUR'] }, { paymentMethod: ['gift card'] }] });
    const transaction = { amount: '12.50', payment: { method: 'gift card' } };
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('pass', { transaction }));
    expect(outcome).toEqual({ kind: 'skipped', rule: 1 });
    expect(sandbox.control.ledger()).toEqual([]);
  });

  it('keeps to the checkout’s budget', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: 'hang-before-commit' }] });
    const outcome = await outcomeOf(aWorld({ checkoutBudgetMs: 150 }).checkout.screenRetry, aCatchUp());
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'timeout', maybeSent: true });
  });

  it('is refused when it breaks a rule, since nobody checked it yet', async () => {
    const transaction = { ...aTransaction(), amount: 'plenty' };
    const outcome = await outcomeOf(aWorld().checkout.screenRetry, aCatchUp('pass', { transaction }));
    expect(outcome).toEqual({
      kind: 'refused',
      reason: 'invalid-request',
      words: expect.stringMatching(/^amount must be/),
    });
  });

  it('is tried again while its integration is not configured', async () => {
    const call = perform(aWorld().checkout.screenRetry, aCatchUp('pass', { integration: 'elsewhere' }));
    expect(await failureOf(call)).toMatchObject({ type: 'unknown-integration', nonRetryable: false });
  });
});

describe('catching up', () => {
  const catchUp = (changes: Parameters<typeof aCatchUp>[1] = {}, attempt = 1, world = aWorld()) =>
    outcomeOf(world.background.catchUp, aCatchUp('review', changes), { attempt });

  it('fails, to be called again, after a 5xx; called again it looks first and adopts', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '5xx-after-commit' }] });
    const failure = await failureOf(catchUp());
    expect(failure).toMatchObject({ type: 'http-5xx', nonRetryable: false });
    sandbox.control.clearFaults();
    expect(await catchUp({}, 2)).toMatchObject({
      kind: 'answered',
      decision: 'review',
      adopted: true,
      transactionId: theTransaction().id,
    });
    expect(requests('create-transaction')).toBe(1);
  });

  it('comes back after pauses that grow and differ, so that an outage’s orders don’t come back together', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    const pauses = async (attempt: number) => {
      const failures = await Promise.all(Array.from({ length: 12 }, () => failureOf(catchUp({}, attempt))));
      return failures.map(({ nextRetryDelay }) => Number(nextRetryDelay));
    };
    for (const [attempt, pause] of [
      [2, 4_000],
      [5, 32_000],
      [20, 300_000],
    ] as const) {
      const drawn = await pauses(attempt);
      expect(new Set(drawn).size).toBeGreaterThan(6);
      expect(Math.min(...drawn)).toBeGreaterThanOrEqual(pause / 2);
      expect(Math.max(...drawn)).toBeLessThanOrEqual(pause * 1.5);
    }
  });

  it('does not skip an order that was not skipped at checkout', async () => {
    const world = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
    expect(await catchUp({}, 1, world)).toMatchObject({ kind: 'answered', adopted: false });
  });

  it('skips by the rules what failed at checkout before they were read, unless a transaction is found', async () => {
    const world = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
    const unread = { mayBeSkipped: true, lookFirst: true, maybeUnderWay: true } as const;
    expect(await catchUp({ ...unread, transaction: { amount: '1' } }, 1, world)).toEqual({
      kind: 'skipped',
      rule: 0,
    });
    expect(await failureOf(catchUp(unread, 1, world))).toMatchObject({ type: 'earlier-try' });
    expect(await catchUp(unread, 2, world)).toEqual({ kind: 'skipped', rule: 0 });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(aWorld(), 'review');
    expect(await catchUp(unread, 2, world)).toMatchObject({ kind: 'answered', transactionId });
    expect(await catchUp({ ...unread, lookFirst: false, maybeUnderWay: false }, 1, world)).toMatchObject({
      transactionId,
    });
  });

  it('creates when the look finds nothing', async () => {
    expect(await catchUp({}, 2)).toMatchObject({ kind: 'answered', adopted: false });
    expect(requests('status-by-invoice')).toBe(1);
  });

  it('creates nothing on the word of a look that took long: another may have it since', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'delay', delayMs: 200 }] });
    const failed = failureOf(catchUp({ lookFirst: true }));
    await vi.waitUntil(() => requests('status-by-invoice') === 1);
    vi.setSystemTime(Date.now() + 5_001);
    expect(await failed).toMatchObject({ type: 'timeout', nonRetryable: false });
    expect(requests('create-transaction')).toBe(0);
  });

  it('gives a create that may be under way time to arrive before it creates another', async () => {
    const failure = await failureOf(catchUp({ maybeUnderWay: true }));
    expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 10_000 });
    expect(requests('create-transaction')).toBe(0);
    expect(await catchUp({ lookFirst: true, maybeUnderWay: true }, 2)).toMatchObject({
      kind: 'answered',
      adopted: false,
    });
  });

  it('gives it that time also when the first look meets trouble', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    const failure = await failureOf(catchUp({ lookFirst: true, maybeUnderWay: true }));
    expect(failure).toMatchObject({ type: 'http-5xx', nextRetryDelay: 10_000 });
  });

  it('gives it that time also while its integration is gone from the settings', async () => {
    const gone = { integration: 'elsewhere', lookFirst: true };
    const failure = await failureOf(catchUp({ ...gone, maybeUnderWay: true }));
    expect(failure).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 10_000 });
    expect((await failureOf(catchUp(gone))).nextRetryDelay).toBeUndefined();
  });

  it('creates beside an earlier attempt’s transaction, whatever is known of that', async () => {
    const knownTransactionIds = [await screened(aWorld(), 'fail')];
    expect(await catchUp({ knownTransactionIds }, 2)).toMatchObject({ kind: 'answered', adopted: false });
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'unknown-decision' }] });
    expect(await catchUp({ knownTransactionIds }, 2)).toMatchObject({ kind: 'answered', adopted: false });
  });

  it.each([
    [{ kind: 'reset-before-commit' }, 'reset'],
    [{ kind: 'reset-after-commit' }, 'reset'],
    [{ kind: '5xx-before-commit', status: 504 }, 'timeout'],
    [{ kind: '5xx-before-commit', status: 502 }, 'http-5xx'],
    [{ kind: '5xx-after-commit', status: 522 }, 'http-5xx'],
    [{ kind: 'truncated-reply' }, 'truncated'],
    [{ kind: 'malformed-body' }, 'malformed-reply'],
  ] as const)('gives its own create that met %j the same time', async (fault, type) => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', ...fault }] });
    expect(await failureOf(catchUp())).toMatchObject({ type, nextRetryDelay: 10_000 });
  });

  it('creates nothing while the look meets trouble', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'reset-after-commit' }] });
    expect(await failureOf(catchUp({ lookFirst: true }))).toMatchObject({ type: 'reset' });
    expect(requests('create-transaction')).toBe(0);
  });

  test.each([
    [7, 7_000],
    [0, 1_000],
    [9_000_000, 3_600_000],
  ])('obeys a Retry-After of %i s within reason', async (retryAfter, expected) => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '429', retryAfter }] });
    const failure = await failureOf(catchUp());
    expect(failure).toMatchObject({ type: 'rate-limited', nextRetryDelay: expected });
  });

  it('reports a wrong key once, then tries slowly and counts no failure', async () => {
    sandbox.control.setKeys({ test: 'another' });
    expect(await catchUp()).toEqual({ kind: 'forbidden' });
    const failure = await failureOf(catchUp({ forbiddenKnown: true }));
    expect(failure).toMatchObject({
      type: 'forbidden',
      nextRetryDelay: 60_000,
      category: ApplicationFailureCategory.BENIGN,
    });
    sandbox.control.setKeys({ test: 'canary/test key+0123456789' });
    expect(await catchUp({ forbiddenKnown: true }, 2)).toMatchObject({ kind: 'answered' });
  });

  it('ends when the card is gone, and is tried again when the stash does not answer', async () => {
    const transaction = { ...aTransaction() };
    delete transaction.avsResultCode;
    delete transaction.cvvResultCode;
    const changes = { workflow: 'pre-gateway', transaction, cardRef: 'card_gone' } as const;
    expect(await catchUp(changes)).toEqual({ kind: 'refused', reason: 'card-data-expired' });
    const broken = {
      ...createCardStash('memory:'),
      get: async () => {
        throw new Error(`redis://127.0.0.1:6379 ${TEST_CARD.cardNumber}`);
      },
    };
    const failure = await failureOf(catchUp(changes, 1, aWorld({}, { cards: broken })));
    expect(failure.type).toBe('card-stash');
    expect(requests('create-transaction')).toBe(0);
  });
});

describe('the policy alone', () => {
  it('is told without a request', async () => {
    const world = aWorld({ whenUnavailable: [{ amountBelow: 200, action: 'proceed' }] });
    const told = await perform(world.checkout.policyInForce, aCatchUp());
    expect(told).toMatchObject({ policy: { whenUnavailable: 'proceed' }, rules: 1 });
    expect(sandbox.control.ledger()).toEqual([]);
  });
});

describe('the card’s end', () => {
  it('deletes it from the stash', async () => {
    const world = aWorld();
    const owner = { integration: 'default', orderId: ORDER_ID };
    const { cardRef } = await world.cards.put({ ...owner, card: TEST_CARD });
    await perform(world.background.forgetCard, { cardRef });
    expect(await world.cards.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('is tried again, with nothing of the driver’s words, when the stash does not answer', async () => {
    const forget = async () => {
      throw new Error('connect ECONNREFUSED redis://canary@127.0.0.1:6379');
    };
    const world = aWorld({}, { cards: { ...createCardStash('memory:'), forget } });
    const failure = await failureOf(perform(world.background.forgetCard, { cardRef: 'card_1' }));
    expect(failure).toMatchObject({ type: 'card-stash', nonRetryable: false });
  });
});
