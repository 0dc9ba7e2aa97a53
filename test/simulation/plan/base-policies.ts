/** The integrations of simulated lives: every integration workflow, every fallback, short and long windows. */

export type Unavailable = 'hold' | 'proceed' | 'decline';

/** What an integration of simulated lives sets; durations in milliseconds. */
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
  },
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
} as const satisfies Record<string, ChaosPolicy>;

export type IntegrationName = keyof typeof POLICIES;

/** Amounts below it aren't screened, by a skip rule of every integration. */
export const SKIP_BELOW = 1;
export const DECLINE_MESSAGE = 'Another way to pay, please.';

/** @returns what that integration sets */
export function policyOf(integration: IntegrationName): ChaosPolicy {
  return POLICIES[integration];
}
