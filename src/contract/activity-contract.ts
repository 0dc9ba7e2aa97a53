/** The activities' names, arguments and results. All of it is recorded in history. */
import type { Refusal } from './errors.ts';
import type { OrderEvent, PortalFields, TransactionJson } from './messages.ts';
import type { Adoption, Enriched, GatewayRecord, OrderState } from './order/state.ts';
import type { Policy, PollPauses } from './policy.ts';
import type { Decision, Instant, IntegrationWorkflow, UnavailableAction } from './words.ts';

/**
 * When a result became known, in server time: the time at which the activity attempt was scheduled plus the time elapsed
 * since on a monotonic clock. It doesn't depend on the worker's wall clock.
 */
export interface Moment {
  /** When the activity attempt that returned it began. */
  began: Instant;
  /** When it became known. */
  at: Instant;
}

export type Timed<Outcome> = Moment & { outcome: Outcome };

/** The type of the failure of a try that only measured the server's time. */
export const MEASURED_TIME = 'server-time';

/** A background activity that sends no heartbeat for so long is lost. */
export const HEARTBEAT_TIMEOUT_MS = 15_000;

/** Number of events in a run's first workflow task, without signals. More events mean that an earlier attempt of the task timed out. */
export const FIRST_TASK_EVENTS = 3;

/** Facts about the run that calls an activity. Workflow code must not branch on them: a replay doesn't reproduce them. */
export interface RunFacts {
  runId: string;
  /** An operator's reset started this run or an earlier one. */
  wasReset: boolean;
  /** The history's length when the run called the activity. A checkout doesn't count early signals. */
  historyLength: number;
  /** Whether the run was replaying when it called the activity. */
  isReplaying: boolean;
  /** The call's wrong API key was already reported: keep retrying. A replay reproduces this fact. */
  forbiddenKnown?: boolean;
}

export interface ScreenRequest {
  orderId: string;
  integration: string;
  attempt: number;
  workflow?: IntegrationWorkflow;
  transaction: TransactionJson;
  cardRef?: string;
  /** Another tool started the order without a fingerprint of the transaction. The activity computes one. */
  fingerprintMissing?: true;
  /** Always sent, so that a lookup can find a create whose answer was lost. */
  invoiceNumber: string;
  /** Transactions of the order that already have a decision. A lookup that returns one of them says nothing about this attempt. */
  knownTransactionIds: string[];
  /** When the order was started. No create was sent earlier. */
  startedAt: Instant;
  /**
   * Earliest time at which a create with this invoice number may have been sent, if its transaction hasn't been found. The activity
   * looks it up before it sends another create. Absent: there is no such create.
   */
  unseenSince?: Instant;
}

/** The fingerprint that the activity computed because the order has none. */
export interface Fingerprinted {
  fingerprint?: string;
}

/** What a second attempt's checkout returns with its outcome. */
export interface Retried extends Fingerprinted {
  /** An earlier run may have given its caller a different answer. */
  again?: true;
  /** The action without a decision, by the attempt's own transaction. Absent if the activity failed. */
  whenUnavailable?: UnavailableAction;
}

export interface CheckoutRequest extends ScreenRequest {
  /** The start time, in server time: the server doesn't schedule local activities. */
  begun: Instant;
  /** When the caller stops waiting. */
  answerBy?: Instant;
  /** The transaction exists: the activity reads its status and creates nothing. */
  adopt?: Adoption;
}

export interface CatchUpRequest extends ScreenRequest {
  /** The checkout failed before it could read the policy, so the catch-up only returns it. */
  policyMissing?: true;
  /** The first call doesn't start before this time, unless that would be too late. */
  notBefore?: Instant;
  /** When the attempt began, shortly after its card was stored. Absent: it has no card. */
  cardSince?: Instant;
  /** When the order gives the screening up. */
  until: Instant;
  /** The checkout failed before it could read the skip rules, so the catch-up applies them. */
  mayBeSkipped?: true;
}

export interface StatusRequest {
  integration: string;
  attempt: number;
  transactionId: string;
}

/** Without a transaction, a read returns only the time. */
export interface ReadRequest extends Omit<StatusRequest, 'transactionId'> {
  transactionId?: string;
  /** The read doesn't start before this time. */
  notBefore?: Instant;
  /** The end of the transaction's cancel window. */
  cancelBy?: Instant;
  /** Transactions of which to find out whether they were reported as fraud after the order's end. */
  reportsOf?: string[];
}

export interface PollRequest extends StatusRequest {
  /** The current decision. The poll ends when it reads a different one. */
  known: Decision;
  pauses: PollPauses;
  /** How long before `cancelBy` an open review is acted on. */
  leadMs: number;
  /** After this time, the poll continues at a slower rate. */
  cancelBy: Instant;
  /** An unusable answer was already reported. */
  troubleKnown: boolean;
}

/** The read of a `pass` shortly before its cancel window closes. */
export type LastReadRequest = Omit<PollRequest, 'pauses' | 'leadMs'>;

export interface GatewayResponseRequest extends StatusRequest {
  gateway: Pick<GatewayRecord, 'result' | 'authcode' | 'transactionId'>;
}

export interface PortalRequest {
  integration: string;
  /** The order's attempt of the transaction, for the log. */
  attempt?: number;
  /** The action's number on the order's record. Absent: it runs as its own workflow. */
  action?: number;
  fields: PortalFields;
  transactionId?: string;
  /** An earlier activity may have performed the action. Absent: none did. */
  maybeDone?: boolean;
  /** A cancel isn't sent after this time. */
  notAfter?: Instant;
}

export interface LookUpRequest {
  integration: string;
  attempt: number;
  invoiceNumber: string;
  knownTransactionIds: string[];
  /** Earliest time at which the create was sent. */
  unseenSince: Instant;
  startedAt: Instant;
  /** The end of the cancel window of the create's transaction. */
  cancelBy: Instant;
}

export type GatewayOutcome = { kind: 'sent' } | { kind: 'refused'; words: string } | { kind: 'forbidden' };
export type LookUpOutcome =
  /** `decision` is absent if it could not be read. The transaction can still be canceled. */
  | ({ kind: 'found'; transactionId: string; decision?: Decision } & Enriched)
  | { kind: 'none' }
  /** The lookup returns a transaction that this or another order already has, so those of later creates can't be found. */
  | { kind: 'hidden' }
  | { kind: 'forbidden' };

type Activity<Argument, Result> = (argument: Argument, run: RunFacts) => Promise<Result>;

/** Activities that a caller waits for. `screenAtCheckout` is local: it runs inside the workflow task and may run more than once. */
export interface CheckoutActivities {
  screenAtCheckout: Activity<CheckoutRequest, CheckedOut>;
  screenRetry: Activity<ScreenRequest, Timed<ScreeningOutcome> & Retried>;
}

export interface BackgroundActivities {
  catchUp: Activity<CatchUpRequest, Timed<ScreeningOutcome> & Fingerprinted & { policy?: Policy }>;
  lookUp: Activity<LookUpRequest, Timed<LookUpOutcome> & { sentFrom: Instant }>;
  sendGatewayResponse: Activity<GatewayResponseRequest, Timed<GatewayOutcome>>;
  performPortalAction: Activity<PortalRequest, Timed<PortalOutcome>>;
  deliverEvents: Activity<OrderEvent[], Moment>;
  forgetCard: Activity<ForgetCardRequest, Moment>;
}

interface ForgetCardRequest {
  cardRef: string;
  attempt: number;
}

/** Reads have a separate task queue, so that a webhook never waits behind thousands of polls and last reads. */
export interface ReadActivities {
  readStatus: Activity<ReadRequest, Timed<StatusOutcome | undefined>>;
}

/** The failure type with which a poll or a last read asks for a retry, because the screening service returned the same decision. */
export const POLL_UNCHANGED = 'unchanged';

export interface PollActivities {
  pollStatus: Activity<PollRequest, Timed<StatusOutcome>>;
  readStatusLast: Activity<LastReadRequest, Timed<StatusOutcome>>;
}

/** The result of a screening activity. Plain data: it is recorded in history. */
export type ScreeningOutcome =
  | ({
      kind: 'answered';
      transactionId: string;
      decision: Decision;
      message?: string;
      /** Found by a lookup, because the create got no answer. Also true for an adopted order's transaction. */
      found: boolean;
      /** The account's mode doesn't match the integration's. Each worker reports it once. */
      otherMode?: true;
    } & Sent &
      Enriched)
  /** A skip rule of the policy matches, so the order isn't screened. `rule` is the rule's index. */
  | { kind: 'skipped'; rule: number }
  /** A permanent refusal. It isn't retried. */
  | ({ kind: 'refused'; reason: string; words?: string } & MayBeUnseen)
  /** The screening service's answer is neither a decision nor a refusal. `seen` is the transaction in the answer. */
  | ({
      kind: 'unreadable';
      reason: string;
      seen?: { transactionId: string; found: boolean } & Sent;
    } & MayBeUnseen)
  /** `notBefore`: the screening service asked not to be called before this time. */
  | ({ kind: 'unanswered'; reason: string; notBefore?: Instant } & MayBeUnseen)
  /** The screening service rejects the API key. An operator must fix it. */
  | ({ kind: 'forbidden' } & MayBeUnseen);

/** Earliest and latest time at which a transaction's create was sent, in server time. */
export interface Sent {
  sentFrom: Instant;
  sentUntil: Instant;
}

/** `unseenSince`: earliest time at which a create was possibly sent whose transaction hasn't been found. Absent: no such create. */
interface MayBeUnseen {
  unseenSince?: Instant;
}

/** The result of the checkout's screening: the outcome and the policy in force, or the reason why the order can't be screened. */
export type Screened =
  | ({
      outcome: ScreeningOutcome;
      policy: Policy;
      /** An earlier run may have given its caller a different answer. */
      again?: true;
      refusal?: undefined;
    } & Fingerprinted)
  | { refusal: Refusal }
  /** The order has ended in an earlier run, with this record. */
  | { earlier: OrderState; refusal?: undefined };

export type CheckedOut = Moment & Screened;

/** The outcome of reading a transaction's status. Plain data: it is recorded in history. */
export type StatusOutcome =
  | ({ kind: 'read'; decision: Decision; reportedAt?: Instant[] } & Enriched)
  /** The screening service has no such transaction, or returned an unknown decision. */
  | { kind: 'unreadable'; words: string }
  | { kind: 'forbidden' };

/** How one portal action ended. Plain data: it is recorded in history. */
export type PortalOutcome =
  | { kind: 'done'; code?: string; message?: string; chargeback?: Record<string, string> }
  /** `local`: order-screening refused it itself and sent nothing. */
  | { kind: 'refused'; code?: string; message?: string; local?: true }
  /** Sent, but the outcome is unknown. */
  | { kind: 'unconfirmed'; message?: string }
  /** Never sent: the requester withdrew it, or its time limit passed. */
  | { kind: 'not-sent' }
  /** The cancel window closed before it could be sent. */
  | { kind: 'too-late' }
  /** The screening service rejects the API key. Returned once, then retried. `maybeDone`: an earlier attempt may have succeeded. */
  | { kind: 'forbidden'; maybeDone?: true };
