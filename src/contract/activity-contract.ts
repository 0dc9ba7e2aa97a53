/** What the workflows ask of the world: the activities' names, arguments and answers. All of it is recorded in history. */
import type { Refusal } from './errors.ts';
import type { OrderEvent, PortalFields, TransactionJson } from './messages.ts';
import type { Policy, PollPauses } from './policy.ts';
import type { Adoption, Enriched, GatewayRecord } from './state.ts';
import type { Decision, Instant, IntegrationWorkflow } from './words.ts';

/** Which attempt of its order a call is about, for the log. A call for a closed order may not know. */
interface AboutAttempt {
  attempt?: number;
}

/**
 * When the world learned something, by the server's clock: the moment at which the try was scheduled plus what a monotonic
 * clock says has passed since, so that no worker's own clock matters.
 */
export interface Moment {
  /** When the try that learned it began. */
  began: Instant;
  /** When it was known. */
  at: Instant;
}

/** A call's outcome, and when it was learned. */
export type Timed<Outcome> = Moment & { outcome: Outcome };

/** In its first workflow task a run has so many events, signals not counted. With more, an earlier try of the task has timed out. */
export const FIRST_TASK_EVENTS = 3;

/** What an activity is told of the run that calls it. Workflow code never branches on it: a replay can't tell it again. */
export interface RunFacts {
  runId: string;
  /** An operator's reset made the run, or one before it. */
  wasReset: boolean;
  /** How long the history was, and whether the run was replaying, when it called the activity. A checkout leaves out early signals. */
  historyLength: number;
  isReplaying: boolean;
}

/** A local activity has no schedule of its own on the server: the workflow says when it began, in the server's time. */
interface BegunAt {
  begun: Instant;
}

/** One try at a decision. */
export interface ScreenRequest extends AboutAttempt {
  orderId: string;
  integration: string;
  workflow?: IntegrationWorkflow;
  transaction: TransactionJson;
  cardRef?: string;
  /** The order has no fingerprint of the transaction, since another tool started it: the activity computes one. */
  fingerprintMissing?: true;
  /** Always sent, so that a create whose answer was lost can be found again. */
  invoiceNumber: string;
  /** Transactions of the order whose decision is known: a lookup that finds one of them says nothing about this attempt. */
  knownTransactionIds: string[];
  /** When the order was started: none of its creates was sent before. */
  startedAt: Instant;
  /**
   * The earliest time at which a create with this invoice number may have been sent whose transaction nobody has seen. Look it up
   * before another create. Absent: there is no such create.
   */
  unseenSince?: Instant;
}

/** The fingerprint that a screening computed, where the order has none. */
export interface Fingerprinted {
  fingerprint?: string;
}

export interface CheckoutRequest extends ScreenRequest, BegunAt {
  /** When the caller stops waiting. */
  answerBy?: Instant;
  /** The transaction is there: its status is read, and nothing is created. */
  adopt?: Adoption;
}

/** A second attempt's checkout. */
export type RetryCheckoutRequest = ScreenRequest & { attempt: number };

export interface CatchUpRequest extends RetryCheckoutRequest {
  /** A wrong key was reported already: go on trying. */
  forbiddenKnown: boolean;
  /** The checkout failed before it could read the skip rules: they apply now. */
  mayBeSkipped?: true;
  /** The checkout failed before it could read the policy: the result has it. */
  policyMissing?: true;
}

export interface StatusRequest extends AboutAttempt {
  integration: string;
  transactionId: string;
}

/** Without a transaction a read only tells the time. */
export interface ReadRequest extends Omit<StatusRequest, 'transactionId'> {
  transactionId?: string;
  /** The number of the read. */
  read: number;
  /** The read waits until then. */
  notBefore?: Instant;
  forbiddenKnown: boolean;
}

export interface PollRequest extends StatusRequest {
  /** The decision that is known: the poll ends when another is read. */
  known: Decision;
  pauses: PollPauses;
  /** After it the poll goes on slowly. */
  cancelBy?: Instant;
  forbiddenKnown: boolean;
  /** An answer that can't be used was reported already. */
  troubleKnown: boolean;
}

export interface GatewayResponseRequest extends StatusRequest {
  gateway: Pick<GatewayRecord, 'result' | 'authcode' | 'transactionId'>;
  forbiddenKnown: boolean;
}

export interface PortalRequest extends AboutAttempt {
  integration: string;
  fields: PortalFields;
  transactionId?: string;
  /** The order's e-mail, for a customer code. */
  email?: string;
  /** An activity before this one may have done it. Absent: none has. */
  maybeDone?: boolean;
  /** A cancel isn't sent after it. */
  notAfter?: Instant;
  forbiddenKnown: boolean;
}

export interface LookUpRequest {
  integration: string;
  attempt: number;
  invoiceNumber: string;
  knownTransactionIds: string[];
  /** When the create that is looked for was sent at the earliest, and when the order was started. */
  unseenSince: Instant;
  startedAt: Instant;
  forbiddenKnown: boolean;
}

export type GatewayOutcome = { kind: 'sent' } | { kind: 'refused'; words: string } | { kind: 'forbidden' };
export type LookUpOutcome =
  /** `decision` is absent when it could not be read: the transaction can be canceled all the same. */
  | ({ kind: 'found'; transactionId: string; decision?: Decision } & Enriched)
  | { kind: 'none' }
  /** It shows a transaction that the order has, or another order's: those of later creates can't be seen. */
  | { kind: 'hidden' }
  | { kind: 'forbidden' };

/** An activity as the workflow calls it. */
type Activity<Argument, Result> = (argument: Argument, run: RunFacts) => Promise<Result>;

/** A caller waits for these. `screenAtCheckout` runs inside the workflow task: fast, and possibly again. */
export interface CheckoutActivities {
  screenAtCheckout: Activity<CheckoutRequest, CheckedOut>;
  screenRetry: Activity<RetryCheckoutRequest, Timed<ScreeningOutcome> & Fingerprinted & { again?: true }>;
}

export interface BackgroundActivities {
  catchUp: Activity<CatchUpRequest, Timed<ScreeningOutcome> & Fingerprinted & { policy?: Policy }>;
  lookUp: Activity<LookUpRequest, Timed<LookUpOutcome> & { sentFrom: Instant }>;
  sendGatewayResponse: Activity<GatewayResponseRequest, Timed<GatewayOutcome>>;
  performPortalAction: Activity<PortalRequest, Timed<PortalOutcome>>;
  deliverEvents: Activity<OrderEvent[], Moment>;
  forgetCard: Activity<ForgetCardRequest, Moment>;
}

export interface ForgetCardRequest {
  cardRef: string;
  attempt: number;
}

/** Reads have a task queue of their own, so that a webhook never waits behind thousands of polls. */
export interface ReadActivities {
  readStatus: Activity<ReadRequest, Timed<StatusOutcome | undefined>>;
}

/** What a poll fails with, to be called again, when the service answered that nothing has changed. */
export const POLL_UNCHANGED = 'unchanged';

export interface PollActivities {
  pollStatus: Activity<PollRequest, Timed<StatusOutcome>>;
}

// What the screening activity brings back from one try at a decision. Plain data: it is recorded in
// history.

export type ScreeningOutcome =
  | ({
      kind: 'answered';
      transactionId: string;
      decision: Decision;
      message?: string;
      /** Found by a lookup; its create was not answered. So is an adopted order's transaction. */
      found: boolean;
      /** The account's mode differs from the integration's; each worker reports it once. */
      otherMode?: true;
    } & Sent &
      Enriched)
  /** Policy says that this order isn't screened; `rule` counts the skip rules from 0. */
  | { kind: 'skipped'; rule: number }
  /** A definite no: it won't be tried again. */
  | ({ kind: 'refused'; reason: string; words?: string } & MayBeUnseen)
  /** The screening service answered something that is neither a decision nor a refusal. `seen`: the transaction that it named. */
  | ({
      kind: 'unreadable';
      reason: string;
      seen?: { transactionId: string; found: boolean } & Sent;
    } & MayBeUnseen)
  | ({ kind: 'unanswered'; reason: string } & MayBeUnseen)
  /** The screening service doesn't accept the API key: an operator's mistake. */
  | ({ kind: 'forbidden' } & MayBeUnseen);

/** When the create of a transaction can have been sent, in server time: not before `sentFrom` and not after `sentUntil`. */
export interface Sent {
  sentFrom: Instant;
  sentUntil: Instant;
}

/** `unseenSince`: the earliest time at which a create may have been sent whose transaction nobody has seen. Absent: there is none. */
interface MayBeUnseen {
  unseenSince?: Instant;
}

/** The result of the checkout's screening: its outcome and the policy in force, or why the order can't be screened at all. */
export type Screened =
  | ({
      outcome: ScreeningOutcome;
      policy: Policy;
      /** An earlier run may have given its caller a different answer. */
      again?: true;
      refusal?: undefined;
    } & Fingerprinted)
  | { refusal: Refusal };

export type CheckedOut = Moment & Screened;

/** What an order calls. */
export type Call =
  | { kind: 'retry-screening'; request: RetryCheckoutRequest }
  | { kind: 'catch-up'; request: CatchUpRequest }
  | { kind: 'read'; request: ReadRequest }
  | { kind: 'poll'; request: PollRequest }
  | { kind: 'look-up'; request: LookUpRequest }
  | { kind: 'gateway'; request: GatewayResponseRequest }
  | { kind: 'portal'; request: PortalRequest & { action: number } }
  | { kind: 'deliver'; events: OrderEvent[] }
  | { kind: 'forget-card'; request: ForgetCardRequest }
  /** It fires at that moment, and no sooner than `leastMs` after its start. */
  | { kind: 'timer'; at: Instant; summary: string; leastMs?: number };

type ResultOf<Called extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Called>>;

/** What a call returns, by its kind. */
export type CallResult =
  | ({ kind: 'retry-screening' } & ResultOf<CheckoutActivities['screenRetry']>)
  | ({ kind: 'catch-up' } & ResultOf<BackgroundActivities['catchUp']>)
  | ({ kind: 'read' } & ResultOf<ReadActivities['readStatus']>)
  | ({ kind: 'poll' } & ResultOf<PollActivities['pollStatus']>)
  | ({ kind: 'look-up' } & ResultOf<BackgroundActivities['lookUp']>)
  | ({ kind: 'gateway' } & ResultOf<BackgroundActivities['sendGatewayResponse']>)
  | ({ kind: 'portal' } & ResultOf<BackgroundActivities['performPortalAction']>)
  | ({ kind: 'deliver' | 'forget-card' } & Moment)
  | { kind: 'timer'; at: Instant };

/** What the status of a transaction said. Plain data: it is recorded in history. */
export type StatusOutcome =
  | ({ kind: 'read'; decision: Decision } & Enriched)
  /** The service doesn't know the transaction, or answered a word that isn't a decision. */
  | { kind: 'unreadable'; words: string }
  | { kind: 'forbidden' };

/** How one portal action ended. Plain data: it is recorded in history. */
export type PortalOutcome =
  | { kind: 'done'; code?: string; message?: string; chargeback?: Record<string, string> }
  | { kind: 'refused'; code?: string; message?: string }
  /** Sent, and nobody knows whether it was done. */
  | { kind: 'unconfirmed'; message?: string }
  /** Never sent: whoever asked took it back, or its time was up. */
  | { kind: 'not-sent' }
  /** The cancel window closed before it could be sent. */
  | { kind: 'too-late' }
  /** The service doesn't know our key: reported once, then it goes on. `maybeDone`: a try before this one may have done it. */
  | { kind: 'forbidden'; maybeDone?: true };
