/** Card removal: the stash deletes a card as soon as no screening needs it any more. */
import type { Attempt, OrderState } from '../../contract/state.ts';
import type { Concern } from '../concern.ts';
import { attemptNumbered } from '../record.ts';

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

  // When the stash does not answer for 15 minutes, it forgets by itself.
  ended({ state }, { effect: { call } }, outcome) {
    if (outcome.status === 'failed' && outcome.byHand) return 'retry-later';
    if (call.kind === 'forget-card') attemptNumbered(state, call.request.attempt).cardForgotten = true;
    return [];
  },
};

/** The card is needed until the newest attempt has a decision other than `error`, or nothing screens it again. */
function isNeeded({ attempts, phase }: OrderState, { number }: Attempt): boolean {
  return number === attempts.length && phase === 'screening';
}
