/** What the workflows ask of the world: the activities' names, arguments and answers. All of it is recorded in history. */
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
  /**
   * The run that asked was made by an operator's reset: what was found may be of the run before. Told by the result, since a run
   * that is reset takes up what was recorded before the reset as that run took it.
   */
  afterReset?: true;
}

/** A call's outcome, and when it was learned. */
export type Timed<Outcome> = Moment & { outcome: Outcome };

/** What may write at the service says which run of the workflow began it: after a reset another run gets the activity. */
interface BegunBy {
  runId: string;
}

interface MaybeReset {
  /** The run was made by an operator's reset. */
  wasReset?: boolean;
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
  /** Nobody has computed the fingerprint of the transaction: a tool that is none of ours started the order. */
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

/** The fingerprint that a screening computed where the order had none. */
export interface Fingerprinted {
  fingerprint?: string;
}

export interface CheckoutRequest extends ScreenRequest, BegunAt {
  /** When the caller stops waiting. */
  answerBy?: Instant;
  /** An earlier run of this workflow task may have sent a create. Only the activity branches on it: a replay cannot repeat it. */
  mayHaveRun: boolean;
  /** An operator had the order begin anew: its checkout was answered long ago. */
  wasReset: boolean;
  /** The transaction is there: its status is read, and nothing is created. */
  adopt?: Adoption;
}

/** A second attempt's checkout. */
export interface RetryCheckoutRequest extends ScreenRequest, BegunBy, MaybeReset {}

export interface CatchUpRequest extends ScreenRequest, BegunBy, MaybeReset {
  /** A wrong key was reported already: go on trying. */
  forbiddenKnown: boolean;
  /** The checkout failed before it could read the skip rules: they apply now. */
  mayBeSkipped?: true;
}

export interface StatusRequest extends AboutAttempt {
  integration: string;
  transactionId: string;
}

/** A read inside the workflow task. Without a transaction it only tells the time. */
export interface LookRequest extends Omit<StatusRequest, 'transactionId'>, BegunAt {
  transactionId?: string;
}

export interface DurableReadRequest extends StatusRequest {
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

export interface PortalRequest extends AboutAttempt, BegunBy {
  integration: string;
  fields: PortalFields;
  transactionId?: string;
  /** The order's e-mail, for a customer code. */
  email?: string;
  /** An activity before this one, or a run of the workflow that was reset, may have done it. Absent: none has. */
  maybeDone?: boolean;
  /** A cancel isn't sent after it. */
  notAfter?: Instant;
  forbiddenKnown: boolean;
}

export interface LookUpRequest extends AboutAttempt, MaybeReset {
  integration: string;
  invoiceNumber: string;
  knownTransactionIds: string[];
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

/** Run inside the workflow task: fast, and possibly again. */
export interface LocalActivities {
  /** The checkout's screening; fails at once for input that can't be screened. */
  screenAtCheckout(request: CheckoutRequest): Promise<FirstScreening & Moment>;
  /** Reads the status, or only the clock. */
  look(request: LookRequest): Promise<Timed<StatusOutcome | undefined>>;
}

/** A caller waits for these. */
export interface CheckoutActivities {
  /** The policy and the rules in force, when the first screening itself broke down. */
  policyInForce(request: ScreenRequest): Promise<InForce & Moment>;
  screenRetry(request: RetryCheckoutRequest): Promise<Timed<ScreeningOutcome & Fingerprinted>>;
}

export interface BackgroundActivities {
  catchUp(request: CatchUpRequest): Promise<Timed<ScreeningOutcome & Fingerprinted>>;
  lookUp(request: LookUpRequest): Promise<Timed<LookUpOutcome>>;
  readStatusDurably(request: DurableReadRequest): Promise<Timed<StatusOutcome>>;
  sendGatewayResponse(request: GatewayResponseRequest): Promise<Timed<GatewayOutcome>>;
  performPortalAction(request: PortalRequest): Promise<Timed<PortalOutcome>>;
  deliverEvents(events: OrderEvent[]): Promise<Moment>;
  forgetCard(request: { cardRef: string } & AboutAttempt): Promise<Moment>;
}

/** What a poll fails with, to be called again, when the service answered that nothing has changed. */
export const POLL_UNCHANGED = 'unchanged';

export interface PollActivities {
  pollStatus(request: PollRequest): Promise<Timed<StatusOutcome>>;
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

/** What decides an order's life: its policy, and the number of the rules it lives by. */
export interface InForce {
  policy: Policy;
  /** Written by the worker that screened the order first; see `RULES_WRITTEN`. */
  rules: number;
}

/** The first screening's result: the outcome with what it found in force. */
export interface FirstScreening extends InForce, Fingerprinted {
  outcome: ScreeningOutcome;
  /** A run of the task before this one may have told its caller something else. */
  again?: true;
}

// What an order asks of the world: each effect as the call that the workflow makes, with its request.

/** A call without what only the run of the workflow knows: which run it is, its time, whether it is a replay. */
export type Call =
  | { kind: 'first-screening'; request: Omit<CheckoutRequest, 'mayHaveRun' | 'begun'> }
  | { kind: 'policy'; request: ScreenRequest }
  | { kind: 'retry-screening'; request: Omit<RetryCheckoutRequest, 'runId'> }
  | { kind: 'catch-up'; request: Omit<CatchUpRequest, 'runId'> }
  | { kind: 'look'; request: Omit<LookRequest, 'begun'> }
  | { kind: 'read'; request: DurableReadRequest }
  | { kind: 'poll'; request: PollRequest }
  | { kind: 'look-up'; request: LookUpRequest }
  | { kind: 'gateway'; request: GatewayResponseRequest }
  | { kind: 'portal'; request: Omit<PortalRequest, 'runId'> }
  | { kind: 'deliver'; events: OrderEvent[] }
  | { kind: 'forget-card'; request: { cardRef: string; attempt: number } }
  | { kind: 'timer'; at: Instant; summary: string }
  | { kind: 'pause'; ms: number; summary: string };

/** What the workflow does: begin a call, or stop one that was begun. What may write is waited for: its end still is an input. */
export type Command =
  | { do: 'begin'; number: number; call: Call }
  | { do: 'stop'; number: number; waits: boolean };

/** What the status of a transaction said. Plain data: it is recorded in history. */
export type StatusOutcome =
  | ({ kind: 'read'; decision: Decision } & Enriched)
  /** The service doesn't know the transaction, or answered a word that isn't a decision. */
  | { kind: 'unreadable'; words: string }
  /** No answer this time. */
  | { kind: 'unanswered' }
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
