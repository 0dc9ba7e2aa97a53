import { describe, expect, it } from 'vitest';
import type { CheckoutRequest } from '../../../src/contract/activity-contract.ts';
import { DECISIONS } from '../../../src/contract/words.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  fromNow,
  noOrders,
  plan,
  queued,
  refusalOf,
  requests,
  sandbox,
  TASK_LOST,
  theTransaction,
  withSandbox,
} from '../support.ts';

withSandbox();

/** Screens an order. @returns the outcome alone */
async function screen(changes: Partial<CheckoutRequest> = {}, attempt = {}, world = aWorld()) {
  return (await checkOut(world, aCheckout('pass', changes), attempt)).outcome;
}

describe('the decision', () => {
  it.each(DECISIONS)('«%s» is answered with its transaction id and the policy in force', async (decision) => {
    const { outcome, policy } = await checkOut(aWorld(), aCheckout(decision));
    const transactionId = theTransaction().id;
    expect(outcome).toMatchObject({ kind: 'answered', decision, transactionId, found: false });
    expect('message' in outcome).toBe(decision === 'fail');
    expect(policy).toMatchObject({ workflow: 'pre-acceptance', whenUnavailable: 'hold', events: false });
    expectNoSecret({ outcome, policy });
  });

  it('skips by rule an order that lacks required data, before anything is sent', async () => {
    const world = aWorld({ skip: [{ amountAtLeast: 1_000 }, { amountBelow: 200 }] });
    const skipped = await screen({ transaction: { amount: '125.50' } }, {}, world);
    expect(skipped).toEqual({ kind: 'skipped', rule: 1 });
    expect(requests('create-transaction')).toBe(0);
  });
});

describe('the message of an enriched fail', () => {
  const screenFail = (changes: Partial<CheckoutRequest> = {}, budget = 3_000) =>
    checkOut(aWorld({ enrich: true, checkoutBudgetMs: budget }), aCheckout('fail', changes));
  const fail = { kind: 'answered', decision: 'fail', found: false };

  it('is read from the status, since the enriched reply has none', async () => {
    const { outcome } = await screenFail();
    expect(outcome).toMatchObject({ ...fail, message: expect.stringMatching(/^We could not accept/) });
    expect(outcome).toHaveProperty('insights');
    expect([requests('create-transaction'), requests('status-by-url')]).toEqual([1, 1]);
  });

  it.each(['hang-before-commit', '5xx-before-commit', '403', '429', 'unknown-decision'] as const)(
    'is missing when the status has the fault %s, and costs no more than the budget',
    async (kind) => {
      plan('status-by-url', kind);
      const begun = performance.now();
      const { outcome } = await screenFail({}, 1_000);
      expect(performance.now() - begun).toBeLessThan(2_000);
      expect(outcome).toMatchObject(fail);
      expect(outcome).not.toHaveProperty('message');
      expect([requests('create-transaction'), requests('status-by-url')]).toEqual([1, 1]);
    },
  );

  it('is not read when nobody is declined: any other decision, and after acceptance', async () => {
    await checkOut(aWorld({ enrich: true }), aCheckout('review'));
    await screenFail({ workflow: 'post-acceptance' });
    expect([requests('create-transaction'), requests('status-by-url')]).toEqual([2, 0]);
  });
});

describe('the budget', () => {
  const late = { answerBy: fromNow(-1) };

  it.each([
    ['for a caller whose time to answer has passed', () => late],
    ['when the queue used it up', () => ({ answerBy: fromNow(2_000), ...queued(2_990) })],
  ])('sends nothing %s', async (_when, changes) => {
    expect(await screen(changes())).toEqual({ kind: 'unanswered', reason: 'no-time-left' });
    expect(requests('create-transaction')).toBe(0);
  });

  it('sends nothing, and refuses the order, when its earlier run was lost', async () => {
    const world = aWorld({}, { orders: { ...noOrders, ended: async () => 'lost' } });
    expect(await refusalOf(world, aCheckout())).toMatchObject({ code: 'order-closed' });
    expect(requests('create-transaction')).toBe(0);
  });

  it('finds what a run of the task that was lost made, since the caller may know it; asks again when the service did not tell', async () => {
    await screen();
    plan('status-by-invoice', '5xx-before-commit', { times: 2 });
    const outcome = await screen(late, TASK_LOST);
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass', found: true });
    expect(requests('create-transaction')).toBe(1);
    expect(requests('status-by-invoice')).toBe(3);
  });

  it.each([
    ['pre-acceptance', 'unanswered'],
    ['post-acceptance', 'answered'],
  ] as const)('does not decline whom it may have told otherwise: %s', async (workflow, kind) => {
    await checkOut(aWorld(), aCheckout('fail', { workflow }));
    const again = await checkOut(aWorld(), aCheckout('fail', { workflow, ...late }), TASK_LOST);
    expect(again.outcome).toMatchObject({ kind });
  });

  it('sends nothing when that run made nothing, and does not wait for it', async () => {
    const began = Date.now();
    expect(await screen(late, TASK_LOST)).toMatchObject({ kind: 'unanswered', reason: 'earlier-try' });
    expect(Date.now()).toBeLessThan(began + 1_000);
    expect(requests('create-transaction')).toBe(0);
  });

  it('is whole for an order that nobody waits for, however long it was queued', async () => {
    expect(await screen(queued(3_600_000))).toMatchObject({ kind: 'answered' });
  });

  it('ends a request that hangs, less the time queued', async () => {
    plan('create-transaction', 'hang-after-commit');
    const begun = performance.now();
    const outcome = await screen({ answerBy: fromNow(10_000), ...queued(2_600) });
    const took = performance.now() - begun;
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'timeout', unseenSince: expect.any(String) });
    expect(took).toBeGreaterThan(390);
    expect(took).toBeLessThan(1_500);
  });
});

describe('a lost or unusable answer', () => {
  it.each(['5xx-after-commit', 'reset-after-commit', 'truncated-reply', 'malformed-body'] as const)(
    '%s: the transaction is found within the budget, and made once',
    async (kind) => {
      plan('create-transaction', kind);
      const outcome = await screen();
      const transactionId = theTransaction().id;
      expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass', transactionId, found: true });
      expect(requests('create-transaction')).toBe(1);
    },
  );

  const unseenSince = expect.any(String);
  it.each([
    ['5xx-before-commit', { kind: 'unanswered', reason: 'http-5xx', unseenSince }, 1],
    ['429', { kind: 'unanswered', reason: 'rate-limited', notBefore: expect.any(String) }, 0],
    ['403', { kind: 'forbidden' }, 0],
    ['reply-without-id', { kind: 'unreadable', reason: 'missing-id', unseenSince }, 0],
  ] as const)('%s: nothing is found, and nothing sent a second time', async (kind, outcome, looks) => {
    plan('create-transaction', kind);
    expect(await screen()).toEqual(outcome);
    expect(requests('create-transaction')).toBe(1);
    expect(requests('status-by-invoice')).toBe(looks);
  });

  it.each([
    ['when the service cannot be reached', () => 'http://127.0.0.1:9/test', 'connection-refused'],
    // An operator can correct it, so nobody is refused for it.
    ['when the address is wrong', () => `${sandbox.url}/nowhere`, 'not-found'],
  ])('says that nothing was sent %s', async (_when, baseUrl, reason) => {
    expect(await screen({}, {}, aWorld({ baseUrl: baseUrl() }))).toEqual({ kind: 'unanswered', reason });
  });

  it('does not take an earlier attempt’s transaction for its own', async () => {
    await screen();
    const knownTransactionIds = [theTransaction().id];
    plan('create-transaction', 'reset-after-commit');
    const outcome = await screen({ knownTransactionIds });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'reset', unseenSince });
  });

  it('keeps the transaction’s id when the decision is a word that nobody knows', async () => {
    plan('create-transaction', 'unknown-decision');
    const outcome = await screen();
    const seen = { transactionId: theTransaction().id, found: false };
    expect(outcome).toMatchObject({ kind: 'unreadable', reason: 'unknown-decision', seen });
  });
});

it('says once of a worker that the account is of another mode than the integration', async () => {
  const world = aWorld({ mode: 'live', enrich: true });
  const first = await screen({}, {}, world);
  expect(first).toMatchObject({ accountMode: 'test', otherMode: true });
  const second = await screen({ orderId: 'A-2', invoiceNumber: 'A-2' }, {}, world);
  expect(second).toMatchObject({ accountMode: 'test' });
  expect(second).not.toHaveProperty('otherMode');
});
