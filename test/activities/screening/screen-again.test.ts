import { describe, expect, it } from 'vitest';
import type { HeartbeatDetails } from '../../../src/activities/tries.ts';
import { createCardStash } from '../../../src/card-stash/index.ts';
import { MACHINE } from '../../../src/screening-service/index.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import {
  ACTIVITY_RESET,
  type Attempt,
  aCatchUp,
  aWorld,
  expectNoSecret,
  failureOf,
  KEY_KNOWN,
  outcomeOf,
  plan,
  requests,
  STILL,
  screened,
  theTransaction,
  UNSEEN_SINCE,
  withSandbox,
} from '../support.ts';

withSandbox();

describe('a further attempt at checkout', () => {
  const retry = (changes: Parameters<typeof aCatchUp>[1] = {}, attempt = 1, world = aWorld()) =>
    outcomeOf(world.checkout.screenRetry, aCatchUp('review', changes), { attempt });
  const earlierTry = { kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) };

  it('is screened without a look the first time it is called', async () => {
    const outcome = await retry();
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'review', found: false });
    expect(requests('status-by-invoice')).toBe(0);
    expectNoSecret(outcome);
  });

  it('called again creates nothing: the create of the call before may be on its way for longer than a customer waits', async () => {
    expect(await retry({}, 2, aWorld({ checkoutBudgetMs: 600 }))).toEqual(earlierTry);
    expect(requests('create-transaction')).toBe(0);
    expect(requests('status-by-invoice')).toBeGreaterThan(1);
  });

  it.each(ACTIVITY_RESET)('creates nothing after a reset of the activity %s', async (_what, attempt) => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    expect(await outcomeOf(world.checkout.screenRetry, aCatchUp('review'), attempt)).toEqual(earlierTry);
    expect(requests('create-transaction')).toBe(0);
  });

  it('called again answers at once where an earlier attempt’s transaction hides its own', async () => {
    const knownTransactionIds = [await screened(aWorld(), 'fail')];
    expect(await retry({ knownTransactionIds }, 2)).toEqual(earlierTry);
    expect(requests('create-transaction')).toBe(1);
    expect(requests('status-by-invoice')).toBeLessThanOrEqual(2);
  });

  it('keeps to the checkout’s budget', async () => {
    plan('create-transaction', 'hang-before-commit');
    expect(await retry({}, 1, aWorld({ checkoutBudgetMs: 400 }))).toMatchObject({ reason: 'timeout' });
  });

  it('is refused when it breaks a rule, since nobody checked it yet', async () => {
    expect(await retry({ transaction: { ...aTransaction(), amount: 'plenty' } })).toEqual({
      kind: 'refused',
      reason: 'invalid-request',
      words: expect.stringMatching(/^amount must be/),
    });
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

  it.each([
    ['when the look finds nothing', again(), 1],
    ['without a look when the try before sent nothing', { attempt: 2, heartbeatDetails: { reported: 1 } }, 0],
  ])('creates %s', async (_when, attempt, looks) => {
    expect(await catchUp({}, attempt)).toMatchObject({ kind: 'answered', found: false });
    expect(requests('status-by-invoice')).toBe(looks);
  });

  it('only looks after a try that reported nothing: its worker died, and a create may be on its way', async () => {
    const heartbeats: unknown[] = [];
    const at = '2026-11-22T09:30:00.000Z';
    const lost = { attempt: 3, heartbeatDetails: { reported: 1, at } };
    const failure = await failureOf(catchUp({}, lost, aWorld({}, STILL), heartbeats));
    expect(failure).toMatchObject({ type: 'earlier-try' });
    expect(Number(failure.nextRetryDelay)).toBeGreaterThanOrEqual(10_000);
    expect(requests('create-transaction')).toBe(0);
    expect(heartbeats.at(-1)).toMatchObject({ reported: 3, unseenSince: at });
    // The create of the first try is the earliest that may have been sent.
    const unseenSince = '2026-11-22T09:00:00.000Z';
    const reported = { attempt: 3, heartbeatDetails: { reported: 1, at, unseenSince } };
    await failureOf(catchUp({}, reported, aWorld({}, STILL), heartbeats));
    expect(heartbeats.at(-1)).toMatchObject({ reported: 3, unseenSince });
  });

  it.each(ACTIVITY_RESET)('only looks after a reset of the activity %s', async (_what, attempt) => {
    const heartbeats: unknown[] = [];
    const known = { at: UNSEEN_SINCE, forgotten: 1 };
    const looking: Attempt[] = [
      attempt,
      // The tries after it have the numbers of others before.
      { attempt: 2, heartbeatDetails: known },
      { attempt: 2, heartbeatDetails: { ...known, asked: 1, measured: 1, late: 0 } },
    ];
    for (const one of looking) {
      const failure = await failureOf(catchUp({}, one, aWorld({}, STILL), heartbeats));
      expect(failure).toMatchObject({ type: 'earlier-try', nextRetryDelay: 10_000 });
    }
    expect(requests('create-transaction')).toBe(0);
    // Its own report counts, and lets the next one create.
    expect(heartbeats[0]).toMatchObject({ reported: 2, forgotten: 1 });
    const inTime = { reported: 2, forgotten: 1, unseenSince: UNSEEN_SINCE };
    expect(await catchUp({}, { attempt: 2, heartbeatDetails: inTime })).toMatchObject({ kind: 'answered' });
    expect(requests('create-transaction')).toBe(1);
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

  it.each(['429', '403'] as const)(
    'looks again after a look that found nothing and a create that met a %s: the lost one stays unresolved',
    async (kind) => {
      plan('create-transaction', kind, { times: 1 });
      const heartbeats: unknown[] = [];
      await failureOf(catchUp({}, { ...again(), ...KEY_KNOWN }, aWorld(), heartbeats));
      expect(heartbeats.at(-1)).toMatchObject({ reported: 2, unseenSince: UNSEEN_SINCE });
      const next = { attempt: 3, heartbeatDetails: heartbeats.at(-1) };
      expect(await catchUp({}, next)).toMatchObject({ kind: 'answered', found: false });
      expect(requests('status-by-invoice')).toBe(2);
    },
  );

  it('says of a rejected key that an earlier create is unresolved', async () => {
    plan('create-transaction', '403');
    expect(await catchUp({}, again())).toEqual({ kind: 'forbidden', unseenSince: UNSEEN_SINCE });
    expect(await catchUp()).toEqual({ kind: 'forbidden' });
  });

  it.each([
    ['', {}, undefined, 'earlier-try'],
    [', also when the first look meets trouble', {}, 'status-by-invoice', 'http-5xx'],
    [', also while its integration is gone', { integration: 'elsewhere' }, undefined, 'unknown-integration'],
  ] as const)('gives a create that may be under way time to arrive%s', async (_also, changes, down, type) => {
    if (down !== undefined) plan(down, '5xx-before-commit');
    const sent = { unseenSince: UNSEEN_SINCE, ...changes };
    const failure = await failureOf(catchUp(sent, {}, aWorld({}, STILL)));
    expect(failure).toMatchObject({ type, nextRetryDelay: 10_000 });
    expect(requests('create-transaction')).toBe(0);
  });

  it('creates nothing while the lookup shows a transaction that the order has: a lost create can’t be seen', async () => {
    const knownTransactionIds = [await screened(aWorld(), 'fail')];
    const hidden = async () => (await failureOf(catchUp({ knownTransactionIds }, again()))).type;
    expect(await hidden()).toBe('earlier-try');
    plan('status-by-invoice', 'unknown-decision');
    expect(await hidden()).toBe('earlier-try');
    expect(requests('create-transaction')).toBe(1);
  });

  it.each([
    [{ kind: 'reset-before-commit' }, 'reset'],
    [{ kind: '5xx-before-commit', status: 504 }, 'timeout'],
    [{ kind: 'truncated-reply' }, 'truncated'],
  ] as const)('gives its own create that met %j the same time', async ({ kind, ...more }, type) => {
    plan('create-transaction', kind, more);
    const failure = await failureOf(catchUp({}, {}, aWorld({}, STILL)));
    expect(failure).toMatchObject({ type, nextRetryDelay: 10_000 });
  });

  // A lookup found nothing from before, so the create that followed is all there may be.
  it.each<[string, Attempt]>([
    ['after a lookup', again()],
    ['after a try that sent nothing', { attempt: 2, heartbeatDetails: { reported: 1 } }],
  ])(
    'finds the transaction of a worker that died in its create, whose window counts from that create: %s',
    async (_when, attempt) => {
      plan('create-transaction', '5xx-after-commit');
      const heartbeats: unknown[] = [];
      await failureOf(catchUp({}, attempt, aWorld(), heartbeats));
      const [beforeCreate, afterCreate] = heartbeats;
      const next = await catchUp({}, { attempt: 3, heartbeatDetails: beforeCreate });
      expect(next).toMatchObject({ kind: 'answered', found: true });
      expect(afterCreate).toMatchObject({ unseenSince: 'sentFrom' in next && next.sentFrom });
    },
  );

  it('skips by the rules what failed at checkout before they were read, unless a transaction is found', async () => {
    const world = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
    const skipped = { kind: 'skipped', rule: 0 };
    const unread = { mayBeSkipped: true, unseenSince: UNSEEN_SINCE } as const;
    const invalid = { ...unread, transaction: { amount: '1' } };
    expect(await catchUp(invalid, {}, world)).toEqual(skipped);
    expect(await failureOf(catchUp(unread, {}, world))).toMatchObject({ type: 'earlier-try' });
    expect(await catchUp(unread, again(), world)).toEqual(skipped);
    expect(requests('create-transaction')).toBe(0);
    // An order that was not skipped at checkout is not skipped now.
    expect(await catchUp({}, {}, world)).toMatchObject({ kind: 'answered', found: false });
    const found = await catchUp(unread, again(), world);
    expect(found).toMatchObject({ kind: 'answered', transactionId: theTransaction().id });
  });

  it('of an order that the rules may skip looks once a try while lookups fail', async () => {
    plan('status-by-invoice', '5xx-before-commit');
    const skipping = aWorld({ skip: [{ amountBelow: 1_000_000 }] });
    const unread = { mayBeSkipped: true, unseenSince: UNSEEN_SINCE } as const;
    const failed = failureOf(catchUp(unread, again(), skipping));
    expect(await failed).toMatchObject({ type: 'http-5xx', nonRetryable: false });
    expect(requests('status-by-invoice')).toBe(1);
  });
});
