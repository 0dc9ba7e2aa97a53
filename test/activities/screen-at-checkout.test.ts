import { describe, expect, it, test } from 'vitest';
import { DECISIONS } from '../../src/contract/words.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  fromNow,
  queued,
  requests,
  sandbox,
  TASK_LOST,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

describe('the decision', () => {
  test.each(DECISIONS)('«%s» is answered with its transaction id and the policy in force', async (word) => {
    const { outcome, policy } = await checkOut(aWorld(), aCheckout(word));
    expect(outcome).toMatchObject({
      kind: 'answered',
      decision: word,
      transactionId: theTransaction().id,
      found: false,
    });
    expect('message' in outcome).toBe(word === 'fail');
    expect(policy).toMatchObject({ workflow: 'pre-acceptance', whenUnavailable: 'hold', events: false });
    expectNoSecret({ outcome, policy });
  });

  it('comes with insights when the integration asks for them', async () => {
    const { outcome } = await checkOut(aWorld({ enrich: true }), aCheckout('review'));
    expect(outcome).toMatchObject({
      decision: 'review',
      insights: { risk: { 1: { name: 'ip-distance', impact: 'medium' } } },
    });
  });

  it('comes in the sample dialect too', async () => {
    const world = aWorld({ dialect: 'sample' });
    const { outcome } = await checkOut(world, aCheckout('fraudulent'));
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'fraudulent' });
  });

  it.each([
    ['default', 'changes'],
    ['phone', false],
  ])('tells in the policy whether somebody wants events of the integration: %s, %s', async (name, wanted) => {
    const send = async () => undefined;
    const world = aWorld({}, { events: { own: new Map([[name, send]]) } });
    expect((await checkOut(world, aCheckout())).policy.events).toBe(wanted);
  });
});

describe('before anything is sent', () => {
  it('skips by rule an order that lacks required data', async () => {
    const world = aWorld({ skip: [{ amountAtLeast: 1_000 }, { amountBelow: 200 }] });
    const request = aCheckout('pass', { transaction: { amount: '125.50' } });
    expect((await checkOut(world, request)).outcome).toEqual({ kind: 'skipped', rule: 1 });
    expect(requests('create-transaction')).toBe(0);
  });
});

describe('the budget', () => {
  const noTime = { kind: 'unanswered', reason: 'no-time-left' };

  it('sends nothing for a caller whose time to answer has passed', async () => {
    const request = aCheckout('pass', { answerBy: fromNow(-1) });
    expect((await checkOut(aWorld(), request)).outcome).toEqual(noTime);
    expect(requests('create-transaction')).toBe(0);
  });

  it('sends nothing when the queue used it up', async () => {
    const request = aCheckout('pass', { answerBy: fromNow(2_000), ...queued(2_990) });
    expect((await checkOut(aWorld(), request)).outcome).toEqual(noTime);
    expect(requests('create-transaction')).toBe(0);
  });

  it('finds what a run of the task that was lost made, since the caller may know it', async () => {
    const world = aWorld();
    await checkOut(world, aCheckout('pass'));
    const request = aCheckout('pass', { answerBy: fromNow(-1) });
    const { outcome } = await checkOut(world, request, TASK_LOST);
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass', found: true });
    expect(requests('create-transaction')).toBe(1);
  });

  it('does not decline whom it may have told otherwise', async () => {
    for (const [workflow, kind] of [
      ['pre-acceptance', 'unanswered'],
      ['post-acceptance', 'answered'],
    ] as const) {
      const orderId = `B-${workflow}`;
      const about = { orderId, invoiceNumber: orderId, workflow };
      const world = aWorld();
      await checkOut(world, aCheckout('fail', about));
      const again = aCheckout('fail', { ...about, answerBy: fromNow(-1) });
      expect((await checkOut(world, again, TASK_LOST)).outcome).toMatchObject({ kind });
    }
  });

  it('sends nothing when that run made nothing, and does not wait for it', async () => {
    const began = Date.now();
    const request = aCheckout('pass', { answerBy: fromNow(-1) });
    const { outcome } = await checkOut(aWorld(), request, TASK_LOST);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(Date.now()).toBeLessThan(began + 1_000);
    expect(requests('create-transaction')).toBe(0);
  });

  it('asks again when the service did not tell', async () => {
    const world = aWorld();
    await checkOut(world, aCheckout('pass'));
    sandbox.control.setFaults({
      faults: [{ operation: 'status-by-invoice', kind: '5xx-before-commit', times: 2 }],
    });
    const request = aCheckout('pass', { answerBy: fromNow(-1) });
    const { outcome } = await checkOut(world, request, TASK_LOST);
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass', found: true });
    expect(requests('status-by-invoice')).toBe(3);
  });

  it('is whole for an order that nobody waits for, however long it was queued', async () => {
    const { outcome } = await checkOut(aWorld(), aCheckout('pass', queued(3_600_000)));
    expect(outcome).toMatchObject({ kind: 'answered' });
  });

  it('ends a request that hangs, less the time queued', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: 'hang-after-commit' }] });
    const begun = performance.now();
    const request = aCheckout('pass', { answerBy: fromNow(10_000), ...queued(2_600) });
    const { outcome } = await checkOut(aWorld(), request);
    const took = performance.now() - begun;
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'timeout', unseenSince: expect.any(String) });
    expect(took).toBeGreaterThan(390);
    expect(took).toBeLessThan(1_500);
  });
});

describe('a lost or unusable answer', () => {
  const fault = (kind: 'reset-after-commit' | '5xx-after-commit' | 'truncated-reply' | 'malformed-body') =>
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind }] });

  test.each(['5xx-after-commit', 'reset-after-commit', 'truncated-reply', 'malformed-body'] as const)(
    '%s: the transaction is found within the budget, and made once',
    async (kind) => {
      fault(kind);
      const { outcome } = await checkOut(aWorld(), aCheckout('review'));
      expect(outcome).toMatchObject({
        kind: 'answered',
        decision: 'review',
        transactionId: theTransaction().id,
        found: true,
      });
      expect(requests('create-transaction')).toBe(1);
    },
  );

  test.each([
    ['reset-before-commit', 'reset'],
    ['5xx-before-commit', 'http-5xx'],
  ] as const)('%s: nothing is found, and nothing sent a second time', async (kind, reason) => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind }] });
    const { outcome } = await checkOut(aWorld(), aCheckout());
    expect(outcome).toEqual({ kind: 'unanswered', reason, unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(1);
    expect(requests('status-by-invoice')).toBe(1);
  });

  it('does not take an earlier attempt’s transaction for its own', async () => {
    const world = aWorld();
    await checkOut(world, aCheckout('fail'));
    const knownTransactionIds = [theTransaction().id];
    fault('reset-after-commit');
    const { outcome } = await checkOut(world, aCheckout('pass', { knownTransactionIds }));
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'reset', unseenSince: expect.any(String) });
  });

  it('says that nothing was sent when the service cannot be reached, or puts us off', async () => {
    const closed = aWorld({ baseUrl: 'http://127.0.0.1:9/test' });
    const { outcome } = await checkOut(closed, aCheckout());
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'connection-refused' });
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '429' }] });
    const later = await checkOut(aWorld(), aCheckout());
    expect(later.outcome).toEqual({ kind: 'unanswered', reason: 'rate-limited' });
  });

  it('waits for an operator when the address is wrong, and refuses nobody for it', async () => {
    const world = aWorld({ baseUrl: `${sandbox.url}/nowhere` });
    const { outcome } = await checkOut(world, aCheckout());
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'not-found' });
  });

  it('reports a wrong key', async () => {
    sandbox.control.setKeys({ test: 'another' });
    const { outcome } = await checkOut(aWorld(), aCheckout());
    expect(outcome).toEqual({ kind: 'forbidden' });
  });

  it('keeps the transaction’s id when the decision is a word that nobody knows', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: 'unknown-decision' }] });
    const { outcome } = await checkOut(aWorld(), aCheckout());
    expect(outcome).toEqual({
      kind: 'unreadable',
      reason: 'unknown-decision',
      seen: {
        transactionId: theTransaction().id,
        found: false,
        sentFrom: expect.any(String),
        sentUntil: expect.any(String),
      },
    });
  });

  it('cannot read an answer without an id', async () => {
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: 'reply-without-id' }] });
    const { outcome } = await checkOut(aWorld(), aCheckout());
    expect(outcome).toEqual({ kind: 'unreadable', reason: 'missing-id', unseenSince: expect.any(String) });
  });
});

it('says once of a worker that the account is of another mode than the integration', async () => {
  const world = aWorld({ mode: 'live', enrich: true });
  const outcomes = [];
  for (const orderId of ['A-1', 'A-2']) {
    const { outcome } = await checkOut(world, aCheckout('pass', { orderId, invoiceNumber: orderId }));
    outcomes.push(outcome);
  }
  expect(outcomes).toMatchObject([{ accountMode: 'test', otherMode: true }, { accountMode: 'test' }]);
  expect(outcomes[1]).not.toHaveProperty('otherMode');
});
