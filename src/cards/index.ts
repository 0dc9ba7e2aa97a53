/** The card stash: the one place where full card data rests, encrypted and for 15 minutes at most. Design section 7. */
import { createCardSealer, type StashKey } from './card-sealer.ts';
import type { CardStash } from './card-stash.ts';
import { createMemoryCardStash } from './memory-card-stash.ts';

export type { StashKey } from './card-sealer.ts';
export { CARD_LIFETIME_MS, type CardOwner, type CardStash } from './card-stash.ts';

/**
 * @param url `memory:`, for one process
 * @param keys the first encrypts, all decrypt; none: a random key of the process
 * @throws for any other address, without naming it
 */
export function createCardStash(url: string, keys: readonly StashKey[] = []): CardStash {
  if (url !== 'memory:') throw new Error('The only card stash there is has the address memory:');
  return createMemoryCardStash(createCardSealer(keys));
}
