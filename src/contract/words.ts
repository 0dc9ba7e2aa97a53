/** The words of the product, one type each. */
import { PORTAL_ACTIONS, type PortalActionKind } from './portal-kinds.ts';

/** What the screening service decides about a transaction. */
export const DECISIONS = ['pass', 'fail', 'review', 'fraudulent', 'error'] as const;
export type Decision = (typeof DECISIONS)[number];

/** A decision of an order: the service's, or ours: `pending` (no answer yet), `skipped` (policy: not screened). */
export const ORDER_DECISIONS = [...DECISIONS, 'pending', 'skipped'] as const;
export type OrderDecision = (typeof ORDER_DECISIONS)[number];

/** What the order service must do next. */
export const ACTIONS = ['proceed', 'hold', 'decline', 'cancel'] as const;
export type Action = (typeof ACTIONS)[number];

/** What a checkout without a decision may do, as the policy says. */
export const UNAVAILABLE_ACTIONS = ['hold', 'proceed', 'decline'] as const satisfies readonly Action[];
export type UnavailableAction = (typeof UNAVAILABLE_ACTIONS)[number];

/** What a person can decide in place of the service. */
export const OVERRIDE_ACTIONS = ['proceed', 'cancel'] as const satisfies readonly Action[];
export type OverrideAction = (typeof OVERRIDE_ACTIONS)[number];

/** Where the order is. */
export const PHASES = [
  'screening',
  'awaiting-gateway',
  'review',
  'declined',
  'decided',
  'canceled',
  'closed',
] as const;
export type Phase = (typeof PHASES)[number];

/** When in the checkout the order is screened. */
export const INTEGRATION_WORKFLOWS = ['pre-gateway', 'pre-acceptance', 'post-acceptance'] as const;
export type IntegrationWorkflow = (typeof INTEGRATION_WORKFLOWS)[number];

/** What the payment gateway said, in the service's values. */
export const GATEWAY_RESULTS = ['pass', 'fail', 'error'] as const;
export type GatewayResult = (typeof GATEWAY_RESULTS)[number];

export const ORDER_EVENT_TYPES = [
  'order.decided',
  'order.review_resolved',
  'order.decision_changed',
  'order.canceled',
  'order.attention',
  'order.closed',
] as const;
export type OrderEventType = (typeof ORDER_EVENT_TYPES)[number];

/** When each type of event is sent, in Markdown: the table of `docs/calling.md` is made of it. */
export const ORDER_EVENTS: Record<OrderEventType, string> = {
  'order.decided':
    'an attempt has its decision; by default not where a waiting caller got `proceed` or `hold` as its answer',
  'order.review_resolved': 'a review ended',
  'order.decision_changed':
    'the service changed its mind; with `by: "person"` a person decided, with `afterClose: true` [the order had ended](#after-the-order-has-ended)',
  'order.canceled': 'the transaction is canceled',
  'order.attention': 'a person must look; `sequence` 0 when the order couldn’t say it itself',
  'order.closed':
    'the order has ended: its cancel window is over, or it was canceled, and nothing is left to wait for',
};

/** A moment as an ISO 8601 string in UTC. */
export type Instant = string;

/** What brought a decision, or on whose behalf it was read. */
export type ReadingSource =
  | 'checkout'
  | 'adoption'
  | 'catch-up'
  | 'rescreen'
  | 'webhook'
  | 'poll'
  | 'operator'
  | 'recheck'
  | 'look-up';

/** The longest reason that a person gives, in characters. */
export const REASON_LIMIT = 500;

/** Who asks for something. */
export interface By {
  /** The name of the API key, which was proved. */
  key?: string;
  /** The person, as claimed. */
  actor?: string;
}

/** What people do to an order, as its journal has it. */
export const JOURNALED = [...PORTAL_ACTIONS, 'withdraw', 'override', 'acknowledge', 'adopt'] as const;

/** What somebody did to an order. */
export interface JournalEntry {
  at: Instant;
  what: (typeof JOURNALED)[number];
  /** Absent: whoever asked, straight through Temporal, didn't say. */
  by?: By;
  /** The request's `reason`, in the person's own words. */
  because?: string;
  /** The portal action that it made, or that it withdraws: its number on the order's record. */
  number?: number;
  /** What an override decided. */
  action?: OverrideAction;
}

/** The beginning of the text that stands in place of a payload that the codec refused, or that nobody can read. */
export const REFUSED_PAYLOAD = 'order-screening refused a payload: ';
/** The same, where a worker with other payload keys might open it. */
export const KEY_MISSING = `${REFUSED_PAYLOAD}key: `;

/** @returns the moment `ms` milliseconds after the epoch as an ISO string */
export function instant(ms: number): Instant {
  return new Date(ms).toISOString();
}

/** @returns milliseconds after the epoch of an ISO string */
export function millis(at: Instant): number {
  return Date.parse(at);
}

/** Returns the moment that is so many milliseconds later. */
export function laterBy(ms: number, at: Instant): Instant {
  return instant(millis(at) + ms);
}

/** Why a person must look at an order. */
export type AttentionCode =
  | 'wrong-key'
  | 'no-decision'
  | 'unreadable-answer'
  | 'account-mode'
  | 'status-error'
  | 'gateway-late'
  | 'gateway-error'
  | 'gateway-refused'
  | 'gateway-contradiction'
  | 'gateway-not-sent'
  | 'transaction-unseen'
  | 'review-unresolved'
  | 'review-limit'
  | 'cancel-due'
  | 'cancel-refused'
  | 'cancel-too-late'
  | 'failed-after-window'
  | 'failed-at-adoption'
  | 'decision-after-override'
  | 'portal-refused'
  | 'portal-unconfirmed'
  | 'portal-not-sent'
  | 'events-undelivered'
  | 'cancellation-requested'
  | 'message-refused';

/** The calls that an open matter may be about. */
export type OperationName = 'create' | 'status' | 'lookup' | 'gateway-response' | PortalActionKind | 'events';

/** Moments at which something follows by itself. */
export type DeadlineKind =
  | 'screening-deadline'
  | 'rescreen'
  | 'gateway-late'
  | 'gateway-over'
  | 'review-lead'
  | 'review-limit'
  | 'recheck'
  | 'cancel-reminder'
  | 'retry-over'
  | 'window-closes'
  | 'nothing-left'
  | 'reply-due'
  | 'retry-due'
  | 'action-over'
  | 'leftovers-over';
