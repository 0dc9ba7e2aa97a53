import { instant } from '../orders/words.ts';
import type { RedisAddress } from '../redis-address.ts';
import type { Sealed } from '../sealer.ts';
import type { CardSealer } from './card-sealer.ts';
import { CARD_LIFETIME_MS, type CardStash, newCardRef } from './card-stash.ts';
import { createRedisConnection } from './redis-connection.ts';

/** `<key id>.<nonce>.<tag>.<data>`; the key id is as CARD_STASH_KEYS takes it, the others base64url. */
const STORED = /^([\w-]{1,32})\.([\w-]{16})\.([\w-]{22})\.([\w-]+)$/;

/**
 * Cards in a Redis, for any number of processes that share its keys. Redis sees ciphertext, key ids and random names.
 * It connects at the first call, and again by itself; each call ends within a second.
 */
export function createRedisCardStash(address: RedisAddress, sealer: CardSealer): CardStash {
  const redis = createRedisConnection(address);
  return {
    async put({ integration, orderId, card }) {
      const cardRef = newCardRef();
      const expires = Date.now() + CARD_LIFETIME_MS;
      const stored = write(sealer.seal({ integration, orderId }, card, expires));
      await redis.run((client) => client.set(keyOf(cardRef), stored, { PX: CARD_LIFETIME_MS }));
      return { cardRef, expiresAt: instant(expires) };
    },
    async get({ integration, orderId, cardRef }) {
      const stored = await redis.run((client) => client.get(keyOf(cardRef)));
      const sealed = stored === null ? undefined : read(stored);
      return sealed && sealer.open({ integration, orderId }, sealed);
    },
    async forget(cardRef) {
      await redis.run((client) => client.del(keyOf(cardRef)));
    },
    close: () => redis.close(),
  };
}

function keyOf(cardRef: string): string {
  return `card:${cardRef}`;
}

function write({ keyId, nonce, tag, data }: Sealed): string {
  return [keyId, ...[nonce, tag, data].map((bytes) => bytes.toString('base64url'))].join('.');
}

/** @returns undefined for what no stash has written */
function read(stored: string): Sealed | undefined {
  const [, keyId, nonce, tag, data] = STORED.exec(stored) ?? [];
  if (keyId === undefined || nonce === undefined || tag === undefined || data === undefined) return undefined;
  const bytes = (encoded: string) => Buffer.from(encoded, 'base64url');
  return { keyId, nonce: bytes(nonce), tag: bytes(tag), data: bytes(data) };
}
