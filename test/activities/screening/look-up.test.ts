import { describe, expect, it } from 'vitest';
import type { LookUpRequest } from '../../../src/contract/activity-contract.ts';
import {
  type Attempt,
  aLookUp,
  aWorld,
  expectNoSecret,
  failureOf,
  outcomeOf,
  plan,
  STILL,
  screened,
  withSandbox,
} from '../support.ts';

withSandbox();

describe('looking up by invoice', () => {
  const lookUp = (changes: Partial<LookUpRequest> = {}, attempt: Attempt = {}) =>
    outcomeOf(aWorld({}, STILL).background.lookUp, aLookUp(changes), attempt);
  const SECOND = { attempt: 2, heartbeatDetails: { arrivesBy: new Date().toISOString() } };

  it('finds a transaction that is new to the order; a known one hides what may be there', async () => {
    const transactionId = await screened(aWorld(), 'fail');
    const outcome = await lookUp();
    expect(outcome).toEqual({ kind: 'found', transactionId, decision: 'fail' });
    expectNoSecret(outcome);
    const hidden = () => lookUp({ knownTransactionIds: [transactionId] });
    expect(await hidden()).toEqual({ kind: 'hidden' });
    // One whose decision is a word that nobody knows can be canceled.
    plan('status-by-invoice', 'unknown-decision');
    expect(await lookUp()).toEqual({ kind: 'found', transactionId });
    expect(await hidden()).toEqual({ kind: 'hidden' });
  });

  it('finds none when there is none, once an earlier create had time to arrive', async () => {
    const early = await failureOf(lookUp());
    expect(early).toMatchObject({ type: 'earlier-try', nextRetryDelay: 10_000 });
    expect(await lookUp({}, SECOND)).toEqual({ kind: 'none' });
  });

  it('gives it that time also when the first call has no answer, or no integration', async () => {
    const gone = await failureOf(lookUp({ integration: 'elsewhere' }));
    expect(gone).toMatchObject({ type: 'unknown-integration', nextRetryDelay: 10_000 });
    plan('status-by-invoice', '429', { retryAfter: 1 });
    expect(await failureOf(lookUp())).toMatchObject({ type: 'rate-limited', nextRetryDelay: 10_000 });
    expect(await failureOf(lookUp({}, SECOND))).toMatchObject({ nonRetryable: false, nextRetryDelay: 4_000 });
  });
});
