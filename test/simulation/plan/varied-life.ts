/** Varies a planned life by what its plan leaves alone: keys of the policy, orders that a skip rule matches late. */

import { HOUR } from '../../fixtures/policies.ts';
import { Dice, mixed } from '../random.ts';
import type { Happening } from './happenings.ts';
import type { Life } from './life.ts';
import { SKIP_BELOW } from './policies.ts';

/** @returns the life with everything that can be drawn beside its plan */
export function variedLife(life: Life): Life {
  const dice = new Dice(mixed(life.seed, -4));
  const { policy } = life;
  const long = policy.cancelWindowMs > HOUR;
  const varied: Life = {
    ...life,
    policy: {
      ...policy,
      invoicePerAttempt: dice.chance(0.5),
      rescreenOnError: {
        tries: dice.between(0, 4),
        pauseMs: long ? dice.anySize(1_000, HOUR) : dice.anySize(200, 6_000),
      },
      retryWithinMs: long ? dice.anySize(60_000, 24 * HOUR) : dice.between(6_000, 30_000),
      gatewayResultWithinMs: long ? dice.anySize(60_000, 48 * HOUR) : dice.between(5_000, 30_000),
      poll: {
        firstMs: long ? dice.between(30_000, 120_000) : dice.between(500, 2_000),
        factor: dice.pick([1, 1.5, 2]),
        maxMs: long ? dice.between(300, 1_800) * 1_000 : dice.between(2_000, 8_000),
      },
    },
    // The client library and the HTTP API always send it.
    ...(life.start !== 'plain' && { answerByMs: life.answerByMs ?? life.checkoutBudgetMs + 2_000 }),
    ...(life.amount >= SKIP_BELOW && dice.chance(0.15) && { laterAmount: SKIP_BELOW / 2 }),
  };
  if (policy.workflow === 'pre-gateway' && dice.chance(0.1)) {
    varied.happenings = [...varied.happenings, ...replacedResult(dice)];
  }
  return varied;
}

/** A result that takes the place of another one while that is being sent. */
function replacedResult(dice: Dice): Happening[] {
  const sent = { do: 'gateway-result', attempt: 1, times: 1, id: 'own', afterAnswer: true } as const;
  const at = dice.between(10, 2_000);
  return [
    { do: 'fault', operation: 'gateway-response', nth: 1, fault: 'delay', ms: dice.between(500, 4_000) },
    { ...sent, result: 'error', at },
    { ...sent, result: 'pass', at: at + dice.between(20, 1_000) },
  ];
}
