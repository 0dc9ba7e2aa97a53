/** The integrations of a chaos run: every integration workflow, every fallback, windows short enough to see their end. */

export type Unavailable = 'hold' | 'proceed' | 'decline';

/** What the oracle knows of an integration; durations in milliseconds. */
export interface ChaosPolicy {
  workflow: 'pre-gateway' | 'pre-acceptance' | 'post-acceptance';
  /** From `atLeast` on one action, below it the other. */
  whenUnavailable: Unavailable | { atLeast: number; from: Unavailable; otherwise: Unavailable };
  cancelWindowMs: number;
  recheckLeadMs: number;
  reviewLeadMs: number;
  reviewLimitMs: number;
  screeningDeadlineMs: number;
  autoCancel: boolean;
  onUnresolvedReview: 'alert' | 'cancel';
  passive: boolean;
  reviewBeforeGateway: 'proceed' | 'hold';
  /** How often orders are sent to it, beside the others. */
  weight: number;
}

const DAYS_5 = 120 * 3_600_000;

const BASE: ChaosPolicy = {
  workflow: 'pre-acceptance',
  whenUnavailable: 'hold',
  cancelWindowMs: 45_000,
  recheckLeadMs: 6_000,
  reviewLeadMs: 9_000,
  reviewLimitMs: 60_000,
  screeningDeadlineMs: 30_000,
  autoCancel: true,
  onUnresolvedReview: 'alert',
  passive: false,
  reviewBeforeGateway: 'proceed',
  weight: 2,
};

/** Their window is the real one, so these orders stay open to the end of a run. */
const LONG = {
  cancelWindowMs: DAYS_5,
  recheckLeadMs: 12 * 3_600_000,
  reviewLeadMs: 12 * 3_600_000,
  reviewLimitMs: 30 * 24 * 3_600_000,
  screeningDeadlineMs: 24 * 3_600_000,
};

export const POLICIES = {
  default: {
    ...BASE,
    ...LONG,
    whenUnavailable: { atLeast: 100, from: 'hold', otherwise: 'proceed' },
    weight: 4,
  },
  declining: { ...BASE, ...LONG, whenUnavailable: 'decline', weight: 2 },
  canceling: { ...BASE, onUnresolvedReview: 'cancel' },
  alerting: {
    ...BASE,
    cancelWindowMs: 25_000,
    reviewLimitMs: 45_000,
    autoCancel: false,
    whenUnavailable: 'proceed',
  },
  accepted: { ...BASE, workflow: 'post-acceptance', whenUnavailable: 'decline', cancelWindowMs: 40_000 },
  accepting: { ...BASE, ...LONG, workflow: 'post-acceptance', weight: 1 },
  passive: { ...BASE, passive: true, cancelWindowMs: 20_000, weight: 1 },
  gateway: { ...BASE, workflow: 'pre-gateway', whenUnavailable: 'proceed' },
  holding: {
    ...BASE,
    ...LONG,
    workflow: 'pre-gateway',
    reviewBeforeGateway: 'hold',
    onUnresolvedReview: 'cancel',
  },
  gatekeeping: { ...BASE, workflow: 'pre-gateway', whenUnavailable: 'decline', weight: 1 },
} as const satisfies Record<string, ChaosPolicy>;

export type IntegrationName = keyof typeof POLICIES;

/** Amounts below it aren't screened, by a skip rule of every integration. */
export const SKIP_BELOW = 1;
export const RETRY_WITHIN_MS = 12_000;
export const GATEWAY_RESULT_WITHIN_MS = 15_000;
export const CHECKOUT_BUDGET_MS = 1_500;
export const DECLINE_MESSAGE = 'Another way to pay, please.';

/** @returns the policy, as the oracle's own words for it */
export function policyOf(integration: IntegrationName): ChaosPolicy {
  return POLICIES[integration];
}

/** @returns the policy file */
export function policyFile(addresses: { baseUrl: string; portalBaseUrl: string }): object {
  const integrations = Object.entries(POLICIES).map(([name, policy]) => [
    name,
    { ...addresses, ...written(policy) },
  ]);
  return { integrations: Object.fromEntries(integrations) };
}

function written(policy: ChaosPolicy): object {
  const { whenUnavailable } = policy;
  return {
    workflow: policy.workflow,
    checkoutBudget: ms(CHECKOUT_BUDGET_MS),
    whenUnavailable:
      typeof whenUnavailable === 'string'
        ? whenUnavailable
        : [
            { amountAtLeast: whenUnavailable.atLeast, action: whenUnavailable.from },
            { action: whenUnavailable.otherwise },
          ],
    skip: [{ amountBelow: SKIP_BELOW }],
    declineMessage: DECLINE_MESSAGE,
    screeningDeadline: ms(policy.screeningDeadlineMs),
    rescreenOnError: { tries: 2, pause: '2s' },
    retryWithin: ms(RETRY_WITHIN_MS),
    gatewayResultWithin: ms(GATEWAY_RESULT_WITHIN_MS),
    reviewBeforeGateway: policy.reviewBeforeGateway,
    poll: { first: '1s', factor: 1.5, max: '4s' },
    reviewLeadTime: ms(policy.reviewLeadMs),
    onUnresolvedReview: policy.onUnresolvedReview,
    reviewLimit: ms(policy.reviewLimitMs),
    recheckLeadTime: ms(policy.recheckLeadMs),
    autoCancel: policy.autoCancel,
    cancelWindow: ms(policy.cancelWindowMs),
    passive: policy.passive,
    invoicePerAttempt: true,
  };
}

function ms(duration: number): string {
  return `${duration}ms`;
}
