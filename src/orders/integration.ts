/** One configured account of the merchant at the screening service, and the policy it gives an order. Design section 4. */
import type { Policy, UnavailableAction } from './policy.ts';
import { type OrderFacts, type OrderRule, type UnavailableRule, unavailableAction } from './rules.ts';
import type { IntegrationWorkflow } from './words.ts';

/** What of an integration stays the same for every order; durations in milliseconds. */
export interface Integration extends Omit<Policy, 'whenUnavailable' | 'events'> {
  /** Its short key, `default` unless said. */
  name: string;
  mode: 'test' | 'live';
  /** The screening address that fits the key's mode. */
  baseUrl: string;
  portalBaseUrl: string;
  dialect: 'definition' | 'sample';
  /** Ask for insights. */
  enrich: boolean;
  checkoutBudgetMs: number;
  whenUnavailable: UnavailableAction | UnavailableRule[];
  skip: OrderRule[];
  /** Reads the key at each call, so that it is nowhere kept. @throws when its variable isn't set */
  apiKey: () => string;
}

/** @returns the integration of that name, or undefined */
export type FindIntegration = (name: string) => Integration | undefined;

/**
 * Resolves what an integration says for one order.
 * @param workflow the integration workflow that the request names, if it names one
 */
export function policyFor(
  integration: Integration,
  workflow: IntegrationWorkflow | undefined,
  facts: OrderFacts,
  events: boolean,
): Policy {
  return {
    workflow: workflow ?? integration.workflow,
    whenUnavailable: unavailableAction(integration.whenUnavailable, facts),
    declineMessage: integration.declineMessage,
    screeningDeadlineMs: integration.screeningDeadlineMs,
    rescreenOnError: integration.rescreenOnError,
    retryWithinMs: integration.retryWithinMs,
    gatewayResultWithinMs: integration.gatewayResultWithinMs,
    reviewBeforeGateway: integration.reviewBeforeGateway,
    poll: integration.poll,
    reviewLeadTimeMs: integration.reviewLeadTimeMs,
    onUnresolvedReview: integration.onUnresolvedReview,
    reviewLimitMs: integration.reviewLimitMs,
    recheckLeadTimeMs: integration.recheckLeadTimeMs,
    autoCancel: integration.autoCancel,
    cancelWindowMs: integration.cancelWindowMs,
    passive: integration.passive,
    invoicePerAttempt: integration.invoicePerAttempt,
    events,
  };
}
