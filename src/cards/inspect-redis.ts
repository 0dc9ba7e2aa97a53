import { randomBytes } from 'node:crypto';
import { readRedisAddress } from '../redis-address.ts';
import { CardStashError } from './card-stash-error.ts';
import { createRedisConnection, type RedisConnection } from './redis-connection.ts';

export interface RedisReport {
  /** Whether it writes to disk; `unknown` when this user may not ask. */
  persistence: 'on' | 'off' | 'unknown';
}

/**
 * Writes a key of a second's life, as the card stash would, and asks whether anything goes to disk.
 * @param url `redis[s]://…`, as `CARD_STASH_URL`
 * @throws CardStashError `unreachable`, or `refused` with Redis's own code
 */
export async function inspectRedis(url: string): Promise<RedisReport> {
  const address = readRedisAddress(url);
  if (address === undefined) throw new TypeError('not the address of a Redis');
  const redis = createRedisConnection(address);
  try {
    const key = `card:doctor-${randomBytes(9).toString('base64url')}`;
    await redis.run((client) => client.set(key, '', { PX: 1_000 }));
    await redis.run((client) => client.del(key));
    return { persistence: await persistenceOf(redis) };
  } finally {
    await redis.close();
  }
}

async function persistenceOf(redis: RedisConnection): Promise<RedisReport['persistence']> {
  try {
    const { save = '' } = await redis.run((client) => client.configGet('save'));
    const { appendonly = 'no' } = await redis.run((client) => client.configGet('appendonly'));
    return save === '' && appendonly === 'no' ? 'off' : 'on';
  } catch (error) {
    // A managed Redis keeps its settings to itself.
    if (error instanceof CardStashError && error.reason === 'refused') return 'unknown';
    throw error;
  }
}
