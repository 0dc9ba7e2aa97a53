import { describe, expect, it, test } from 'vitest';
import { createCardStash } from '../../src/cards/index.ts';
import type { CheckoutRequest } from '../../src/contract/activity-contract.ts';
import { aPreGatewayTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  noOrders,
  ORDER_ID,
  requests,
  sandbox,
  TASK_LOST,
  type TestWorld,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

/** A transaction whose card lies in the stash. */
function withoutCard() {
  return { ...aPreGatewayTransaction({ payment: { creditCard: { last4: '1111', bin: '411111' } } }) };
}

describe('looking first', () => {
  const lookFirst = (world: TestWorld, changes: Partial<CheckoutRequest> = {}) =>
    checkOut(world, aCheckout('review', changes), TASK_LOST);

  const owned = (...owners: string[]) => {
    const withTransaction = async (id: string) => (id === theTransaction().id ? owners : []);
    const orders = { ...noOrders, withTransaction };
    return aWorld({ checkoutBudgetMs: 700 }, { orders });
  };

  it('leaves a transaction alone that another order has: two integrations may share a key and an invoice number', async () => {
    await checkOut(aWorld(), aCheckout('review'));
    const { outcome } = await lookFirst(owned('order:other:A-1'));
    expect(outcome).toMatchObject({ kind: 'unanswered', reason: 'earlier-try' });
    const own = await lookFirst(owned('test'));
    expect(own.outcome).toMatchObject({ kind: 'answered', found: true });
    expect(requests('create-transaction')).toBe(1);
  });

  it('leaves it alone also where its decision can’t be read, so that no cancel goes to it', async () => {
    await checkOut(aWorld(), aCheckout('review'));
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'unknown-decision' }] });
    const { outcome } = await lookFirst(owned('order:other:A-1'));
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    const own = await lookFirst(owned('test'));
    expect(own.outcome).toMatchObject({ kind: 'unreadable', seen: { transactionId: theTransaction().id } });
  });

  it('waits for a create that an earlier run of the task has under way', async () => {
    const faults = [{ operation: 'create-transaction', kind: 'delay', delayMs: 300, times: 1 }] as const;
    sandbox.control.setFaults({ faults: [...faults] });
    const world = aWorld();
    const earlier = checkOut(world, aCheckout('review'));
    const { outcome } = await lookFirst(world);
    await earlier;
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId: theTransaction().id });
    expect(requests('create-transaction')).toBe(1);
  });

  it('creates nothing when there is none: one may be under way to the end of the budget', async () => {
    const began = Date.now();
    const { outcome } = await lookFirst(aWorld({ checkoutBudgetMs: 700 }));
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'earlier-try', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
    expect(requests('status-by-invoice')).toBeGreaterThan(1);
    expect(Date.now() - began).toBeLessThan(1_500);
  });

  test.each([
    ['429', 'rate-limited'],
    ['5xx-before-commit', 'http-5xx'],
    ['403', 'forbidden'],
  ] as const)(
    'creates nothing when the look meets a %s, and may have sent one before',
    async (kind, reason) => {
      sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind }] });
      const { outcome } = await lookFirst(aWorld({ checkoutBudgetMs: 600 }));
      expect(outcome).toEqual({ kind: 'unanswered', reason, unseenSince: expect.any(String) });
      expect(requests('create-transaction')).toBe(0);
    },
  );

  it('creates nothing when the look used the budget up', async () => {
    const faults = [{ operation: 'status-by-invoice', kind: 'delay', delayMs: 380 }] as const;
    sandbox.control.setFaults({ faults: [...faults] });
    const { outcome } = await lookFirst(aWorld({ checkoutBudgetMs: 400 }));
    expect(outcome).toMatchObject({ kind: 'unanswered', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
  });

  it('takes an answer without an id for a transaction that is there', async () => {
    const world = aWorld({ checkoutBudgetMs: 600 });
    await checkOut(world, aCheckout('review'));
    sandbox.control.setFaults({ faults: [{ operation: 'status-by-invoice', kind: 'reply-without-id' }] });
    const { outcome } = await lookFirst(world);
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'missing-id', unseenSince: expect.any(String) });
  });

  it('takes a refused look for no refusal of the order', async () => {
    const { outcome } = await lookFirst(aWorld(), { invoiceNumber: '..' });
    expect(outcome).toEqual({ kind: 'unreadable', reason: 'bad-request', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
  });
});

describe('the card', () => {
  const preGateway = (changes: Parameters<typeof aCheckout>[1]) =>
    aCheckout('pass', { workflow: 'pre-gateway', transaction: withoutCard(), ...changes });

  it('comes out of the stash and goes to the service', async () => {
    const world = aWorld();
    const { cardRef } = await world.cards.put({
      integration: 'default',
      orderId: ORDER_ID,
      card: TEST_CARD,
    });
    const { outcome, policy } = await checkOut(world, preGateway({ cardRef }));
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass' });
    expect(policy.workflow).toBe('pre-gateway');
    expect(theTransaction().last4).toBe('1111');
    expectNoSecret({ outcome, policy });
  });

  it('that is gone, or another order’s, ends the screening with no request', async () => {
    const world = aWorld();
    const { cardRef } = await world.cards.put({ integration: 'default', orderId: 'B-2', card: TEST_CARD });
    for (const ref of ['card_gone', cardRef]) {
      const { outcome } = await checkOut(world, preGateway({ cardRef: ref }));
      expect(outcome).toEqual({ kind: 'refused', reason: 'card-data-expired' });
    }
    expect(requests('create-transaction')).toBe(0);
  });

  it('that is gone is not missed when the transaction was made before', async () => {
    const world = aWorld();
    const owner = { integration: 'default', orderId: ORDER_ID };
    const { cardRef } = await world.cards.put({ ...owner, card: TEST_CARD });
    await checkOut(world, preGateway({ cardRef }));
    await world.cards.forget(cardRef);
    const { outcome } = await checkOut(world, preGateway({ cardRef }), TASK_LOST);
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId: theTransaction().id });
  });

  it('stays where it is when the integration workflow needs none', async () => {
    const { outcome } = await checkOut(aWorld(), aCheckout('pass', { cardRef: 'card_gone' }));
    expect(outcome).toMatchObject({ kind: 'answered' });
  });

  it('takes a refusal as final, with the service’s words', async () => {
    // A live card with a test key: our own check is told otherwise, so that the service says it.
    const cards = createCardStash('memory:');
    const card = { ...TEST_CARD, cardNumber: '4539578763621486' };
    const { cardRef } = await cards.put({ integration: 'default', orderId: ORDER_ID, card });
    const world = aWorld({ workflow: 'pre-gateway' }, { cards });
    const { outcome } = await checkOut(world, aCheckout('pass', { transaction: withoutCard(), cardRef }));
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'refused' });
    expect(outcome).toHaveProperty('words', expect.stringContaining('Real card numbers are not accepted'));
    expectNoSecret(outcome);
  });
});
