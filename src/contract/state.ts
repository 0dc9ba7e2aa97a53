/** The state of one order: what its workflow returns, and of which its public record is made. Plain data, no card data. */
import type { CheckoutAnswer } from './answers.ts';
import type { Policy } from './policy.ts';
import type { PortalActionKind } from './portal-kinds.ts';
import type { ActionStatus, Insights } from './terms.ts';
import type {
  Action,
  AttentionCode,
  DeadlineKind,
  Decision,
  GatewayResult,
  Instant,
  IntegrationWorkflow,
  JournalEntry,
  OperationName,
  OrderDecision,
  OrderEventType,
  OverrideAction,
  Phase,
  ReadingSource,
} from './words.ts';

/** An order as its workflow returns it. */
export interface OrderState {
  orderId: string;
  integration: string;
  workflow: IntegrationWorkflow;
  phase: Phase;
  phaseSince: Instant;
  decision: OrderDecision;
  action: Action;
  /** Passive only: the action that the decision would have been. */
  wouldBe?: Action;
  /** What the customer may be told on `decline`. */
  message?: string;
  /** Why there is no better decision, in one slug: `card-data-expired`, `timeout`, `refused` … */
  reason?: string;
  attempts: Attempt[];
  /** The order's transactions at the screening service, in the order in which it learned of them. */
  transactions: OrderTransaction[];
  /** Open matters that a person must look at, oldest first. */
  attention: Attention[];
  actions: ActionRecord[];
  /** What people did, the last 200, oldest first; absent: nothing yet. */
  journal?: JournalEntry[];
  /** `paused`: a person ended the delivery in Temporal, and it starts again after a pause. */
  events: { sequence: number; delivered: number; waiting: number; paused?: true; last?: KeptEvent[] };
  /** The last time the decision was read from the service, by whom. */
  lastRead?: { at: Instant; source: ReadingSource };
  /** A person or a policy asked for a cancel and it isn't done. */
  cancelAsked: boolean;
  /** Report-fraud was sent while the decision was this one: it is polled until it changes. */
  fraudReportedAt?: OrderDecision;
  /** Deadlines that have passed and were dealt with. */
  passed: DeadlineKind[];
  /** When the order's last deadline passed. What it owes the screening service by then has a day left. */
  endedAt?: Instant;
  startedAt: Instant;
  /** The order has a transaction that was there before it, and never creates one. */
  adopted?: Adoption;
  /** A fallback until the checkout's activity has read it. */
  policy: Policy;
}

/** An event of the order, as it is kept to be sent again. */
export interface KeptEvent {
  /** Counts the order's events from 1. */
  sequence: number;
  type: OrderEventType;
  occurredAt: Instant;
  data: Omit<OrderEventData, keyof Enriched>;
  /** The attempt's reading that came with it, by its place: what the service said beside the decision. */
  reading?: number;
}

/** The order's state in short; with a decision what the service said beside it. */
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
  /** A person decided, not the service. */
  by?: 'person';
  /** The order had ended when the service decided. */
  afterClose?: true;
  attention: string[];
}

/** A transaction that was screened without us and becomes the order's. */
export interface Adoption {
  transactionId: string;
  /** When the service screened it: its cancel window counts from then. */
  screenedAt: Instant;
  /** What the payment gateway said; needed in pre-gateway. Whoever went to the gateway has sent it on. */
  gatewayResult?: GatewayResult;
  /** Take it although the order's invoice number leads to another transaction. */
  force?: boolean;
}

/** A transaction at the screening service that belongs to the order. */
export interface OrderTransaction {
  id: string;
  /** The number of the attempt whose create made it. */
  attempt: number;
  /** The invoice number that its create was sent with. */
  invoiceNumber: string;
  /** Its create was sent at this time at the earliest, and at `sentUntil` at the latest. */
  sentFrom: Instant;
  sentUntil: Instant;
  /** How the order learned of it: by the answer to its create, by a lookup by invoice number, or by adoption. */
  found: 'created' | 'lookup' | 'adopted';
  /** The screening service's last decision, when it was read and by what. Absent: none could be read. */
  decision?: Decision;
  decidedAt?: Instant;
  source?: ReadingSource;
  /** End of its cancel window. */
  cancelBy: Instant;
}

/** A create that may have reached the screening service, and whose transaction nobody has seen. */
export interface UnseenCreate {
  invoiceNumber: string;
  /** It was not sent before. */
  since: Instant;
  /** A lookup shows an older transaction of its invoice number, so its own can't be seen. */
  hidden?: true;
}

export interface Attempt {
  number: number;
  fingerprint?: string;
  cardRef?: string;
  cardForgotten?: boolean;
  startedAt: Instant;
  /** The number that its newest create was sent with; every repeat of a lost one keeps it. */
  invoiceNumber?: string;
  unseen?: UnseenCreate;
  decision: OrderDecision;
  readings: Reading[];
  /** What the checkout was told. */
  answer?: CheckoutAnswer;
  /** Rescreens after the decision `error`. */
  rescreens: number;
  /** A rescreen is due now (its pause is over, or an operator asked). */
  rescreenDue?: boolean;
  /** Nothing more will be tried by itself: refused, out of rescreens, or out of time. */
  screeningOver?: boolean;
  gateway?: GatewayRecord;
  /** When the catch-up gives up. */
  screenUntil: Instant;
  declinedAt?: Instant;
  /** What a person decided last; what the service says later no longer changes the action. */
  override?: Override;
}

export interface Override {
  action: OverrideAction;
  /** The person's own words. */
  reason: string;
  by: 'person';
  at: Instant;
}

/** What the service says beside a decision, in an enriched answer. */
export interface Enriched {
  insights?: Insights;
  /** How many insights of the reply were not kept. */
  insightsLeftOut?: number;
  /** The mode of the account that the key is of. */
  accountMode?: 'live' | 'test';
  passiveMode?: boolean;
  subStatus?: string;
}

/** A decision as it was read, with what came with it. */
export interface Reading extends Enriched {
  decision: OrderDecision;
  at: Instant;
  source: ReadingSource;
}

export interface GatewayRecord {
  result: GatewayResult;
  authcode?: string;
  /** The gateway's own transaction id. */
  transactionId?: string;
  at: Instant;
  /**
   * When the screening service accepted it for the newest transaction; `recorded`: there was nothing to send it to; `given-up`: it
   * could not be sent within a day of the order's end.
   */
  sent?: Instant | 'recorded' | 'given-up';
  /** Other results that were reported afterwards. They change nothing: a person must find out which one is true. */
  contradictions?: { result: GatewayResult; at: Instant }[];
}

/** An open matter. It ends when its cause ends, or when a person resolves it. */
export interface Attention {
  code: AttentionCode;
  /** The reason in words. */
  words: string;
  since: Instant;
  cause: AttentionCause;
}

/** What an open matter is about: the call that failed, and for which transaction or portal action. Absent: the order as a whole. */
export interface AttentionCause {
  operation?: OperationName;
  transactionId?: string;
  /** The number of the portal action. */
  action?: number;
}

export interface ActionRecord {
  /** Counts the order's portal actions from 1. */
  number: number;
  kind: PortalActionKind;
  /** What was asked in one string: the same again joins it or gets its answer. */
  subject: string;
  transactionId?: string;
  status: ActionStatus;
  /** Why it is to stop although it was begun: a person took it back, or its time is up. */
  stop?: 'withdrawn' | 'overdue';
  /** It may have been sent by an activity that has ended and doesn't know, such as one that failed for good. */
  maybeSent?: true;
  by: 'caller' | 'policy';
  /** The request's `reason`, in the caller's own words. */
  because?: string;
  requestedAt: Instant;
  finishedAt?: Instant;
  /** The service's reply. */
  code?: string;
  message?: string;
  /** The chargeback as the service echoed it. */
  chargeback?: Record<string, string>;
}
