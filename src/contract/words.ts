/** The enumerations of order-screening, one type each. */
import { PORTAL_ACTIONS, type PortalActionKind } from './portal/portal-kinds.ts';

/** The screening service's decisions about a transaction. */
export const DECISIONS = ['pass', 'fail', 'review', 'fraudulent', 'error'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Decisions of an order: the screening service's, `pending` (no answer yet) or `skipped` (not screened, by policy). */
export const ORDER_DECISIONS = [...DECISIONS, 'pending', 'skipped'] as const;
export type OrderDecision = (typeof ORDER_DECISIONS)[number];

/** What the order service must do next. */
export const ACTIONS = ['proceed', 'hold', 'decline', 'cancel'] as const;
export type Action = (typeof ACTIONS)[number];

/** The actions that a policy may set for a checkout that gets no decision. */
export const UNAVAILABLE_ACTIONS = ['hold', 'proceed', 'decline'] as const satisfies readonly Action[];
export type UnavailableAction = (typeof UNAVAILABLE_ACTIONS)[number];

export const OVERRIDE_ACTIONS = ['proceed', 'cancel'] as const satisfies readonly Action[];
export type OverrideAction = (typeof OVERRIDE_ACTIONS)[number];

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

/** What the statistics count, beside decisions. */
export const OUTCOMES = ['overridden', 'override-confirmed', 'override-contradicted', 'chargeback'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** When in the checkout the order is screened. */
export const INTEGRATION_WORKFLOWS = ['pre-gateway', 'pre-acceptance', 'post-acceptance'] as const;
export type IntegrationWorkflow = (typeof INTEGRATION_WORKFLOWS)[number];

/** The payment gateway's result, in the screening service's values. Assumption «gateway error»: `error` is one. */
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

/** When each type of event is sent, in Markdown. The table in `docs/calling.md` is generated from it. */
export const ORDER_EVENTS: Record<OrderEventType, string> = {
  'order.decided':
    'an attempt has its decision; by default not sent if a waiting caller got `proceed` or `hold` as its answer',
  'order.review_resolved': 'a review ended',
  'order.decision_changed':
    'the screening service changed its decision, or a result of the payment gateway changed the action; with `by: "person"` a person decided, with `afterClose: true` [the order had ended](#after-the-order-has-ended)',
  'order.canceled': 'the transaction is canceled',
  'order.attention': 'the order needs a person; `sequence` is 0 if the order could not send the event itself',
  'order.closed':
    'the order has ended, and nothing is pending: its last deadline is over ([`closed`](orders.md)), or it was canceled',
};

/** A moment as an ISO 8601 string in UTC. */
export type Instant = string;

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

/** Maximum length of a person's reason, in characters. */
export const REASON_LIMIT = 500;
/** Maximum length of a note, in characters. */
export const NOTE_LIMIT = 1_000;
/** Maximum length of the names in `By`, in characters. */
export const ACTOR_LIMIT = 100;

/** Who sends a request. */
export interface By {
  /** The name of the API key, which was verified. */
  key?: string;
  /** The person, as the request claims; not verified. */
  actor?: string;
}

/** The actions of people that an order's journal records. */
export const JOURNALED = [
  ...PORTAL_ACTIONS,
  'withdraw',
  'override',
  'acknowledge',
  'adopt',
  'note',
  'assign',
  'snooze',
] as const;

export interface JournalEntry {
  at: Instant;
  what: (typeof JOURNALED)[number];
  /** Absent if the request came directly through Temporal without it. */
  by?: By;
  /** The request's `reason` or note, in the person's own words. */
  because?: string;
  /** The number of the portal action that the entry requests or withdraws. */
  number?: number;
  /** The portal action was requested before, and was still pending: the request joined it. */
  joined?: true;
  action?: OverrideAction;
  /** The person that the order was assigned to. Absent: to nobody. */
  assignee?: string;
  until?: Instant;
}

/** The highest number of an action or an event on a record: ten digits, too few for a card number. */
export const HIGHEST_NUMBER = 9_999_999_999;

/** Prefix of the text that replaces a payload that the codec rejected or can't decode. */
export const REFUSED_PAYLOAD = 'order-screening refused a payload: ';
/** The same prefix for a payload that a worker with different payload keys may be able to decrypt. */
export const KEY_MISSING = `${REFUSED_PAYLOAD}key: `;

/** @returns the moment `ms` milliseconds after the epoch as an ISO string */
export function instant(ms: number): Instant {
  return new Date(ms).toISOString();
}

/** @returns milliseconds after the epoch of an ISO string */
export function millis(at: Instant): number {
  return Date.parse(at);
}

/**
 * Rule «last call»: how long before the end of a cancel window no cancel is sent any more; a margin for clock differences and slow
 * requests.
 */
export function lastStretchMs(cancelWindowMs: number): number {
  return Math.min(30_000, cancelWindowMs / 100);
}

/** Returns the instant `ms` milliseconds after `at`. */
export function laterBy(ms: number, at: Instant): Instant {
  return instant(millis(at) + ms);
}

export function latest(one: Instant, other: Instant): Instant {
  return one > other ? one : other;
}

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
  | 'fraud-confirmed'
  | 'portal-refused'
  | 'portal-unconfirmed'
  | 'portal-not-sent'
  | 'events-undelivered'
  | 'cancellation-requested'
  | 'message-refused';

/** The calls that can cause an open issue. */
export type OperationName = 'create' | 'status' | 'lookup' | 'gateway-response' | PortalActionKind | 'events';

/** Times at which an order acts automatically. */
export type DeadlineKind =
  | 'screening-deadline'
  | 'rescreen'
  | 'gateway-late'
  | 'review-lead'
  | 'review-cancel'
  | 'review-limit'
  | 'recheck'
  | 'cancel-reminder'
  | 'closes'
  | 'reply-due'
  | 'retry-due'
  | 'action-over'
  | 'lookup-over'
  | 'leftovers-over'
  | 'snooze-over';
