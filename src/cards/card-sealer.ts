import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type CardData, cardSchema } from '../screening/index.ts';
import type { CardOwner } from './card-stash.ts';

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
  /** Encrypts with the first key and a nonce that was never used before. */
  seal(owner: CardOwner, card: CardData): SealedCard;
  /** @returns the card, or undefined when it is another order's, was changed, or its key is gone */
  open(owner: CardOwner, sealed: SealedCard): CardData | undefined;
}

const CIPHER = 'aes-256-gcm';

/** @param keys the first seals, all open; none: a random key that dies with the process */
export function createCardSealer(keys: readonly StashKey[]): CardSealer {
  const [first = { id: 'process', key: randomBytes(32) }] = keys;
  const all = new Map([first, ...keys].map(({ id, key }) => [id, key]));
  return {
    seal(owner, card) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv(CIPHER, first.key, nonce).setAAD(associatedData(owner));
      const data = Buffer.concat([cipher.update(JSON.stringify(card), 'utf8'), cipher.final()]);
      return { keyId: first.id, nonce, tag: cipher.getAuthTag(), data };
    },
    open(owner, { keyId, nonce, tag, data }) {
      const key = all.get(keyId);
      if (key === undefined) return undefined;
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: 16 })
        .setAAD(associatedData(owner))
        .setAuthTag(tag);
      try {
        const opened = Buffer.concat([decipher.update(data), decipher.final()]);
        return cardSchema.parse(JSON.parse(opened.toString('utf8')));
      } catch {
        return undefined;
      }
    },
  };
}

function associatedData({ integration, orderId }: CardOwner): Buffer {
  return Buffer.from(JSON.stringify([integration, orderId]));
}
