/** The policies of simulated lives: every integration workflow, every fallback, short and long windows. */
import type { Policy } from '../../../src/contract/policy.ts';
import { aPolicy, DAY, HOUR } from '../../fixtures/policies.ts';

const BASE: Policy = {
  ...aPolicy(),
  workflow: 'pre-acceptance',
  whenUnavailable: 'hold',
  declineMessage: 'Another way to pay, please.',
  cancelWindowMs: 45_000,
  recheckLeadTimeMs: 6_000,
  reviewLeadTimeMs: 9_000,
  reviewLimitMs: 60_000,
  screeningDeadlineMs: 30_000,
  autoCancel: true,
  onUnresolvedReview: 'alert',
  passive: false,
  reviewBeforeGateway: 'proceed',
  events: 'all',
};

/** Their window is the real one, so these orders stay open to the end of a run. */
const LONG = {
  cancelWindowMs: 5 * DAY,
  recheckLeadTimeMs: 12 * HOUR,
  reviewLeadTimeMs: 12 * HOUR,
  reviewLimitMs: 30 * DAY,
  screeningDeadlineMs: DAY,
};

const POLICIES = {
  default: { ...BASE, ...LONG },
  declining: { ...BASE, ...LONG, whenUnavailable: 'decline' },
  canceling: { ...BASE, onUnresolvedReview: 'cancel' },
  alerting: {
    ...BASE,
    cancelWindowMs: 25_000,
    reviewLimitMs: 45_000,
    autoCancel: false,
    whenUnavailable: 'proceed',
  },
  accepted: { ...BASE, workflow: 'post-acceptance', whenUnavailable: 'decline', cancelWindowMs: 40_000 },
  accepting: { ...BASE, ...LONG, workflow: 'post-acceptance' },
  passive: { ...BASE, passive: true, cancelWindowMs: 20_000 },
  gateway: { ...BASE, workflow: 'pre-gateway', whenUnavailable: 'proceed' },
  holding: {
    ...BASE,
    ...LONG,
    workflow: 'pre-gateway',
    reviewBeforeGateway: 'hold',
    onUnresolvedReview: 'cancel',
  },
  gatekeeping: { ...BASE, workflow: 'pre-gateway', whenUnavailable: 'decline' },
} as const satisfies Record<string, Policy>;

export type IntegrationName = keyof typeof POLICIES;

/** Amounts below it aren't screened, by a skip rule of every integration. */
export const SKIP_BELOW = 1;

/** @returns the names of the integrations */
export function integrationNames(): IntegrationName[] {
  return Object.keys(POLICIES).filter((name): name is IntegrationName => name in POLICIES);
}

/** @returns the policy of the integration, resolved for an order of this amount; `variedLife` draws what it leaves open */
export function policyFor(integration: IntegrationName, amount: number): Policy {
  return {
    ...POLICIES[integration],
    ...(integration === 'default' && amount < 100 && { whenUnavailable: 'proceed' }),
    cancelAfterReport: amount % 2 === 0 ? 'never' : 'always',
  };
}
