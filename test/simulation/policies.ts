/** The policies of simulated lives: every workflow, every fallback, short windows and real ones; each other key is drawn. */
import type { Policy } from '../../src/contract/policy.ts';
import { aPolicy } from '../fixtures/policies.ts';
import type { Dice } from './random.ts';

const HOUR = 3_600_000;

/** Amounts below it aren't screened, by a skip rule. */
export const SKIP_BELOW = 1;

/** The real windows and leads. */
const LONG = aPolicy({ autoCancel: true, declineMessage: 'Another way to pay, please.' });

const SHORT: Policy = {
  ...LONG,
  cancelWindowMs: 45_000,
  recheckLeadTimeMs: 6_000,
  reviewLeadTimeMs: 9_000,
  reviewLimitMs: 60_000,
  screeningDeadlineMs: 30_000,
};

const BASES: [Policy, ...Policy[]] = [
  LONG,
  { ...LONG, whenUnavailable: 'decline' },
  { ...LONG, workflow: 'post-acceptance' },
  { ...LONG, workflow: 'pre-gateway', reviewBeforeGateway: 'hold', onUnresolvedReview: 'cancel' },
  { ...SHORT, onUnresolvedReview: 'cancel' },
  { ...SHORT, autoCancel: false, whenUnavailable: 'proceed', cancelWindowMs: 25_000, reviewLimitMs: 45_000 },
  { ...SHORT, workflow: 'post-acceptance', whenUnavailable: 'decline', cancelWindowMs: 40_000 },
  { ...SHORT, passive: true, cancelWindowMs: 20_000 },
  { ...SHORT, workflow: 'pre-gateway', whenUnavailable: 'proceed' },
  { ...SHORT, workflow: 'pre-gateway', whenUnavailable: 'decline' },
];

export function drawPolicy(dice: Dice): Policy {
  const base = dice.pick(BASES);
  const long = base.cancelWindowMs > HOUR;
  const factor = dice.pick([1, 1.5, 2]);
  return {
    ...base,
    invoicePerAttempt: dice.chance(0.5),
    rescreenOnError: {
      tries: dice.between(0, 4),
      pauseMs: long ? dice.anySize(1_000, HOUR) : dice.anySize(200, 6_000),
    },
    retryWithinMs: long ? dice.anySize(60_000, 24 * HOUR) : dice.between(6_000, 30_000),
    gatewayResultWithinMs: long ? dice.anySize(60_000, 48 * HOUR) : dice.between(5_000, 30_000),
    poll: long
      ? { firstMs: dice.between(30_000, 120_000), factor, maxMs: dice.between(300, 1_800) * 1_000 }
      : { firstMs: dice.between(500, 2_000), factor, maxMs: dice.between(2_000, 8_000) },
    events: dice.chance(0.7) ? 'all' : dice.chance(0.1) ? false : 'changes',
  };
}
