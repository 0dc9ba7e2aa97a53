/** What an activity concludes from the facts of the run that calls it. */
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

  it.each<[string, Partial<RunFacts>]>([
    ['whose run replays', { isReplaying: true }],
    ['whose first task was lost', { historyLength: 4 }],
    ['of a run that a reset created', { wasReset: true }],
    ['that the run before the reset called', { runId: '33333333-3333-4333-8333-333333333333' }],
  ])('%s only looks for what may have been created before', async (_which, run) => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    const request = aCheckout('review');
    const none = await checkOut(world, request, { run });
    const unseenSince = request.startedAt;
    expect(none).toMatchObject({
      outcome: { kind: 'unanswered', unseenSince },
      again: true,
    });
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(world, 'review');
    const found = await checkOut(world, request, { run });
    expect(found).toMatchObject({
      outcome: { kind: 'answered', found: true, transactionId, sentFrom: unseenSince },
      again: true,
    });
    expect(requests('create-transaction')).toBe(1);
  });

  it.each<[Partial<RunFacts>, boolean]>([
    [{ historyLength: 4 }, true],
    [{ isReplaying: true }, true],
    [{ wasReset: true }, false],
    [{ runId: '33333333-3333-4333-8333-333333333333' }, false],
  ])('without time left looks after a lost task, and not after a reset: %o', async (run, looks) => {
    const { outcome } = await checkOut(aWorld(), aCheckout('pass', { answerBy: aCheckout().startedAt }), {
      run,
    });
    expect(outcome).toMatchObject({ kind: 'unanswered', unseenSince: expect.any(String) });
    expect(requests('status-by-invoice') > 0).toBe(looks);
  });
});
