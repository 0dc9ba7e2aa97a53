/** Lives of orders that are adopted: started from a transaction that somebody else has screened. */
import type { Adoption } from '../../../src/contract/order/state.ts';
import type { Decision, GatewayResult } from '../../../src/contract/words.ts';
import { instant } from '../../../src/contract/words.ts';
import { transactionId } from '../network/service.ts';
import { Dice, mixed } from '../random.ts';
import type { Happening } from './happenings.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { type Life, START } from './life.ts';

/** What the order is adopted with. */
export interface Adopted {
  /** How long ago the transaction was screened, in milliseconds. */
  ageMs: number;
  decision: Decision;
  gatewayResult?: GatewayResult;
}

/** How many of a thousand lives. */
const OF_A_THOUSAND = 50;

/** @returns the life as one of an order that is adopted, if the seed is one for it; lives that are kept stay as they are */
export function adoptedOrNot(life: Life): Life {
  const dice = new Dice(mixed(life.seed, -2));
  const kept = KEPT_SEEDS.includes(life.seed);
  if (dice.between(1, 1_000) > OF_A_THOUSAND || kept) return life;
  const { workflow, cancelWindowMs, reviewLimitMs } = life.policy;
  const longest = Math.min(cancelWindowMs * 1.1, reviewLimitMs);
  const ageMs = dice.chance(0.5) ? dice.between(0, longest) : dice.anySize(0, longest);
  const gatewayResult = dice.pick(['pass', 'pass', 'fail', 'error']);
  const decision = dice.pick(['review', 'review', 'review', 'pass', 'fail', 'fraudulent']);
  const again: Happening = { do: 'adopt', at: dice.anySize(0, 60_000), times: dice.pick([1, 3]), id: 'own' };
  return {
    ...life,
    start: life.start === 'plain' ? 'plain' : 'update',
    card: false,
    adopted: { ageMs, decision, ...(workflow === 'pre-gateway' && { gatewayResult }) },
    happenings: [...life.happenings, again],
  };
}

export const ADOPTED_ID = transactionId(1);

/** @returns what the order is started with */
export function adoptionOf({ ageMs, gatewayResult }: Adopted): Adoption {
  return {
    transactionId: ADOPTED_ID,
    screenedAt: instant(START - ageMs),
    ...(gatewayResult !== undefined && { gatewayResult }),
  };
}
