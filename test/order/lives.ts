/** Orders that several tests begin with. */
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision } from '../../src/contract/words.ts';
import { HOUR, MINUTE, NO_RESCREENS } from '../fixtures/orders.ts';
import { HINT, type Life, RECHECK, screened } from './life.ts';

/** A rescreen was given up whose create may have made another transaction; then the first one was decided. */
export function besideLost(decision: Decision, policy: Partial<Policy> = {}): Life {
  const life = screened('error', { screeningDeadlineMs: HOUR, ...NO_RESCREENS, ...policy })
    .take(RECHECK)
    .read('error', 2 * MINUTE);
  life
    .until(HOUR + 3 * MINUTE)
    .break('catch-up', 'canceled')
    .take(HINT);
  return life.read(decision, HOUR + 4 * MINUTE);
}

/** The order is reported as fraud, and the report succeeds. */
export function reported(life: Life, at = HOUR): Life {
  return life.portal('report-fraud', at).portalEnds('done', at);
}

/** Returns the transactions that portal actions were sent for, oldest first. */
export function sentTo(life: Life): (string | undefined)[] {
  return life.calls('portal').map(({ request }) => request.transactionId);
}
