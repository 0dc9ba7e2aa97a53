/**
 * The settings of an integration (one configured account of the merchant at the screening service), and the policy in force for
 * one order. `src/config/policy-schema.ts` describes the policy file.
 */
import type { IntegrationWorkflow, UnavailableAction } from './words.ts';

/** All conditions of a rule must hold. A list matches if it contains the order's value, ignoring case. */
export interface OrderRule {
  amountBelow?: number | undefined;
  amountAtLeast?: number | undefined;
  currency?: string[] | undefined;
  paymentMethod?: string[] | undefined;
  customerId?: string[] | undefined;
  /** Every line item has one of these categories, and there is a line item. */
  itemCategory?: string[] | undefined;
  /** A line item has one of these categories. */
  anyItemCategory?: string[] | undefined;
}

export interface UnavailableRule
  extends Pick<OrderRule, 'amountBelow' | 'amountAtLeast' | 'currency' | 'paymentMethod'> {
  action: UnavailableAction;
}

/** The policy in force for one order, as recorded in its workflow. The screening activity derives it from the integration. */
export interface Policy {
  workflow: IntegrationWorkflow;
  /** The action of a checkout that gets no decision, resolved for the newest attempt. */
  whenUnavailable: UnavailableAction;
  /** Shown on `decline` when the screening service gives no message. */
  declineMessage: string;
  screeningDeadlineMs: number;
  rescreenOnError: { tries: number; pauseMs: number };
  retryWithinMs: number;
  gatewayResultWithinMs: number;
  reviewBeforeGateway: 'proceed' | 'hold';
  poll: PollPauses;
  reviewLeadTimeMs: number;
  onUnresolvedReview: 'alert' | 'cancel';
  reviewLimitMs: number;
  /** 0: a `pass` is not rechecked. */
  recheckLeadTimeMs: number;
  autoCancel: boolean;
  /** Whether a fail that follows a caller's fraud report cancels an order that could ship before the report. */
  cancelAfterReport: 'never' | 'always';
  cancelWindowMs: number;
  passive: boolean;
  invoicePerAttempt: boolean;
  /** Which events are sent. False without a configured receiver, so that events add nothing to the history. */
  events: 'all' | 'changes' | false;
}

/** Pauses between polls. Each is `factor` times the previous one, up to `maxMs`. */
export interface PollPauses {
  firstMs: number;
  factor: number;
  maxMs: number;
}

/** Fields of a transaction that a policy can show to people. No card data. */
export const SHOWN_FIELDS = ['name', 'email', 'billTo', 'shipTo', 'avs', 'cvv', 'items'] as const;
export type ShownField = (typeof SHOWN_FIELDS)[number];

/** The settings of an integration, which are the same for every order. */
export interface Integration extends Omit<Policy, 'whenUnavailable' | 'events'> {
  /** Its short key. Default: `default`. */
  name: string;
  mode: 'test' | 'live';
  /** Reads the key's environment variable at each call. Undefined or empty if it is not set. */
  apiKey: () => string | undefined;
  baseUrl: string;
  portalBaseUrl: string;
  dialect: 'definition' | 'sample';
  apiKeyHeader: boolean;
  enrich: boolean;
  checkoutBudgetMs: number;
  whenUnavailable: UnavailableAction | UnavailableRule[];
  skip: OrderRule[];
  notCards: string[];
  /** Payment methods that are no card, besides those that order-screening knows. */
  paymentMethods: { noCard: string[] };
  /** Whether a field that the interface lacks is left out, or the transaction is refused. */
  unknownFields: 'drop' | 'refuse';
  events: 'all' | 'changes';
  eventsUrl?: string | undefined;
  eventsSecret?: (() => string | undefined) | undefined;
  webhookSecret?: (() => string | undefined) | undefined;
  portalLink?: string | undefined;
  shopLink?: string | undefined;
  /** The fields of an order's transaction that people see. */
  shown: ShownField[];
}

export type FindIntegration = (name: string) => Integration | undefined;

export const DECLINE_MESSAGE =
  'We could not accept this order. Please check your details or try another way to pay.';

/** The policy until the integration's is known: hold, and cancel nothing automatically. */
export const FALLBACK_POLICY: Policy = {
  workflow: 'pre-acceptance',
  whenUnavailable: 'hold',
  declineMessage: DECLINE_MESSAGE,
  screeningDeadlineMs: 24 * 3_600_000,
  rescreenOnError: { tries: 3, pauseMs: 60_000 },
  retryWithinMs: 3_600_000,
  gatewayResultWithinMs: 24 * 3_600_000,
  reviewBeforeGateway: 'hold',
  poll: { firstMs: 60_000, factor: 1.5, maxMs: 15 * 60_000 },
  reviewLeadTimeMs: 12 * 3_600_000,
  onUnresolvedReview: 'alert',
  reviewLimitMs: 30 * 24 * 3_600_000,
  recheckLeadTimeMs: 12 * 3_600_000,
  autoCancel: false,
  cancelAfterReport: 'never',
  cancelWindowMs: 120 * 3_600_000,
  passive: false,
  invoicePerAttempt: true,
  events: 'all',
};
