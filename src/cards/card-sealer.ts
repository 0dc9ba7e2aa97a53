import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type CardData, cardSchema } from '../screening/index.ts';
import { createSealer, type NamedKey, SealError, type Sealed } from '../sealer.ts';
import type { CardOwner } from './card-stash.ts';
import { CardStashError } from './card-stash-error.ts';

export interface CardSealer {
  /**
   * Encrypts with the first key.
   * @param expires when the card is gone, in milliseconds after the epoch; sealed with it, so that nobody can put it off
   */
  seal(owner: CardOwner, card: CardData, expires: number): Sealed;
  /**
   * @returns the card, or undefined when it has expired, is another order's or was changed
   * @throws CardStashError `unknown-key`, naming the key's id
   */
  open(owner: CardOwner, sealed: Sealed): CardData | undefined;
}

const contentSchema = z.strictObject({ card: cardSchema, expires: z.int() });

/** @param keys the first seals, all open; none: a random key that dies with the process */
export function createCardSealer(keys: readonly NamedKey[]): CardSealer {
  const [first = { id: 'process', key: randomBytes(32) }, ...others] = keys;
  const sealer = createSealer(first, ...others);
  return {
    seal: (owner, card, expires) =>
      sealer.seal(Buffer.from(JSON.stringify({ card, expires })), associatedData(owner)),
    open(owner, sealed) {
      try {
        const opened = sealer.open(sealed, associatedData(owner));
        const { card, expires } = contentSchema.parse(JSON.parse(opened.toString('utf8')));
        return expires > Date.now() ? card : undefined;
      } catch (error) {
        if (!(error instanceof SealError) || error.reason !== 'unknown-key') return undefined;
        throw new CardStashError(
          'unknown-key',
          `The card was sealed with the key "${sealed.keyId}", which CARD_STASH_KEYS of this process lacks`,
        );
      }
    },
  };
}

function associatedData({ integration, orderId }: CardOwner): Buffer {
  return Buffer.from(JSON.stringify([integration, orderId]));
}
