/** What the workflows ask of the world: the activities' names, arguments and answers. All of it is recorded in history. */
import type { StatusOutcome } from './apply-reading.ts';
import type { OrderEvent, PortalFields, TransactionJson } from './messages.ts';
import type { PollPauses } from './policy.ts';
import type { PortalOutcome } from './portal.ts';
import type { FirstScreening, InForce, ScreeningOutcome } from './screening-outcome.ts';
import type { GatewayRecord } from './state.ts';
import type { SweepResult } from './sweep.ts';
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

/** What may write at the service says which run of the workflow began it: after a reset another run gets the activity. */
interface BegunBy {
  runId: string;
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
  /** Always sent, so that a create whose answer was lost can be found again. */
  invoiceNumber: string;
  /** Ids that belong to the order already: a transaction found by invoice is adopted only if it is new. */
  knownTransactionIds: string[];
  /** A create may have been sent already: look by invoice first. Never branched on in the workflow. */
  lookFirst: boolean;
}

export interface CheckoutRequest extends ScreenRequest, BegunAt {
  /** When the caller stops waiting. */
  answerBy?: Instant;
  /** When the order was started; the time until it was `begun` it spent queued. */
  startedAt: Instant;
  /** An operator had the order begin anew: its checkout was answered long ago. */
  wasReset: boolean;
}

/** A second attempt's checkout. */
export interface RetryCheckoutRequest extends ScreenRequest, BegunBy {}

export interface CatchUpRequest extends ScreenRequest, BegunBy {
  /** A wrong key was reported already: go on trying. */
  forbiddenKnown: boolean;
  /** The create of a try before this one, just now, may still be on its way. */
  maybeUnderWay: boolean;
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
  /** A run of the workflow that was reset may have done it. Absent: none has. */
  maybeDone?: boolean;
  /** A cancel isn't sent after it. */
  notAfter?: Instant;
  forbiddenKnown: boolean;
}

export interface LookUpRequest extends AboutAttempt {
  integration: string;
  invoiceNumber: string;
  knownTransactionIds: string[];
  forbiddenKnown: boolean;
}

export type GatewayOutcome = { kind: 'sent' } | { kind: 'refused'; words: string } | { kind: 'forbidden' };
export type LookUpOutcome =
  | { kind: 'found'; transactionId: string; decision: Decision }
  | { kind: 'none' }
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
  screenRetry(request: RetryCheckoutRequest): Promise<Timed<ScreeningOutcome>>;
}

export interface BackgroundActivities {
  catchUp(request: CatchUpRequest): Promise<Timed<ScreeningOutcome>>;
  lookUp(request: LookUpRequest): Promise<Timed<LookUpOutcome>>;
  readStatusDurably(request: DurableReadRequest): Promise<Timed<StatusOutcome>>;
  sendGatewayResponse(request: GatewayResponseRequest): Promise<Timed<GatewayOutcome>>;
  performPortalAction(request: PortalRequest): Promise<Timed<PortalOutcome>>;
  deliverEvents(events: OrderEvent[]): Promise<Moment>;
  forgetCard(request: { cardRef: string } & AboutAttempt): Promise<Moment>;
}

export interface SweepActivities {
  sweep(): Promise<SweepResult>;
}

/** What a poll fails with, to be called again, when the service answered that nothing has changed. */
export const POLL_UNCHANGED = 'unchanged';

export interface PollActivities {
  pollStatus(request: PollRequest): Promise<Timed<StatusOutcome>>;
}
