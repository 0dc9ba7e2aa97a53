/** Card removal: deletes a card from the stash as soon as no screening needs it. */
import type { Attempt, OrderState } from '../../contract/order/state.ts';
import { attemptNumbered } from '../record.ts';
import type { Concern } from './concern.ts';

export const card: Concern = {
  name: 'card',
  keepsOpen: true,

  desired: ({ state }) =>
    state.attempts.flatMap((attempt) => {
      const { number, cardRef, cardForgotten } = attempt;
      if (cardRef === undefined || cardForgotten === true || isNeeded(state, attempt)) return [];
      const request = { cardRef, attempt: number };
      return [
        {
          key: `forget-card:${number}`,
          whenObsolete: 'drop' as const,
          call: { kind: 'forget-card' as const, request },
        },
      ];
    }),

  // If the stash is unreachable for 15 minutes, the card has expired there anyway.
  ended({ state }, { effect: { call } }, outcome) {
    if (outcome.status === 'failed' && outcome.byHand) return 'retry-later';
    if (call.kind === 'forget-card') attemptNumbered(state, call.request.attempt).cardForgotten = true;
    return [];
  },
};

/** Returns whether a screening may still need the card: the order's newest attempt is in `screening`. */
function isNeeded({ attempts, phase }: OrderState, { number }: Attempt): boolean {
  return number === attempts.length && phase === 'screening';
}
