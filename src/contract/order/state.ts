/** The state of one order. The workflow returns it, and the public record is built from it. Plain data, no card data. */
import type { CheckoutAnswer } from '../answers.ts';
import type { Policy } from '../policy.ts';
import type { ActionRecord, Attention, Enriched, OrderTransaction, Override, Reading } from '../terms.ts';
import type {
  Action,
  DeadlineKind,
  GatewayResult,
  Instant,
  IntegrationWorkflow,
  JournalEntry,
  OrderDecision,
  OrderEventType,
  Phase,
  ReadingSource,
} from '../words.ts';

export type {
  ActionRecord,
  Attention,
  AttentionCause,
  Enriched,
  FailedTries,
  OrderTransaction,
  Override,
  Reading,
} from '../terms.ts';

/** The full state of an order, as its workflow returns it. */
export interface OrderState {
  orderId: string;
  integration: string;
  workflow: IntegrationWorkflow;
  phase: Phase;
  phaseSince: Instant;
  decision: OrderDecision;
  action: Action;
  /** Passive integrations only: the action that the decision would have led to. */
  wouldBe?: Action;
  /** The currency of the newest attempt's amount: three letters. Absent if its transaction was not at hand or has an invalid one. */
  currency?: string;
  /** The account's message for the customer, on `decline`. */
  message?: string;
  /** A slug that explains why there is no better decision: `card-data-expired`, `timeout`, `refused` … */
  reason?: string;
  attempts: Attempt[];
  /** The order's transactions at the screening service, in the sequence in which they were found. */
  transactions: OrderTransaction[];
  /** Open issues that need a person, oldest first. */
  attention: Attention[];
  actions: ActionRecord[];
  /** The person who handles the order, as an operator assigned it. */
  assignee?: string;
  /** Until then the order needs no attention, unless something new needs a person. */
  snoozedUntil?: Instant;
  /** The last 200 actions of people, oldest first. Absent: none yet. */
  journal?: JournalEntry[];
  /** `sequence`: that of the newest event. `paused`: a person canceled the delivery in Temporal. It restarts after a pause. */
  events: { sequence: number; delivered: number; waiting: number; paused?: true; last?: KeptEvent[] };
  /** When a decision was last read from the screening service, and what triggered the read. */
  lastRead?: { at: Instant; source: ReadingSource };
  /** The decision when report-fraud was sent, or may have been. The order polls until the decision changes. */
  fraudReportedAt?: OrderDecision;
  /** Deadlines that have passed and were handled. */
  passed: DeadlineKind[];
  /** When the order's last deadline passed. Requests to the screening service that are still pending then have one more day. */
  endedAt?: Instant;
  startedAt: Instant;
  /** Set for an order that adopted an existing transaction. It never creates one. */
  adopted?: Adoption;
  /** The fallback policy until the checkout's activity has read the integration's. */
  policy: Policy;
}

/** An event of the order, stored so that it can be resent. */
export interface KeptEvent {
  /** Counts the order's events, from its start in seconds (`numberBeforeEvents`). */
  sequence: number;
  type: OrderEventType;
  occurredAt: Instant;
  data: Omit<OrderEventData, keyof Enriched>;
  /** Index of the attempt's reading whose `Enriched` fields the event includes. */
  reading?: number;
}

/** A summary of the order's state; with a decision, also the screening service's additional data. */
export interface OrderEventData extends Enriched {
  phase: Phase;
  decision: OrderDecision;
  action: Action;
  attempt: number;
  transactionId?: string;
  message?: string;
  reason?: string;
  cancelBy?: Instant;
  wouldBe?: Action;
  /** A person decided, not the screening service. */
  by?: 'person';
  /** The order had already ended when the screening service decided. */
  afterClose?: true;
  attention: string[];
}

/** A transaction that was screened outside order-screening and that the order adopts. */
export interface Adoption {
  transactionId: string;
  /** When the screening service screened it. The cancel window starts here. */
  screenedAt: Instant;
  /** The payment gateway's result; required in `pre-gateway`. Its sender has already reported it to the screening service. */
  gatewayResult?: GatewayResult;
  /** Adopt it even if the order's invoice number belongs to a different transaction. */
  force?: boolean;
}

/** A create that may have reached the screening service, although its transaction hasn't been found. */
export interface UnseenCreate {
  invoiceNumber: string;
  /** Earliest time at which it was sent. */
  since: Instant;
  /** A lookup returns an older transaction with the same invoice number, so this one can't be found. */
  hidden?: true;
}

export interface Attempt {
  number: number;
  fingerprint?: string;
  cardRef?: string;
  cardForgotten?: boolean;
  startedAt: Instant;
  /** The invoice number of the newest create. Retries of a lost create reuse it. */
  invoiceNumber?: string;
  unseen?: UnseenCreate;
  decision: OrderDecision;
  readings: Reading[];
  answer?: CheckoutAnswer;
  /** The answer was `hold` in place of the policy's `proceed`: a cancel was under way, or the gateway's result was `error`. */
  heldBack?: true;
  /** Rescreens after the decision `error`. */
  rescreens: number;
  /** A rescreen is due now: its pause is over, or an operator requested it. */
  rescreenDue?: true;
  /** There are no automatic retries left: refused, out of rescreens, or out of time. */
  screeningOver?: boolean;
  gateway?: GatewayRecord;
  /** When the catch-up gives up. */
  screenUntil: Instant;
  declinedAt?: Instant;
  /** The order's action when the next attempt began. The newest attempt has none. */
  lastAction?: Action;
  /** The last decision of a person. Later decisions of the screening service don't change the action. */
  override?: Override;
}

export interface GatewayRecord {
  result: GatewayResult;
  authcode?: string;
  /** The gateway's own transaction id. */
  transactionId?: string;
  at: Instant;
  /**
   * When the screening service accepted it for the newest transaction. `recorded`: it isn't sent, because the order was skipped or
   * adopted. `not-sent`: the screening service refused it, or it could not be sent within a day of the order's end.
   */
  sent?: Instant | 'recorded' | 'not-sent';
  /** Different results that were reported afterwards. They change nothing: a person must find out which one is correct. */
  contradictions?: { result: GatewayResult; at: Instant }[];
}
