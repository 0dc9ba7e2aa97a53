/** What a checkout concludes from the facts of the run that calls it. */
import { describe, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/activity-contract.ts';
import { aCheckout, aWorld, checkOut, requests, screened, withSandbox } from './support.ts';

withSandbox();

describe('a checkout', () => {
  it('in the first task of an order’s first run creates at once', async () => {
    const { outcome, again } = await checkOut(aWorld(), aCheckout('review'), { run: { historyLength: 3 } });
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
    expect(again).toBeUndefined();
    expect(requests('status-by-invoice')).toBe(0);
  });

  it.each<[string, Partial<RunFacts>, looksWithoutTime: boolean]>([
    ['whose run replays', { isReplaying: true }, true],
    ['whose first task was lost', { historyLength: 4 }, true],
    ['of a run that a reset created', { wasReset: true }, false],
    ['that the run before the reset called', { runId: '33333333-3333-4333-8333-333333333333' }, false],
  ])('%s only looks for what may have been created before', async (_which, run, looksWithoutTime) => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const request = aCheckout('review');
    const unseenSince = request.startedAt;
    const late = await checkOut(world, { ...request, answerBy: unseenSince }, { run });
    expect(late.outcome).toMatchObject({ kind: 'unanswered', unseenSince });
    expect(requests('status-by-invoice') > 0).toBe(looksWithoutTime);
    const none = await checkOut(world, request, { run });
    expect(none).toMatchObject({ outcome: { kind: 'unanswered', unseenSince }, again: true });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(world, 'review');
    const found = await checkOut(world, request, { run });
    const outcome = { kind: 'answered', found: true, transactionId, sentFrom: unseenSince };
    expect(found).toMatchObject({ outcome, again: true });
    expect(requests('create-transaction')).toBe(1);
  });
});
