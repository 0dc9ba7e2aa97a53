import { randomBytes } from 'node:crypto';
import type { CardData } from '../screening/index.ts';

/** How long a card lives, whatever happens to its order. Design section 7. */
export const CARD_LIFETIME_MS = 15 * 60_000;

/** The order that a card belongs to; it can be taken out for no other. */
export interface CardOwner {
  integration: string;
  orderId: string;
}

/**
 * Full card data on its way to the service: it never enters Temporal, a log or an error.
 * Every method rejects with `CardStashError` when the stash doesn't answer; the same call may be made again.
 */
export interface CardStash {
  /** @returns the name of the card, which tells nothing about it, and when it is gone (ISO 8601) */
  put(entry: CardOwner & { card: CardData }): Promise<{ cardRef: string; expiresAt: string }>;
  /**
   * @returns the card; undefined when it is gone, forgotten or another order's
   * @throws CardStashError `unknown-key` when this process lacks the key that sealed it
   */
  get(entry: CardOwner & { cardRef: string }): Promise<CardData | undefined>;
  /** Deletes a card; no error when there is none. */
  forget(cardRef: string): Promise<void>;
  /** Lets go of whatever keeps the process alive. Nothing is put in or taken out afterwards. */
  close(): Promise<void>;
}

/** @returns a name for a card, never given before, that tells nothing about it */
export function newCardRef(): string {
  return `card_${randomBytes(18).toString('base64url')}`;
}
