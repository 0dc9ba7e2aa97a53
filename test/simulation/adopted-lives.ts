/** Lives of orders that are adopted: started from a transaction that another system has screened. */
import type { Adoption } from '../../src/contract/state.ts';
import { type Decision, instant } from '../../src/contract/words.ts';
import { type Life, START } from './life.ts';
import type { Dice } from './random.ts';
import { transactionId } from './service.ts';

/** What the order is adopted with; its transaction was screened `ageMs` before the start. */
export interface Adopted {
  ageMs: number;
  decision: Decision;
  adopt: Adoption;
}

export const ADOPTED_ID = transactionId(1);

/** @returns one life in twenty as that of an order that is adopted */
export function adoptedOrNot(life: Life, dice: Dice): Life {
  if (!dice.chance(0.05)) return life;
  const { workflow, cancelWindowMs, reviewLimitMs } = life.policy;
  const longest = Math.min(cancelWindowMs * 1.1, reviewLimitMs);
  const ageMs = dice.chance(0.5) ? dice.between(0, longest) : dice.anySize(0, longest);
  const gatewayResult = dice.pick(['pass', 'pass', 'fail', 'error']);
  const decision = dice.pick(['review', 'review', 'review', 'pass', 'fail', 'fraudulent']);
  const at = dice.anySize(0, 60_000);
  const adopt = { transactionId: ADOPTED_ID, screenedAt: instant(START - ageMs) };
  return {
    ...life,
    card: false,
    adopted: { ageMs, decision, adopt: { ...adopt, ...(workflow === 'pre-gateway' && { gatewayResult }) } },
    happenings: [...life.happenings, { do: 'adopt', at, times: dice.pick([1, 3]), id: 'own' }],
  };
}
