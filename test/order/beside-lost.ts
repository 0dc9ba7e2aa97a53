/** An order whose create was lost, beside the transaction that it knows. */
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision } from '../../src/contract/words.ts';
import { HOUR, MINUTE } from '../fixtures/orders.ts';
import { HINT, type Life, RECHECK, screened } from './life.ts';

export const NO_RESCREENS = {
  screeningDeadlineMs: HOUR,
  rescreenOnError: { tries: 0, pauseMs: MINUTE },
} as const;

/** A rescreen was given up whose create may have made another transaction; then the first one was decided. */
export function besideLost(decision: Decision, policy: Partial<Policy> = {}): Life {
  const life = screened('error', { ...NO_RESCREENS, ...policy })
    .take(RECHECK)
    .read('error', 2 * MINUTE);
  life
    .until(HOUR + 3 * MINUTE)
    .break('catch-up', 'canceled')
    .take(HINT);
  return life.read(decision, HOUR + 4 * MINUTE);
}
