/** Card removal: deletes a card from the stash as soon as no screening needs it. */
import type { Concern } from '../order.ts';
import { attemptNumbered } from '../record.ts';

export const card: Concern = {
  name: 'card',
  keepsOpen: true,

  desired: ({ state }) =>
    state.attempts.flatMap(({ number, cardRef, cardForgotten }) => {
      // A screening may still need the card.
      const isNeeded = number === state.attempts.length && state.phase === 'screening';
      if (cardRef === undefined || cardForgotten === true || isNeeded) return [];
      const call = { kind: 'forget-card', request: { cardRef, attempt: number } } as const;
      return [{ key: `forget-card:${number}`, whenObsolete: 'drop' as const, call }];
    }),

  // If the stash is unreachable for 15 minutes, the card has expired there anyway.
  ended({ state }, { effect: { call } }, outcome) {
    if (outcome.status === 'failed' && outcome.byHand) return 'retry-later';
    if (call.kind === 'forget-card') attemptNumbered(state, call.request.attempt).cardForgotten = true;
    return [];
  },
};
