import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it, test } from 'vitest';
import type { HeartbeatDetails } from '../../src/activities/tries.ts';
import { createCardStash } from '../../src/cards/index.ts';
import { MACHINE } from '../../src/screening/index.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import {
  type Attempt,
  aCatchUp,
  aWorld,
  expectNoSecret,
  failureOf,
  outcomeOf,
  perform,
  requests,
  sandbox,
  screened,
  theTransaction,
  UNSEEN_SINCE,
  withSandbox,
} from './support.ts';

withSandbox();

describe('a further attempt at checkout', () => {
  it('is screened without a look the first time it is called', async () => {
    const outcome = await outcomeOf(aWorld().checkout.screenRetry, aCatchUp('review'));
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'review', found: false });
    expect(requests('status-by-invoice')).toBe(0);
    expectNoSecret(outcome);
  });

  it('looks first when it is called again, and adopts what the lost call made', async () => {
    const world = aWorld();
    const lost = await screened(world, 'review');
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), { attempt: 2 });
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId: lost });
    expect(requests('create-transaction')).toBe(1);
  });

  it('called again creates nothing: the create of the call before may be on its way for longer than a customer waits', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), { attempt: 2 });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
    expect(requests('status-by-invoice')).toBeGreaterThan(1);
  });

  it('called again answers at once where an earlier attempt’s transaction hides its own', async () => {
    const world = aWorld();
    const known = await screened(world, 'fail');
    const request = aCatchUp('review', { knownTransactionIds: [known] });
    const outcome = await outcomeOf(world.checkout.screenRetry, request, { attempt: 2 });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
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
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'timeout', unseenSince: expect.any(String) });
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
  const catchUp = (
    changes: Parameters<typeof aCatchUp>[1] = {},
    attempt: Attempt = {},
    world = aWorld(),
    heartbeats: unknown[] = [],
  ) => outcomeOf(world.background.catchUp, aCatchUp('review', changes), attempt, heartbeats);
  const again = (told: HeartbeatDetails = {}): Attempt => ({
    attempt: 2,
    heartbeatDetails: { reported: 1, unseenSince: UNSEEN_SINCE, ...told },
  });

  it('fails, to be called again, after a 5xx; called again it looks first and adopts', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '5xx-after-commit' }] });
    const failure = await failureOf(catchUp());
    expect(failure).toMatchObject({ type: 'http-5xx', nonRetryable: false });
    sandbox.control.clearFaults();
    expect(await catchUp({}, again())).toMatchObject({
      kind: 'answered',
      decision: 'review',
      found: true,
      sentFrom: UNSEEN_SINCE,
      transactionId: theTransaction().id,
    });
    expect(requests('create-transaction')).toBe(1);
  });

  it('comes back after pauses that grow and differ, so that an outage’s orders don’t come back together', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    const pauses = async (attempt: number) => {
      const failures = await Promise.all(
        Array.from({ length: 12 }, () =>
          failureOf(catchUp({}, { ...again({ reported: attempt - 1 }), attempt })),
        ),
      );
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

  it('creates when the look finds nothing', async () => {
    expect(await catchUp({}, again())).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(1);
  });

  it('creates without a lookup when the try before reported that it sent nothing', async () => {
    expect(await catchUp({}, { attempt: 2, heartbeatDetails: { reported: 1 } })).toMatchObject({
      found: false,
    });
    expect(requests('status-by-invoice')).toBe(0);
  });

  it('only looks after a try that reported nothing: its worker died, and a create may be on its way', async () => {
    const heartbeats: unknown[] = [];
    const at = '2026-11-22T09:30:00.000Z';
    const failure = await failureOf(
      catchUp({}, { attempt: 3, heartbeatDetails: { reported: 1, at } }, aWorld(), heartbeats),
    );
    expect(failure).toMatchObject({ type: 'earlier-try' });
    expect(Number(failure.nextRetryDelay)).toBeGreaterThanOrEqual(10_000);
    expect(requests('create-transaction')).toBe(0);
    expect(heartbeats.at(-1)).toMatchObject({ reported: 3, unseenSince: at });
  });

  it('tells the next try since when a create may have been sent, before it sends one and after', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '5xx-after-commit' }] });
    const heartbeats: unknown[] = [];
    await failureOf(catchUp({}, {}, aWorld(), heartbeats));
    expect(heartbeats).toMatchObject([
      { at: expect.any(String) },
      { reported: 1, unseenSince: expect.any(String) },
    ]);
    expect(heartbeats[0]).not.toHaveProperty('reported');
  });

  it.each([
    ['its lookup', again()],
    ['its own start', {}],
  ])(
    'that stalls for more than 5 s after %s creates nothing: the next try may have',
    async (_since, attempt) => {
      let stalledMs = 0;
      const machine = { ...MACHINE, elapsed: () => performance.now() + stalledMs };
      const stash = createCardStash('memory:');
      const get: typeof stash.get = async (owner) => {
        stalledMs = 5_001;
        return stash.get(owner);
      };
      const world = aWorld({}, { machine, cards: { ...stash, get } });
      const failed = failureOf(catchUp({ cardRef: 'card_1' }, attempt, world));
      expect(await failed).toMatchObject({ type: 'stalled', nonRetryable: false });
      expect(requests('create-transaction')).toBe(0);
    },
  );

  it('gives a create that may be under way time to arrive before it creates another', async () => {
    const failure = await failureOf(catchUp({ unseenSince: UNSEEN_SINCE }));
    expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 10_000 });
    expect(requests('create-transaction')).toBe(0);
    expect(await catchUp({ unseenSince: UNSEEN_SINCE }, again())).toMatchObject({
      kind: 'answered',
      found: false,
    });
  });

  it('gives it that time also when the first look meets trouble', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    const failure = await failureOf(catchUp({ unseenSince: UNSEEN_SINCE }));
    expect(failure).toMatchObject({ type: 'http-5xx', nextRetryDelay: 10_000 });
  });

  it('gives it that time also while its integration is gone from the settings', async () => {
    const gone = { integration: 'elsewhere', unseenSince: UNSEEN_SINCE };
    const failure = await failureOf(catchUp(gone));
    expect(failure).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 10_000 });
    const nothingSent = { integration: 'elsewhere' };
    expect((await failureOf(catchUp(nothingSent))).nextRetryDelay).toBeUndefined();
  });

  it('creates nothing while the lookup shows a transaction that the order has: a lost create can’t be seen', async () => {
    const knownTransactionIds = [await screened(aWorld(), 'fail')];
    const failure = await failureOf(catchUp({ knownTransactionIds }, again()));
    expect(failure).toMatchObject({ type: 'earlier-try' });
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'unknown-decision' }] });
    expect(await failureOf(catchUp({ knownTransactionIds }, again()))).toMatchObject({ type: 'earlier-try' });
    expect(requests('create-transaction')).toBe(1);
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
    expect(await failureOf(catchUp({ unseenSince: UNSEEN_SINCE }))).toMatchObject({ type: 'reset' });
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
    expect(await catchUp({ forbiddenKnown: true }, again())).toMatchObject({ kind: 'answered' });
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
    const failure = await failureOf(catchUp(changes, {}, aWorld({}, { cards: broken })));
    expect(failure.type).toBe('card-stash');
    expect(requests('create-transaction')).toBe(0);
  });
});
