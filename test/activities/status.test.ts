import { ApplicationFailureCategory } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { pollPauseMs } from '../../src/activities/status.ts';
import type { LookUpRequest, PollRequest, ReadRequest } from '../../src/contract/activity-contract.ts';
import { MACHINE, type Machine } from '../../src/screening/index.ts';
import { property } from '../support/property.ts';
import {
  aLookUp,
  aRead,
  aWorld,
  expectNoSecret,
  failureOf,
  fromNow,
  ORDER_ID,
  outcomeOf,
  perform,
  requests,
  sandbox,
  screened,
  UNKNOWN_ID,
  withSandbox,
} from './support.ts';

withSandbox();

const PAUSES = { firstMs: 60_000, factor: 1.5, maxMs: 900_000 };

/** Asks for this transaction, whichever the client asks for. */
function aboutAnother(transactionId: string): Machine['fetch'] {
  return (url, request) => MACHINE.fetch(url.replace(UNKNOWN_ID, transactionId), request);
}
const BENIGN = ApplicationFailureCategory.BENIGN;

describe('reading', () => {
  const read = (transactionId: string, changes: Partial<ReadRequest> = {}, world = aWorld()) =>
    outcomeOf(world.reads.readStatus, aRead({ transactionId, ...changes }));

  it('without a transaction only returns the time', async () => {
    const gone = aRead({ integration: 'elsewhere' });
    const { outcome, at } = await perform(aWorld().reads.readStatus, gone);
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

  it('waits until the spacing of reads is over, and counts no failure', async () => {
    const transactionId = await screened(aWorld(), 'review');
    const failure = await failureOf(read(transactionId, { notBefore: fromNow(7_000) }));
    expect(failure).toMatchObject({ type: 'spacing', nonRetryable: false, category: BENIGN });
    expect(Number(failure.nextRetryDelay)).toBeGreaterThan(5_000);
    expect(Number(failure.nextRetryDelay)).toBeLessThanOrEqual(7_000);
    expect(requests('status-by-url')).toBe(0);
    expect(await read(transactionId, { notBefore: fromNow(-1_000) })).toMatchObject({ kind: 'read' });
  });

  it('reports that the service does not know the transaction', async () => {
    expect(await read(UNKNOWN_ID)).toEqual({
      kind: 'unreadable',
      words: 'The screening service found no such transaction.',
    });
  });

  test.each(['unknown-decision', 'reply-without-id'] as const)(
    'cannot use an answer with %s',
    async (kind) => {
      const transactionId = await screened(aWorld());
      sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind }] });
      expect(await read(transactionId)).toMatchObject({ kind: 'unreadable' });
    },
  );

  it('cannot use an answer about another transaction', async () => {
    const transactionId = await screened(aWorld(), 'review');
    const asking = aWorld({}, { machine: { ...MACHINE, fetch: aboutAnother(transactionId) } });
    expect(await read(UNKNOWN_ID, {}, asking)).toEqual({
      kind: 'unreadable',
      words: 'The screening service returned a different transaction than the requested one.',
    });
  });

  test.each([
    ['5xx-before-commit', 'http-5xx'],
    ['429', 'rate-limited'],
    ['truncated-reply', 'malformed-reply'],
  ] as const)('fails, to be called again, after %s', async (kind, type) => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind }] });
    expect(await failureOf(read(UNKNOWN_ID))).toMatchObject({ type, nonRetryable: false });
  });

  it('obeys Retry-After', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind: '429', retryAfter: 9 }] });
    expect(await failureOf(read(UNKNOWN_ID))).toMatchObject({ nextRetryDelay: 9_000 });
  });

  it('reports a wrong key once, then tries slowly', async () => {
    sandbox.control.setKeys({ test: 'another' });
    expect(await read(UNKNOWN_ID)).toEqual({ kind: 'forbidden' });
    const failure = await failureOf(read(UNKNOWN_ID, { forbiddenKnown: true }));
    expect(failure).toMatchObject({ nextRetryDelay: 60_000, category: BENIGN });
  });

  it('is called again while its integration is gone from the settings', async () => {
    const call = read(UNKNOWN_ID, { integration: 'elsewhere' });
    expect(await failureOf(call)).toMatchObject({ type: 'unknown-integration', nonRetryable: false });
  });
});

describe('polling', () => {
  async function poll(changes: Partial<PollRequest> = {}, attempt = 2) {
    const world = aWorld();
    const transactionId = await screened(world, 'review');
    const request: PollRequest = {
      integration: 'default',
      transactionId,
      known: 'review',
      pauses: PAUSES,
      cancelBy: fromNow(432_000_000),
      forbiddenKnown: false,
      troubleKnown: false,
      ...changes,
    };
    return () => outcomeOf(world.polls.pollStatus, request, { attempt });
  }

  it('only begins its first pause when it is first called', async () => {
    const failure = await failureOf((await poll({}, 1))());
    expect(failure).toMatchObject({ type: 'unchanged', nextRetryDelay: 60_000, category: BENIGN });
    expect(requests('status-by-url')).toBe(0);
  });

  test.each([
    [2, 90_000],
    [3, 135_000],
    [7, 683_438],
    [8, 900_000],
    [5_000, 900_000],
  ])('on call %i waits %i ms more while the decision stands', async (attempt, expected) => {
    const failure = await failureOf((await poll({}, attempt))());
    expect(failure).toMatchObject({ type: 'unchanged', nextRetryDelay: expected, category: BENIGN });
    expect(requests('status-by-url')).toBe(1);
  });

  it('goes on slowly after the cancel window', async () => {
    const failure = await failureOf((await poll({ cancelBy: fromNow(-1) }))());
    expect(failure.nextRetryDelay).toBe(3_600_000);
  });

  it('returns another decision', async () => {
    const call = await poll();
    sandbox.control.decide(ORDER_ID, 'fraudulent');
    expect(await call()).toEqual({ kind: 'read', decision: 'fraudulent' });
  });

  it('reports an answer that cannot be used once, then goes on', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind: 'unknown-decision' }] });
    expect(await (await poll())()).toMatchObject({ kind: 'unreadable' });
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind: 'unknown-decision' }] });
    expect(await failureOf((await poll({ troubleKnown: true }))())).toMatchObject({ type: 'unchanged' });
  });

  it('reports the word «error» once, then goes on', async () => {
    const call = await poll();
    const known = await poll({ troubleKnown: true });
    for (const { id } of sandbox.control.transactions(ORDER_ID)) sandbox.control.decide(id, 'error');
    expect(await call()).toEqual({ kind: 'read', decision: 'error' });
    expect(await failureOf(known())).toMatchObject({ type: 'unchanged' });
  });

  it.each([{ troubleKnown: true }, { forbiddenKnown: true }])(
    'tells that a trouble is over: %o',
    async (known) => {
      expect(await (await poll(known))()).toEqual({ kind: 'read', decision: 'review' });
    },
  );

  it('reports a wrong key once, then tries slowly', async () => {
    const [first, later] = [await poll(), await poll({ forbiddenKnown: true })];
    sandbox.control.setKeys({ test: 'another' });
    expect(await first()).toEqual({ kind: 'forbidden' });
    expect(await failureOf(later())).toMatchObject({ type: 'forbidden', nextRetryDelay: 60_000 });
  });

  it('waits as long as the service asks, and no shorter than it would anyway', async () => {
    const call = await poll();
    for (const [retryAfter, expected] of [
      [600, 600_000],
      [5, 90_000],
    ] as const) {
      sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind: '429', retryAfter }] });
      expect(await failureOf(call())).toMatchObject({ type: 'rate-limited', nextRetryDelay: expected });
    }
  });

  property([fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 1, max: 10, noNaN: true })])(
    'never pauses shorter than the pause before, nor longer than the longest',
    (attempt, factor) => {
      const request = { pauses: { firstMs: 1_000, factor, maxMs: 50_000 } };
      const pause = pollPauseMs(request, attempt, 0);
      expect(pause).toBeGreaterThanOrEqual(attempt === 1 ? 1_000 : pollPauseMs(request, attempt - 1, 0));
      expect(pause).toBeLessThanOrEqual(50_000);
      expect(Number.isInteger(pause)).toBe(true);
    },
  );
});

describe('looking up by invoice', () => {
  const lookUp = (changes: Partial<LookUpRequest> = {}, attempt = 1) =>
    outcomeOf(aWorld().background.lookUp, aLookUp(changes), { attempt });

  it('finds a transaction that is new to the order', async () => {
    const transactionId = await screened(aWorld(), 'fail');
    const outcome = await lookUp();
    expect(outcome).toEqual({ kind: 'found', transactionId, decision: 'fail' });
    expectNoSecret(outcome);
  });

  it('finds none when there is none, once an earlier create had time to arrive; a known one hides what may be there', async () => {
    const early = await failureOf(lookUp());
    expect(early).toMatchObject({ type: 'earlier-try', nextRetryDelay: 10_000 });
    expect(await lookUp({}, 2)).toEqual({ kind: 'none' });
    expect(await lookUp({ knownTransactionIds: [await screened(aWorld())] })).toEqual({ kind: 'hidden' });
  });

  it('finds one whose decision is a word that nobody knows, so that it can be canceled', async () => {
    const transactionId = await screened(aWorld());
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'unknown-decision' }] });
    expect(await lookUp()).toEqual({ kind: 'found', transactionId });
    expect(await lookUp({ knownTransactionIds: [transactionId] })).toEqual({ kind: 'hidden' });
  });

  it('is called again when there is no answer', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit' }] });
    expect(await failureOf(lookUp({}, 2))).toMatchObject({ type: 'http-5xx', nonRetryable: false });
  });

  it('gives an earlier create the same time to arrive when its first call has no answer', async () => {
    sandbox.control.setFaults({
      faults: [{ operation: 'status-by-invoice', kind: '429', retryAfter: 1, times: 1 }],
    });
    expect(await failureOf(lookUp())).toMatchObject({ type: 'rate-limited', nextRetryDelay: 10_000 });
  });

  it('gives it that time also while its integration is gone from the settings', async () => {
    const failure = await failureOf(lookUp({ integration: 'elsewhere' }));
    expect(failure).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 10_000 });
  });

  it('reports a wrong key once, then tries slowly', async () => {
    sandbox.control.setKeys({ test: 'another' });
    expect(await lookUp()).toEqual({ kind: 'forbidden' });
    expect(await failureOf(lookUp({ forbiddenKnown: true }))).toMatchObject({ nextRetryDelay: 60_000 });
  });
});
