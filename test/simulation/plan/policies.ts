/** The policies of simulated lives: a base policy, with what it leaves open varied. */
import type { Policy } from '../../../src/contract/policy.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import type { Dice } from '../random.ts';
import { DECLINE_MESSAGE, type IntegrationName, policyOf } from './base-policies.ts';

const HOUR = 3_600_000;
const DEFAULTS = aPolicy();

/** @returns the policy of the integration, resolved for an order of this amount */
export function policyFor(integration: IntegrationName, amount: number, dice: Dice): Policy {
  const chaos = policyOf(integration);
  const long = chaos.cancelWindowMs > HOUR;
  const { whenUnavailable: rule } = chaos;
  const whenUnavailable =
    typeof rule === 'string' ? rule : amount >= rule.atLeast ? rule.from : rule.otherwise;
  return {
    ...DEFAULTS,
    workflow: chaos.workflow,
    whenUnavailable,
    declineMessage: DECLINE_MESSAGE,
    screeningDeadlineMs: chaos.screeningDeadlineMs,
    rescreenOnError: { tries: dice.between(0, 3), pauseMs: long ? 60_000 : 2_000 },
    retryWithinMs: long ? HOUR : 12_000,
    gatewayResultWithinMs: long ? 24 * HOUR : 15_000,
    reviewBeforeGateway: chaos.reviewBeforeGateway,
    poll: long
      ? { firstMs: 60_000, factor: 1.5, maxMs: 900_000 }
      : { firstMs: 1_000, factor: 1.5, maxMs: 4_000 },
    reviewLeadTimeMs: chaos.reviewLeadMs,
    onUnresolvedReview: chaos.onUnresolvedReview,
    reviewLimitMs: chaos.reviewLimitMs,
    recheckLeadTimeMs: chaos.recheckLeadMs,
    autoCancel: chaos.autoCancel,
    cancelAfterReport: amount % 2 === 0 ? 'never' : 'always',
    cancelWindowMs: chaos.cancelWindowMs,
    passive: chaos.passive,
    invoicePerAttempt: true,
    events: 'all',
  };
}
