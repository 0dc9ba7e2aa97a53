import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { CardStashError, createCardStash } from '../../../src/card-stash/index.ts';
import type { CheckoutRequest } from '../../../src/contract/activity-contract.ts';
import { aPreGatewayTransaction, TEST_CARD } from '../../fixtures/transactions.ts';
import {
  aCatchUp,
  aCheckout,
  aWorld,
  checkOut,
  expectNoSecret,
  failureOf,
  noOrders,
  ORDER_ID,
  outcomeOf,
  perform,
  plan,
  requests,
  TASK_LOST,
  type TestWorld,
  theTransaction,
  UNSEEN_SINCE,
  withSandbox,
} from '../support.ts';

withSandbox();

describe('looking first', () => {
  const lookFirst = async (world: TestWorld, changes: Partial<CheckoutRequest> = {}) =>
    (await checkOut(world, aCheckout('review', changes), TASK_LOST)).outcome;
  const unanswered = (reason: string) => ({ kind: 'unanswered', reason, unseenSince: expect.any(String) });

  const owned = (...owners: string[]) => {
    const withTransaction = async (id: string) => (id === theTransaction().id ? owners : []);
    return aWorld({ checkoutBudgetMs: 700 }, { orders: { ...noOrders, withTransaction } });
  };

  it('leaves a transaction alone that another order has: two integrations may share a key and an invoice number', async () => {
    await checkOut(aWorld(), aCheckout('review'));
    expect(await lookFirst(owned('order:other:A-1'))).toEqual(unanswered('earlier-try'));
    expect(await lookFirst(owned('test'))).toMatchObject({ kind: 'answered', found: true });
    // Also where its decision can’t be read, so that no cancel goes to it.
    plan('status-by-invoice', 'unknown-decision');
    expect(await lookFirst(owned('order:other:A-1'))).toEqual(unanswered('earlier-try'));
    const seen = { transactionId: theTransaction().id };
    expect(await lookFirst(owned('test'))).toMatchObject({ kind: 'unreadable', seen });
    expect(requests('create-transaction')).toBe(1);
  });

  it('waits for a create that an earlier run of the task has under way', async () => {
    plan('create-transaction', 'delay', { delayMs: 300, times: 1 });
    const world = aWorld({ checkoutBudgetMs: 15_000 });
    const earlier = checkOut(world, aCheckout('review'));
    const outcome = await lookFirst(world);
    await earlier;
    expect(outcome).toMatchObject({ kind: 'answered', found: true, transactionId: theTransaction().id });
    expect(requests('create-transaction')).toBe(1);
  });

  it.each([
    ['429', 'rate-limited', { notBefore: expect.any(String) }],
    // The last look has what is left of the budget, which a busy machine may use up.
    ['5xx-before-commit', 'http-5xx', { reason: expect.stringMatching(/^(http-5xx|timeout)$/) }],
    ['403', 'forbidden', {}],
  ] as const)(
    'creates nothing when the look meets a %s, and may have sent one before',
    async (kind, reason, asked) => {
      plan('status-by-invoice', kind);
      const outcome = await lookFirst(aWorld({ checkoutBudgetMs: 1_500 }));
      expect(outcome).toEqual({ ...unanswered(reason), ...asked });
      expect(requests('create-transaction')).toBe(0);
    },
  );

  it('takes a refused look for no refusal of the order', async () => {
    const outcome = await lookFirst(aWorld(), { invoiceNumber: '..' });
    expect(outcome).toEqual({ kind: 'unreadable', reason: 'bad-request', unseenSince: expect.any(String) });
    expect(requests('create-transaction')).toBe(0);
  });
});

describe('the card', () => {
  /** A transaction whose card lies in the stash. */
  const transaction = {
    ...aPreGatewayTransaction({ payment: { creditCard: { last4: '1111', bin: '411111' } } }),
  };
  const owner = { integration: 'default', orderId: ORDER_ID };
  const screen = (world: TestWorld, cardRef: string, attempt = {}) =>
    checkOut(world, aCheckout('pass', { workflow: 'pre-gateway', transaction, cardRef }), attempt);

  it('comes out of the stash and goes to the service', async () => {
    const world = aWorld();
    const { cardRef } = await world.cards.put({ ...owner, card: TEST_CARD });
    const { outcome, policy } = await screen(world, cardRef);
    expect(outcome).toMatchObject({ kind: 'answered', decision: 'pass' });
    expect(policy.workflow).toBe('pre-gateway');
    expect(theTransaction().last4).toBe('1111');
    expectNoSecret({ outcome, policy });
    // One that is gone is not missed when the transaction was made before.
    await world.cards.forget(cardRef);
    const transactionId = theTransaction().id;
    const again = await screen(world, cardRef, TASK_LOST);
    expect(again.outcome).toMatchObject({ kind: 'answered', found: true, transactionId });
  });

  it('that is gone, or another order’s, ends the screening with no request', async () => {
    const world = aWorld();
    const { cardRef } = await world.cards.put({ ...owner, orderId: 'B-2', card: TEST_CARD });
    for (const ref of ['card_gone', cardRef]) {
      const { outcome } = await screen(world, ref);
      expect(outcome).toEqual({ kind: 'refused', reason: 'card-data-expired' });
    }
    expect(requests('create-transaction')).toBe(0);
  });

  it('stays where it is when the integration workflow needs none', async () => {
    const { outcome } = await checkOut(aWorld(), aCheckout('pass', { cardRef: 'card_gone' }));
    expect(outcome).toMatchObject({ kind: 'answered' });
  });

  it('takes a refusal as final, with the service’s words', async () => {
    // A live card with a test key: our own check is told otherwise, so that the service says it.
    const world = aWorld({ workflow: 'pre-gateway' });
    const card = { ...TEST_CARD, cardNumber: '4539578763621486' };
    const { cardRef } = await world.cards.put({ ...owner, card });
    const { outcome } = await checkOut(world, aCheckout('pass', { transaction, cardRef }));
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'refused' });
    expect(outcome).toHaveProperty('words', expect.stringContaining('Real card numbers are not accepted'));
    expectNoSecret(outcome);
  });

  it('that is refused or gone leaves an earlier create unresolved: the next try looks first, too', async () => {
    const world = aWorld({ workflow: 'pre-gateway' });
    const card = { ...TEST_CARD, cardNumber: '4539578763621486' };
    const { cardRef } = await world.cards.put({ ...owner, card });
    const again = { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: UNSEEN_SINCE } };
    const catchUp = (ref: string, attempt = {}) =>
      outcomeOf(world.background.catchUp, aCatchUp('review', { transaction, cardRef: ref }), attempt);
    for (const [ref, reason] of Object.entries({ [cardRef]: 'refused', card_gone: 'card-data-expired' })) {
      expect(await catchUp(ref, again)).toMatchObject({ reason, unseenSince: UNSEEN_SINCE });
      expect(await catchUp(ref)).not.toHaveProperty('unseenSince');
    }
  });

  const quoting = `redis://127.0.0.1:6379 ${TEST_CARD.cardNumber}`;
  const broken = (error: Error) => ({
    ...createCardStash('memory:'),
    get: () => Promise.reject(error),
    forget: () => Promise.reject(error),
  });

  it.each([
    ['unreachable', new CardStashError('unreachable', quoting)],
    ['clock', new CardStashError('clock', quoting)],
    ['unexpected', new Error(quoting)],
  ])('that the stash does not give is logged with the reason alone: %s', async (reason, error) => {
    const lines: LogEntry[] = [];
    const logger = new DefaultLogger('INFO', (entry) => void lines.push(entry));
    const { outcome } = await screen(aWorld({}, { cards: broken(error) }), 'card_1', { logger });
    expect(outcome).toEqual({ kind: 'unanswered', reason: 'card-stash' });
    expect(lines).toMatchObject([{ level: 'WARN', meta: { reason, integration: 'default' } }]);
    expectNoSecret(lines.map(({ message, meta }) => ({ message, meta })));
    expect(requests('create-transaction')).toBe(0);
  });

  it('is deleted at its end; that is tried again, with nothing of the driver’s words, when the stash does not answer', async () => {
    const world = aWorld();
    const { cardRef } = await world.cards.put({ ...owner, card: TEST_CARD });
    await perform(world.background.forgetCard, { cardRef, attempt: 1 });
    expect(await world.cards.get({ ...owner, cardRef })).toBeUndefined();
    const { background } = aWorld({}, { cards: broken(new Error(quoting)) });
    const failure = await failureOf(perform(background.forgetCard, { cardRef, attempt: 1 }));
    expect(failure).toMatchObject({ type: 'card-stash', nonRetryable: false });
  });
});
