/** The books of one order's life: what the screening service, the order service and the receiver noted, and facts of the world. */
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Policy } from '../../src/contract/policy.ts';
import type { PortalActionKind } from '../../src/contract/portal/portal-kinds.ts';
import type { AttentionCode, Decision, GatewayResult } from '../../src/contract/words.ts';
import type { BookedCall } from './asked.ts';
import type { PublicRecord } from './record-of.ts';

export interface Span {
  from: number;
  until: number;
}

/** An attempt as the order service sent it. */
export interface SentAttempt {
  number: number;
  /** A skip rule of the policy matches it. */
  skip: boolean;
  /** The order service sent a card with it, which is kept for a while only. */
  card: boolean;
}

/** A transaction in the books of the screening service. */
export interface BookedTransaction {
  id: string;
  invoice: string;
  /** The attempt whose content it was created for. */
  attempt: number;
  createdAt: number;
  /** The last moment at which a cancel is accepted. */
  cancelableUntil: number;
  decisions: { decision: Decision; at: number }[];
  canceledAt?: number;
}

/** What can be asked of the screening service. */
export type Operation =
  | 'create-transaction'
  | 'gateway-response'
  | 'status'
  | 'status-by-invoice'
  | 'customer-code'
  | 'report-fraud'
  | 'cancel-transaction'
  | 'submit-chargeback';

/** What is answered with the transaction's decision. */
export const TELL_DECISIONS: readonly Operation[] = ['create-transaction', 'status', 'status-by-invoice'];

/** What the sender of a request heard. `unknown`: an error after which it may have been done. Absent: its sender was gone. */
export type Heard =
  | 'transaction'
  | 'unreadable'
  | 'done'
  | 'not-found'
  | 'refused'
  | 'forbidden'
  | 'not-done'
  | 'unknown';

/** A request to the screening service. */
export interface BookedRequest {
  sentAt: number;
  /** When the screening service dealt with it; absent: it never did. */
  arrivedAt?: number;
  /** When its sender heard an answer, gave it up, or was gone. */
  endedAt: number;
  heard?: Heard;
  /** Milliseconds that its answer asked to wait (`Retry-After`). */
  askedToWaitMs?: number;
  operation: Operation;
  /** The transaction that it names, or that it was answered with. */
  transactionId?: string;
  invoice?: string;
  /** The attempt whose content a create carries. */
  attempt?: number;
  /** The decision in the answer. */
  decision?: Decision;
  /** Whether something was created or changed. */
  committed: boolean;
  sent?: PortalFields | GatewayResult;
  /** It was asked for when the order was over, and is on no order's record. */
  apart?: true;
}

/** What somebody told the order without an answer. */
export interface BookedNews {
  at: number;
  what: 'hint' | 'recheck' | 'cancellation';
  transactionId?: string;
}

export interface BookedArrival {
  /** Whatever else it holds is compared when it comes again. */
  event: {
    id: string;
    type: string;
    orderId: string;
    integration: string;
    sequence: number;
    data: {
      phase?: string | undefined;
      decision?: string | undefined;
      action?: string | undefined;
      attempt?: number | undefined;
      transactionId?: string | undefined;
      afterClose?: boolean | undefined;
    };
  };
  at: number;
  taken: boolean;
}

/** What happened to the world, by nobody's record in the product. */
export interface World {
  workersAway: Span[];
  unreachable: Span[];
  wrongKey: Span[];
  receiverDown: Span[];
  /** By Temporal's history the order's tasks waited or took so long, one after another. */
  tasksWaited: Span[];
  /** An operator reset the order to what it was at `to`. */
  resets: { to: number; at: number }[];
  /** When the order continued as new: its delivery, which had waited for its next try, began anew. */
  continuedAt: number[];
  /** By how much the clock of the workers is off at most. */
  skewMs: number;
  /** Tasks, tries or ends of tries were lost: the order doesn't know of an answer, and asks a person to look. */
  losses: boolean;
  /** Tasks, tries, timers or ends came late by at most so much. */
  lateByMs: number;
  /** The code of the first screening failed, or the settings lacked the integration: it read no skip rule, and no policy. */
  brokeDown: boolean;
  /** The order stopped a call of which no try ran, or an operator failed one by hand: it ends at once, without a report. */
  cutOff: boolean;
  /** An operator failed a call by hand. */
  endedByHand: boolean;
  /** An answer was given before its record, and the record was lost: the order is screened again, by a lookup. */
  recordLost: boolean;
  /** Sending, arrival and end of a request are noted so much late at most. */
  notedLateMs: number;
}

export interface Books {
  policy: Policy;
  startedAt: number;
  /** When the order's workflow ended; absent: it runs still when the books are closed. */
  endedAt?: number;
  closedAt: number;
  /** The moment at which its transaction was screened elsewhere; absent: the order is screened here. */
  adoptedFrom?: number;
  /** Until when the first caller waits. */
  answerBy?: number;
  checkoutBudgetMs: number;
  attempts: SentAttempt[];
  transactions: BookedTransaction[];
  requests: BookedRequest[];
  calls: BookedCall[];
  news: BookedNews[];
  arrivals: BookedArrival[];
  /** What GET showed from each of these moments on, oldest first; empty where nobody kept asking. */
  shown: { at: number; phase: string; attention: AttentionCode[]; readAt?: number }[];
  world: World;
  /** What GET shows at the end. It is judged, never believed. */
  record: PublicRecord;
}

/** @returns the transaction of that id */
export function transactionOf(
  { transactions }: Books,
  id: string | undefined,
): BookedTransaction | undefined {
  return transactions.find((one) => one.id === id);
}

/** @returns whether the screening service had told the product this decision about the transaction by then */
export function wasTold({ requests }: Books, id: string, decision: string, by: number): boolean {
  return requests.some(
    (one) =>
      one.transactionId === id &&
      one.decision === decision &&
      one.arrivedAt !== undefined &&
      one.arrivedAt <= by &&
      one.heard !== undefined,
  );
}

/** @returns the requests of these operations about a transaction */
export function requestsAbout(
  { requests }: Books,
  transactionId: string,
  ...operations: BookedRequest['operation'][]
): BookedRequest[] {
  return requests.filter((one) => one.transactionId === transactionId && operations.includes(one.operation));
}

/** @returns whether the order heard that a transaction is canceled, by a cancel of its own */
export function heardCanceled(books: Books, transactionId: string): boolean {
  const cancels = requestsAbout(books, transactionId, 'cancel-transaction');
  return cancels.some(({ heard, apart }) => heard === 'done' && !apart);
}

/** @returns the creates of an attempt, in the sequence in which they were sent */
export function createsOf({ requests }: Pick<Books, 'requests'>, attempt: number): BookedRequest[] {
  return requests.filter((one) => one.operation === 'create-transaction' && one.attempt === attempt);
}

/** @returns what makes two portal actions the same: how they name the transaction, and why, makes no difference */
export function actionOf({ operation, transactionId, sent }: BookedRequest): string {
  if (typeof sent !== 'object') return `${operation} ${transactionId} ${sent}`;
  return `${operation} ${transactionId} ${JSON.stringify({ ...sent, transactionId, force: undefined, reason: undefined })}`;
}

/** The operation of each portal action. */
export const PORTAL_OPERATIONS: Readonly<Record<PortalActionKind, Operation>> = {
  cancel: 'cancel-transaction',
  'report-fraud': 'report-fraud',
  chargeback: 'submit-chargeback',
  'customer-code': 'customer-code',
};

/** Returns whether the decision is one that the screening service made about the order, unlike `error`. */
export function isDecided(decision: string | undefined): decision is string {
  return decision !== undefined && ['pass', 'fail', 'review', 'fraudulent'].includes(decision);
}

/** @returns whether the decision is that the order is fraud */
export function fails(decision: string | undefined): boolean {
  return decision === 'fail' || decision === 'fraudulent';
}

/** @returns whether a lookup was answered that there is none, whoever heard that */
export function foundNone({ operation, heard, arrivedAt, decision }: BookedRequest): boolean {
  if (operation !== 'status-by-invoice') return false;
  return heard === 'not-found' || (heard === undefined && arrivedAt !== undefined && decision === undefined);
}

export function iso(at: number): string {
  return new Date(at).toISOString();
}

/** What is wrong with a life: of which kind, and the facts that show it. */
export interface Finding {
  kind: string;
  facts: string;
}

export function finding(kind: string, facts: string): Finding[] {
  return [{ kind, facts }];
}
