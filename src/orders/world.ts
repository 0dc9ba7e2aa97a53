/** What the workflows ask of the world: the activities' names, arguments and answers. All of it is recorded in history. */
import type { StatusOutcome } from './apply-reading.ts';
import type { OrderEvent, PortalFields, TransactionJson } from './messages.ts';
import type { Policy, PollPauses } from './policy.ts';
import type { PortalOutcome } from './portal.ts';
import type { FirstScreening, ScreeningOutcome } from './screening-outcome.ts';
import type { GatewayRecord } from './state.ts';
import type { SweepResult } from './sweep.ts';
import type { Decision, Instant, IntegrationWorkflow } from './words.ts';

/** Which attempt of its order a call is about, for the log. A call for a closed order may not know. */
interface AboutAttempt {
  attempt?: number;
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

export interface CheckoutRequest extends ScreenRequest {
  /** When the caller stops waiting. */
  answerBy?: Instant;
  /** When the order was started, and when this screening was begun; the time between it spent queued. */
  startedAt: Instant;
  sentSince: Instant;
  /** An operator had the order begin anew: its checkout was answered long ago. */
  wasReset: boolean;
}

export interface CatchUpRequest extends ScreenRequest {
  /** A wrong key was reported already: go on trying. */
  forbiddenKnown: boolean;
  /** The create of a try before this one, just now, may still be on its way. */
  maybeUnderWay: boolean;
}

export interface StatusRequest extends AboutAttempt {
  integration: string;
  transactionId: string;
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
  screenAtCheckout(request: CheckoutRequest): Promise<FirstScreening>;
  readStatus(request: StatusRequest): Promise<StatusOutcome>;
}

/** Run inside the workflow task until it works. */
export interface LocalPolicyActivities {
  /** The policy alone, when the screening itself broke down. */
  policyInForce(request: ScreenRequest): Promise<Policy>;
}

/** Run inside the workflow task that ends an order. */
export interface LocalEventActivities {
  deliverAtOnce(event: OrderEvent): Promise<void>;
}

/** A second attempt's checkout: a caller waits for it. */
export interface RetryActivities {
  screenRetry(request: ScreenRequest): Promise<ScreeningOutcome>;
}

export interface BackgroundActivities {
  catchUp(request: CatchUpRequest): Promise<ScreeningOutcome>;
  lookUp(request: LookUpRequest): Promise<LookUpOutcome>;
  readStatusDurably(request: StatusRequest & { forbiddenKnown: boolean }): Promise<StatusOutcome>;
  sendGatewayResponse(request: GatewayResponseRequest): Promise<GatewayOutcome>;
  performPortalAction(request: PortalRequest): Promise<PortalOutcome>;
  deliverEvents(events: OrderEvent[]): Promise<void>;
  forgetCard(request: { cardRef: string } & AboutAttempt): Promise<void>;
}

export interface SweepActivities {
  sweep(): Promise<SweepResult>;
}

/** What a poll fails with, to be called again, when the service answered that nothing has changed. */
export const POLL_UNCHANGED = 'unchanged';

export interface PollActivities {
  pollStatus(request: PollRequest): Promise<StatusOutcome>;
}
