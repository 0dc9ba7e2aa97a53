import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type CardData, cardSchema } from '../screening/index.ts';
import type { CardOwner } from './card-stash.ts';
import { CardStashError } from './card-stash-error.ts';

/** A key of 32 bytes, with the id that says which one sealed a card. */
export interface StashKey {
  id: string;
  key: Buffer;
}

/** An encrypted card, with nothing of it readable. */
export interface SealedCard {
  keyId: string;
  nonce: Buffer;
  tag: Buffer;
  data: Buffer;
}

export interface CardSealer {
  /**
   * Encrypts with the first key and a nonce that was never used before.
   * @param expires when the card is gone, in milliseconds after the epoch; sealed with it, so that nobody can put it off
   */
  seal(owner: CardOwner, card: CardData, expires: number): SealedCard;
  /**
   * @returns the card, or undefined when it has expired, is another order's or was changed
   * @throws CardStashError `unknown-key`, naming the key's id
   */
  open(owner: CardOwner, sealed: SealedCard): CardData | undefined;
}

const CIPHER = 'aes-256-gcm';

const contentSchema = z.strictObject({ card: cardSchema, expires: z.int() });

/** @param keys the first seals, all open; none: a random key that dies with the process */
export function createCardSealer(keys: readonly StashKey[]): CardSealer {
  const [first = { id: 'process', key: randomBytes(32) }] = keys;
  const all = new Map([first, ...keys].map(({ id, key }) => [id, key]));
  return {
    seal(owner, card, expires) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv(CIPHER, first.key, nonce).setAAD(associatedData(owner));
      const content = JSON.stringify({ card, expires });
      const data = Buffer.concat([cipher.update(content, 'utf8'), cipher.final()]);
      return { keyId: first.id, nonce, tag: cipher.getAuthTag(), data };
    },
    open(owner, { keyId, nonce, tag, data }) {
      const key = all.get(keyId);
      if (key === undefined) {
        throw new CardStashError(
          'unknown-key',
          `The card was sealed with the key "${keyId}", which CARD_STASH_KEYS of this process lacks`,
        );
      }
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: 16 })
        .setAAD(associatedData(owner))
        .setAuthTag(tag);
      try {
        const opened = Buffer.concat([decipher.update(data), decipher.final()]);
        const { card, expires } = contentSchema.parse(JSON.parse(opened.toString('utf8')));
        return expires > Date.now() ? card : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

function associatedData({ integration, orderId }: CardOwner): Buffer {
  return Buffer.from(JSON.stringify([integration, orderId]));
}
