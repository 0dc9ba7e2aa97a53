import { describe, expect, it } from 'vitest';
import { createCardStash } from '../../src/cards/index.ts';
import { TEST_CARD } from '../fixtures/transactions.ts';
import { aWorld, failureOf, ORDER_ID, perform, withSandbox } from './support.ts';

withSandbox();

describe('the card’s end', () => {
  it('deletes it from the stash', async () => {
    const world = aWorld();
    const owner = { integration: 'default', orderId: ORDER_ID };
    const { cardRef } = await world.cards.put({ ...owner, card: TEST_CARD });
    await perform(world.background.forgetCard, { cardRef, attempt: 1 });
    expect(await world.cards.get({ ...owner, cardRef })).toBeUndefined();
  });

  it('is tried again, with nothing of the driver’s words, when the stash does not answer', async () => {
    const forget = async () => {
      throw new Error('connect ECONNREFUSED redis://canary@127.0.0.1:6379');
    };
    const world = aWorld({}, { cards: { ...createCardStash('memory:'), forget } });
    const failure = await failureOf(perform(world.background.forgetCard, { cardRef: 'card_1', attempt: 1 }));
    expect(failure).toMatchObject({ type: 'card-stash', nonRetryable: false });
  });
});
