import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { LastReadRequest, PollRequest, ReadRequest } from '../../src/contract/activity-contract.ts';
import { MACHINE, type Machine } from '../../src/screening-service/index.ts';
import { DAY, HOUR, MINUTE } from '../fixtures/orders.ts';
import {
  type Attempt,
  aRead,
  aWorld,
  failureOf,
  fromNow,
  KEY_KNOWN,
  noOrders,
  ORDER_ID,
  outcomeOf,
  perform,
  plan,
  requests,
  sandbox,
  screened,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const BENIGN = ApplicationFailureCategory.BENIGN;

describe('reading', () => {
  const read = (id: string, changes: Partial<ReadRequest> = {}, world = aWorld(), attempt = 1) =>
    outcomeOf(world.reads.readStatus, aRead({ transactionId: id, ...changes }), { attempt });

  it('without a transaction only returns the time', async () => {
    const { outcome, at } = await perform(aWorld().reads.readStatus, aRead({ integration: 'elsewhere' }));
    expect(outcome).toBeUndefined();
    expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(2_000);
    expect(sandbox.control.ledger()).toEqual([]);
  });

  it('returns the decision', async () => {
    const transactionId = await screened(aWorld(), 'review');
    expect(await read(transactionId)).toEqual({ kind: 'read', decision: 'review' });
    sandbox.control.decide(transactionId, 'pass');
    expect(await read(transactionId)).toEqual({ kind: 'read', decision: 'pass' });
  });

  it.each([
    ['', []],
    [' of another transaction of the attempt', [UNKNOWN_ID, 'another']],
  ])(
    'finds a fraud report%s after the order’s end only if asked, and after the decision was read',
    async (_of, others) => {
      const transactionId = await screened(aWorld(), 'pass');
      const reportedAt = fromNow(-1_000);
      const reportedAfterEnd = async (integration: string, id: string) => {
        expect([integration, requests('status-by-url')]).toEqual(['default', 1]);
        return id === (others.at(-1) ?? transactionId) ? reportedAt : undefined;
      };
      const world = aWorld({}, { orders: { ...noOrders, reportedAfterEnd } });
      const asked = { reportsOf: [transactionId, ...others] };
      const found = { decision: 'pass', reportedAt: [reportedAt] };
      expect(await read(transactionId, asked, world)).toMatchObject(found);
      expect(await read(transactionId, {}, world)).toEqual({ kind: 'read', decision: 'pass' });
      expect(await read(UNKNOWN_ID, asked, world)).toMatchObject({ kind: 'unreadable' });
    },
  );

  it('is tried again ten seconds later if Temporal can’t tell of a fraud report after the order’s end', async () => {
    const transactionId = await screened(aWorld(), 'pass');
    const reportedAfterEnd = async () => {
      throw new Error('UNAVAILABLE');
    };
    const world = aWorld({}, { orders: { ...noOrders, reportedAfterEnd } });
    expect(await failureOf(read(transactionId, { reportsOf: [transactionId] }, world))).toMatchObject({
      type: 'temporal-unavailable',
      nonRetryable: false,
      nextRetryDelay: 10_000,
    });
    expect(await read(transactionId, {}, world)).toEqual({ kind: 'read', decision: 'pass' });
  });

  it('waits until the spacing of reads is over, and counts no failure', async () => {
    const transactionId = await screened(aWorld(), 'review');
    const failure = await failureOf(read(transactionId, { notBefore: fromNow(7_000) }));
    expect(failure).toMatchObject({ type: 'spacing', nonRetryable: false, category: BENIGN });
    expect(Number(failure.nextRetryDelay)).toBeGreaterThan(5_000);
    expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(7_000);
    expect(requests('status-by-url')).toBe(0);
    expect(await read(transactionId, { notBefore: fromNow(-1_000) })).toMatchObject({ kind: 'read' });
  });

  it.each(['unknown-decision', 'reply-without-id'] as const)('cannot use an answer with %s', async (kind) => {
    const transactionId = await screened(aWorld());
    plan('status-by-url', kind);
    expect(await read(transactionId)).toMatchObject({ kind: 'unreadable' });
  });

  it('cannot use an answer about another transaction, or none', async () => {
    const transactionId = await screened(aWorld(), 'review');
    const fetch: Machine['fetch'] = (url, request) =>
      MACHINE.fetch(url.replace(UNKNOWN_ID, transactionId), request);
    expect(await read(UNKNOWN_ID, {}, aWorld({}, { machine: { ...MACHINE, fetch } }))).toEqual({
      kind: 'unreadable',
      words: 'The screening service returned a different transaction than the requested one.',
    });
    expect(await read(UNKNOWN_ID)).toEqual({
      kind: 'unreadable',
      words: 'The screening service found no such transaction.',
    });
  });

  it('obeys Retry-After until the pauses have grown', async () => {
    plan('status-by-url', '429', { retryAfter: 9 });
    const pauseOf = async (n: number) => (await failureOf(read(UNKNOWN_ID, {}, aWorld(), n))).nextRetryDelay;
    expect([await pauseOf(1), await pauseOf(5)]).toEqual([9_000, 32_000]);
  });
});

describe('the last read of a pass', () => {
  async function readLast(changes: Partial<LastReadRequest> = {}, meanwhile = () => {}, how: Attempt = {}) {
    const world = aWorld();
    const request: LastReadRequest = {
      integration: 'default',
      attempt: 1,
      transactionId: await screened(world, 'pass'),
      known: 'pass',
      cancelBy: fromNow(DAY),
      troubleKnown: false,
      ...changes,
    };
    meanwhile();
    return outcomeOf(world.polls.readStatusLast, request, how);
  }

  it('is made at once, and has no other until an hour after the window if nothing changed', async () => {
    const failure = await failureOf(readLast());
    expect(failure).toMatchObject({ type: 'unchanged', category: BENIGN });
    expect(failure.nextRetryDelay).toBeGreaterThan(DAY + HOUR - 10_000);
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(DAY + HOUR);
    expect(requests('status-by-url')).toBe(1);
  });

  it('returns another decision', async () => {
    const decide = () => {
      for (const { id } of sandbox.control.transactions(ORDER_ID)) sandbox.control.decide(id, 'fraudulent');
    };
    expect(await readLast({}, decide)).toMatchObject({ kind: 'read', decision: 'fraudulent' });
  });

  it.each(['unknown-decision', 'reply-without-id'] as const)('is repeated soon after %s', async (kind) => {
    const broken = () => plan('status-by-url', kind);
    expect(await readLast({}, broken)).toMatchObject({ kind: 'unreadable' });
    const failure = await failureOf(readLast({ troubleKnown: true }, broken));
    expect(failure).toMatchObject({ type: 'unusable', category: BENIGN, nextRetryDelay: 2_000 });
  });

  it('returns an unchanged decision if it ends a known problem', async () => {
    expect(await readLast({}, undefined, KEY_KNOWN)).toEqual({ kind: 'read', decision: 'pass' });
  });
});

describe('polling', () => {
  /** Polls a transaction in review. @param meanwhile what happens between its screening and the poll */
  async function poll(
    changes: Partial<PollRequest> = {},
    attempt = 2,
    meanwhile = () => {},
    heartbeats: unknown[] = [],
    more: Attempt = {},
  ) {
    const world = aWorld();
    const request: PollRequest = {
      integration: 'default',
      attempt: 1,
      transactionId: await screened(world, 'review'),
      known: 'review',
      pauses: { firstMs: 60_000, factor: 1.5, maxMs: 900_000 },
      leadMs: HOUR,
      cancelBy: fromNow(432_000_000),
      troubleKnown: false,
      ...changes,
    };
    meanwhile();
    return outcomeOf(world.polls.pollStatus, request, { attempt, ...more }, heartbeats);
  }
  const decide = (word: 'fraudulent' | 'error') => () => {
    for (const { id } of sandbox.control.transactions(ORDER_ID)) sandbox.control.decide(id, word);
  };

  it('only begins its first pause when it is first called', async () => {
    const failure = await failureOf(poll({}, 1));
    expect(failure).toMatchObject({ type: 'unchanged', nextRetryDelay: 60_000, category: BENIGN });
    expect(requests('status-by-url')).toBe(0);
  });

  it.each([
    [2, 90_000],
    [3, 135_000],
    [7, 683_438],
    [8, 900_000],
    [5_000, 900_000],
  ])('on call %i waits %i ms more while the decision stands', async (attempt, nextRetryDelay) => {
    const failure = await failureOf(poll({}, attempt));
    expect(failure).toMatchObject({ type: 'unchanged', nextRetryDelay, category: BENIGN });
    expect(requests('status-by-url')).toBe(1);
  });

  it.each([
    [HOUR + 20 * MINUTE, 10 * MINUTE],
    [20 * MINUTE, 10 * MINUTE],
    [-1, HOUR],
  ])(
    'with %i ms of the cancel window left waits %i ms instead of its longest pause',
    async (left, pauseMs) => {
      const failure = await failureOf(poll({ cancelBy: fromNow(left) }, 8));
      expect(Number(failure.nextRetryDelay) / pauseMs).toBeCloseTo(1, 2);
    },
  );

  it.each([
    [
      'an answer that cannot be used',
      () => plan('status-by-url', 'unknown-decision'),
      { kind: 'unreadable' },
    ],
    ['the word «error»', decide('error'), { kind: 'read', decision: 'error' }],
  ])('reports %s once, then goes on', async (_what, trouble, outcome) => {
    expect(await poll({}, 2, trouble)).toMatchObject(outcome);
    const again = poll({ troubleKnown: true }, 2, trouble);
    expect(await failureOf(again)).toMatchObject({ type: 'unusable' });
  });

  it('tells the sweep since when the screening service does not answer, until it does', async () => {
    const told = async (meanwhile?: () => void, before?: object, changes = {}) => {
      const heartbeats: unknown[] = [];
      await failureOf(poll(changes, 2, meanwhile, heartbeats, { heartbeatDetails: before }));
      sandbox.control.reset();
      return heartbeats;
    };
    const down = () => plan('status-by-url', '5xx-before-commit');
    expect(await told()).toEqual([]);
    expect(await told(down)).toEqual([{ unansweredSince: expect.stringMatching(/^2\d{3}-.*Z$/) }]);
    const unasked = await told(undefined, undefined, { integration: 'no longer configured' });
    expect(unasked).toEqual([{ unansweredSince: expect.any(String) }]);
    const before = { unansweredSince: '2026-11-22T08:00:00.000Z', late: 3 };
    expect(await told(down, before)).toEqual([]);
    expect(await told(undefined, before)).toEqual([{ late: 3 }]);
  });

  it.each([{ troubleKnown: true }, {}])('tells that a trouble is over, or a wrong key: %o', async (known) => {
    const how = 'troubleKnown' in known ? {} : KEY_KNOWN;
    expect(await poll(known, 2, undefined, [], how)).toEqual({ kind: 'read', decision: 'review' });
  });

  it('keeps its pauses while its integration is gone, and leaves the rate to the polls of others', async () => {
    const failure = await failureOf(poll({ integration: 'elsewhere' }));
    expect(failure).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 90_000 });
  });
});
