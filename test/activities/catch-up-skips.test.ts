import { describe, expect, it } from 'vitest';
import {
  type Attempt,
  aCatchUp,
  aWorld,
  failureOf,
  outcomeOf,
  requests,
  screened,
  UNSEEN_SINCE,
  withSandbox,
} from './support.ts';

withSandbox();

const world = () => aWorld({ skip: [{ amountBelow: 1_000_000 }] });
const again: Attempt = { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: UNSEEN_SINCE } };

describe('a catch-up', () => {
  it('does not skip an order that was not skipped at checkout', async () => {
    const outcome = await outcomeOf(world().background.catchUp, aCatchUp('review'));
    expect(outcome).toMatchObject({ kind: 'answered', found: false });
  });

  it('skips by the rules what failed at checkout before they were read, unless a transaction is found', async () => {
    const { catchUp } = world().background;
    const unread = { mayBeSkipped: true, unseenSince: UNSEEN_SINCE } as const;
    const skipped = { kind: 'skipped', rule: 0 };
    const invalid = aCatchUp('review', { ...unread, transaction: { amount: '1' } });
    expect(await outcomeOf(catchUp, invalid)).toEqual(skipped);
    const early = await failureOf(outcomeOf(catchUp, aCatchUp('review', unread)));
    expect(early).toMatchObject({ type: 'earlier-try' });
    expect(await outcomeOf(catchUp, aCatchUp('review', unread), again)).toEqual(skipped);
    expect(requests('create-transaction')).toBe(0);
    const transactionId = await screened(aWorld(), 'review');
    const found = await outcomeOf(catchUp, aCatchUp('review', unread), again);
    expect(found).toMatchObject({ kind: 'answered', transactionId });
  });
});
