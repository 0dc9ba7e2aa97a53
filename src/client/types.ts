/** The requests, answers and methods of the client library. */
import type { Client } from '@temporalio/client';
import type { z } from 'zod';
import type { CardStash } from '../card-stash/index.ts';
import type {
  AcknowledgeAnswer,
  CardRefAnswer,
  CheckoutAnswer,
  GatewayResultAnswer,
  HandlingAnswer,
  OverrideAnswer,
  PortalAnswer,
  RedeliveryAnswer,
  TransactionStatus,
} from '../contract/answers.ts';
import type {
  AcknowledgeRequest,
  CancelRequest,
  ChargebackRequest,
  CustomerCodeRequest,
  GatewayResultRequest,
  OverrideRequest,
  ReportFraudRequest,
  WithdrawRequest,
} from '../contract/messages.ts';
import type { AfterEnd, OrderList, OrderSummary } from '../contract/order/order.ts';
import type { OrderRecord } from '../contract/order/order-record.ts';
import type { HANDLING, Handling } from '../contract/order/requests.ts';
import type { FindIntegration } from '../contract/policy.ts';
import type { Instant, IntegrationWorkflow, Outcome } from '../contract/words.ts';
import type { CardData } from '../screening-service/index.ts';
import type { ListRequest } from './lists/list-request.ts';
import type { optionsSchema } from './messages/portal-options.ts';
import type { adoptSchema } from './read-adopt-request.ts';
import type { screenSchema } from './read-requests.ts';
import type { EarlyAnswers } from './screening/fast-path.ts';

export interface OrderScreeningOptions {
  /** `new Client({connection, namespace, dataConverter})`, with `createDataConverter` of the deployment's payload keys. */
  client: Client;
  /** Finds an integration's settings: to check requests, and to answer while no worker is running. */
  findIntegration: FindIntegration;
  /** Needed only for full card data: the integration workflow `pre-gateway`. */
  cards?: CardStash;
  /**
   * Only if a worker runs in this process, shares the `NativeConnection` of `client`, and reports its screenings here
   * (`beforeRecord`). Checkouts are then answered as soon as the screening service has answered.
   */
  earlyAnswers?: EarlyAnswers;
}

/** Identifies an order. A leading `#` is removed; `integration` defaults to `default`. */
export interface OrderName {
  orderId: string;
  integration?: string | undefined;
}

/** One attempt of an order to screen. `attempt` defaults to 1; `transaction` has the screening service's format, in either spelling. */
export type ScreenRequest = z.input<typeof screenSchema> & { transaction: unknown };

/** An order to adopt: its transaction was screened by another system. */
export type AdoptRequest = z.input<typeof adoptSchema>;

/** The actor, for the order's journal, how a repeat is recognized, and what the request depends on. */
export type PortalOptions = z.input<typeof optionsSchema>;

/** How much of an order is read: its bounded record, or everything, from the workflow's result or history. */
export type View = 'record' | 'full';

/** Everything that Temporal has about an order now. */
export interface InspectedOrder {
  summary: OrderSummary;
  /** The run id, as in the Temporal UI's address. */
  runId: string;
  /** In the requested view, `record` by default; absent if `missing` is set. */
  state?: OrderRecord;
  /**
   * `undecryptable`: the client's payload keys can't decrypt the record. `no-record`: the workflow ended without a record, for example
   * because its start was refused.
   */
  missing?: 'undecryptable' | 'no-record';
  /** In the full view, what happened after the order's end. */
  afterEnd?: AfterEnd;
  /** Present while the order is polled. */
  poll?: PollTimes;
}

/** Times of the last poll, which found no change or failed, and of the next one. Absent: not yet, or the poll is running. */
export interface PollTimes {
  lastAt?: Instant;
  /** Whether the last poll returned a decision. If false, the poll failed and is retried. */
  answered?: boolean;
  nextAt?: Instant;
}

/** An order with its record; `state` is absent if that can't be read here. */
export interface QueuedOrder {
  summary: OrderSummary;
  state?: OrderRecord;
}

/** A page of a list of any orders, newest first. */
export interface OrderRows {
  orders: QueuedOrder[];
  cursor?: string;
}

/** `cut`: there are more orders than one read returns; open ones with the nearest deadlines ahead come first. */
export interface Queue {
  orders: QueuedOrder[];
  cut: boolean;
}

export interface Health {
  /** Task queues that no worker of the current build has polled in the last 90 s; without a current build, no unversioned worker. */
  unpolled: string[];
  sweep: {
    status: 'running' | 'stopped' | 'failing';
    /** When the current run of the sweep began. */
    since?: Instant;
  };
}

/** Identifies a transaction by its id or its invoice number. If several have the invoice number, the first one is read. */
export interface TransactionLookup {
  /** A leading `#` is removed. */
  idOrInvoice: string;
  /** The integration whose API key is used; defaults to `default`. */
  integration?: string | undefined;
}

/** A notice, such as a webhook, that a transaction may have changed; identified by its id or by the order's invoice number. */
export interface HintRequest {
  integration?: string | undefined;
  /** The invoice number: the order's id, unless a different one was sent. Several: each may name an order. */
  orderId?: string | string[] | undefined;
  transactionId?: string | string[] | undefined;
  decision?: string | undefined;
  /** Whether an order of that other integration gets the hint if it has the transaction. Absent: none does. */
  reaches?: (integration: string) => boolean;
  /** The origin of the hint, such as `webhook`. */
  source: string;
}

/** `accepted`: the hint was sent to an order, or is queued until its spacing ends. `unknown`: no matching order. */
export interface HintAnswer {
  outcome: 'accepted' | 'unknown';
}

/**
 * What people who handle an order write on it. `note` adds a note to the journal, and its repeat a second one unless both have the same
 * idempotency key; `assign` sets the person who handles it, and `snooze`
 * puts its attention off, which returns earlier if the phase changes or something new needs a person.
 */
export type HandlingMethods = {
  [Kind in Handling]: (
    order: OrderName,
    request: z.input<(typeof HANDLING)[Kind]['schema']>,
    options?: PortalOptions,
  ) => Promise<HandlingAnswer>;
};

export interface Statistics {
  /** How many orders have each outcome. `chargeback` includes those of ended orders, by when they were submitted. */
  outcomes: Record<Outcome, number>;
  /** Orders whose review has ended. `median` and `p90`: hours; absent: there are none. `timed`: they are of so many, the newest; absent: of all. */
  reviews: { count: number; timed?: number; median?: number; p90?: number };
}

/**
 * The operations on orders, for order services, webhook handlers and people.
 * Every method rejects with `OrderScreeningError`, whose `code` is stable. `temporal-unavailable`: the outcome is unknown, and
 * retrying the same request is safe. `record-unreadable`: the client's payload keys can't decrypt an answer; the request may have
 * been done. `card-stash-unavailable`, `busy` and `late`: nothing was done. The only other error is a set-up error: TypeError for
 * full card data without `cards`.
 */
export interface OrderScreening extends HandlingMethods {
  /**
   * Returns the decision of one attempt within the checkout budget plus 2 s. Starts the order if it doesn't exist. After
   * `pending`, the same request returns the decision once there is one.
   */
  screen(request: ScreenRequest | Readonly<Record<string, unknown>>): Promise<CheckoutAnswer>;
  /**
   * Starts an order from a transaction that exists at the screening service; creates none. The same request returns the same
   * answer. Rejects with `unknown-transaction`, `transaction-without-decision`, `transaction-taken`, `order-exists` or
   * `invoice-mismatch`, and with `screening-service-unavailable` if the status can't be read.
   * @param options with `dryRun`, returns the answer and starts nothing: this process reads the status with its own API key
   */
  adopt(
    request: AdoptRequest | Readonly<Record<string, unknown>>,
    options?: { dryRun?: boolean } & Pick<PortalOptions, 'by'>,
  ): Promise<CheckoutAnswer>;
  /** Screens the next attempt of a declined order, from 2. */
  retry(request: ScreenRequest & { attempt: number }): Promise<CheckoutAnswer>;
  /** Reports the payment gateway's result (`pre-gateway` only). The same result returns the same answer. After the order's end it is sent on, not recorded. */
  recordGatewayResult(order: OrderName, request: GatewayResultRequest): Promise<GatewayResultAnswer>;
  /**
   * Returns the record of an open, closed or terminated order: its newest entries and strongest insights. `leftOut` counts the others,
   * which the view `full` includes. For a closed order, `afterEnd` has later decisions and actions. Needs no worker.
   */
  get(order: OrderName, options?: { view?: View }): Promise<OrderRecord & { afterEnd?: AfterEnd }>;
  /** Returns everything that Temporal has about an order, within `withinMs` (5 s by default). Needs no worker. */
  inspect(order: OrderName, options?: { withinMs?: number; view?: View }): Promise<InspectedOrder>;
  /**
   * Reads a transaction from the screening service now. This process sends the request, with the integration's API key;
   * needs no worker. Rejects with `unknown-transaction`, with `transaction-without-decision` when the decision is unknown, and with
   * `screening-service-unavailable` when the status can't be read.
   */
  getTransaction(request: TransactionLookup): Promise<TransactionStatus>;
  list(request?: ListRequest): Promise<OrderList>;
  /** Lists the orders that people may have to act on, at most 2,000, with their records. */
  queue(of?: Pick<ListRequest, 'integration' | 'integrations'>): Promise<Queue>;
  /** Lists orders as `list` does, with their records; `find` is also any part of an open order's id, of 3 characters or more. */
  rows(request?: ListRequest): Promise<OrderRows>;
  /** Returns whether workers poll and the sweep runs. Rejects with `temporal-unavailable` if the server can't be reached. */
  health(): Promise<Health>;
  /** Returns statistics of the integrations' orders that were started since some time. */
  statistics(integrations: readonly string[], since: Instant): Promise<Statistics>;
  count(request?: Omit<ListRequest, 'cursor' | 'limit'>): Promise<number>;
  /** Cancels at the screening service, within the cancel window. Returns `requested` after 10 s if the cancel is still running. */
  cancel(order: OrderName, request?: CancelRequest, options?: PortalOptions): Promise<PortalAnswer>;
  reportFraud(order: OrderName, request?: ReportFraudRequest, options?: PortalOptions): Promise<PortalAnswer>;
  submitChargeback(
    order: OrderName,
    request: ChargebackRequest,
    options?: PortalOptions,
  ): Promise<PortalAnswer>;
  attachCustomerCode(
    order: OrderName,
    request: CustomerCodeRequest,
    options?: PortalOptions,
  ): Promise<PortalAnswer>;
  /**
   * Withdraws a queued or running portal action, by its number on the order's record. `withdrawn`: it was not sent;
   * `done`: it was already done; `requested`: the withdrawal is still running after 10 s.
   */
  withdraw(order: OrderName, request: WithdrawRequest, options?: PortalOptions): Promise<PortalAnswer>;
  /** Resolves the order's attention entries. @returns how many were resolved */
  acknowledge(
    order: OrderName,
    request: AcknowledgeRequest,
    options?: PortalOptions,
  ): Promise<AcknowledgeAnswer>;
  /**
   * Sets the action by a person's decision. It stays until the next override or attempt, whatever the screening service decides
   * later. `cancel` also cancels at the screening service if that is possible.
   */
  override(order: OrderName, request: OverrideRequest, options?: PortalOptions): Promise<OverrideAnswer>;
  /**
   * Sends one of the order's last 50 events again, with the same id and content. Returns `requested` after 10 s if it is still
   * running. Rejects with `unknown-event`, and with `event-not-delivered` if the receiver doesn't accept the event.
   */
  redeliver(
    order: OrderName,
    request: { sequence: number },
    options?: Pick<PortalOptions, 'by'>,
  ): Promise<RedeliveryAnswer>;
  /**
   * Makes the order read its status in the background, also after its end. The rechecks of one process are spaced like hints. Rejects
   * with `no-transaction` if the order has ended and has no transaction.
   */
  recheck(order: OrderName): Promise<{ status: 'requested' }>;
  /**
   * Reports that a transaction may have changed: the order reads its status, also after its end. A process sends an order at most one
   * hint per 2 s, under a flood one per 5 min. Earlier hints are queued and sent when that time is over.
   */
  hint(request: HintRequest): Promise<HintAnswer>;
  /**
   * Stores full card data in the card stash, for callers that start the workflow themselves. The card code only for `pre-gateway`: else
   * `warnings` name it.
   */
  putCard(
    request: (OrderName & CardData & { workflow?: IntegrationWorkflow }) | Readonly<Record<string, unknown>>,
  ): Promise<CardRefAnswer>;
  /** Calls Temporal. @throws if it doesn't answer */
  ping(): Promise<void>;
  /**
   * Sends the queued hints and rechecks. Call it before the client's connection closes.
   * @returns how many could not be sent; the orders' next polls read the changes
   */
  close(): Promise<{ unsent: number }>;
}

/** What the parts of the client library share. */
export type ClientContext = OrderScreeningOptions;
