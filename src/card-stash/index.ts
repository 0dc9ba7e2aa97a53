/** The card stash: the only place where full card data is stored, encrypted and for 15 minutes at most. */
import type { NamedKey } from '../codec/sealer.ts';
import { type CardStash, createCardSealer, createMemoryCardStash, readRedisAddress } from './card-stash.ts';
import { createRedisCardStash } from './redis-card-stash.ts';

export {
  CARD_LIFETIME_MS,
  type CardOwner,
  type CardStash,
  CardStashError,
  type CardStashErrorReason,
} from './card-stash.ts';
export { inspectRedis, type RedisReport } from './redis-card-stash.ts';

/**
 * @param url `memory:` for a single process, or `redis[s]://[user][:password]@host[:port][/database]` for several
 * @param keys the first encrypts, all decrypt. May be empty for `memory:` only, which then uses a random key.
 * @throws for any other address, which the error doesn't contain, and for Redis without keys
 */
export function createCardStash(url: string, keys: readonly NamedKey[] = []): CardStash {
  if (url === 'memory:') return createMemoryCardStash(createCardSealer(keys));
  const address = readRedisAddress(url);
  if (address === undefined) throw new Error('A card stash has the address memory:, redis://… or rediss://…');
  if (keys.length === 0)
    throw new Error('A card stash in Redis requires keys, the same in all its processes');
  return createRedisCardStash(address, createCardSealer(keys));
}
