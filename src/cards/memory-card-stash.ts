import { instant } from '../orders/words.ts';
import type { Sealed } from '../sealer.ts';
import type { CardSealer } from './card-sealer.ts';
import { CARD_LIFETIME_MS, type CardStash, newCardRef } from './card-stash.ts';

const SWEEP_EVERY_MS = 60_000;

/** Cards in this process's memory, encrypted: for one process that is worker and API in one. */
export function createMemoryCardStash(sealer: CardSealer): CardStash {
  const cards = new Map<string, { sealed: Sealed; expires: number }>();
  const sweeping = setInterval(() => {
    for (const [cardRef, { expires }] of cards) if (expires <= Date.now()) cards.delete(cardRef);
  }, SWEEP_EVERY_MS).unref();
  return {
    async put({ integration, orderId, card }) {
      const cardRef = newCardRef();
      const expires = Date.now() + CARD_LIFETIME_MS;
      cards.set(cardRef, { sealed: sealer.seal({ integration, orderId }, card, expires), expires });
      return { cardRef, expiresAt: instant(expires) };
    },
    async get({ integration, orderId, cardRef }) {
      // The sweep may be late; the lifetime isn't: it is sealed with the card.
      const sealed = cards.get(cardRef)?.sealed;
      return sealed && sealer.open({ integration, orderId }, sealed);
    },
    async forget(cardRef) {
      cards.delete(cardRef);
    },
    async close() {
      clearInterval(sweeping);
      cards.clear();
    },
  };
}
