/** What the client library takes and gives. */
import type { Client } from '@temporalio/client';
import type { z } from 'zod';
import type { CardStash } from '../cards/index.ts';
import type {
  CheckoutAnswer,
  GatewayResultAnswer,
  OverrideAnswer,
  PortalAnswer,
  RedeliveryAnswer,
  TransactionStatus,
} from '../contract/answers.ts';
import type {
  CancelRequest,
  ChargebackRequest,
  CustomerCodeRequest,
  GatewayResultRequest,
  OverrideRequest,
  ReportFraudRequest,
  WithdrawRequest,
} from '../contract/messages.ts';
import type { AfterEnd, OrderList, OrderSummary } from '../contract/order.ts';
import type { OrderRecord } from '../contract/order-record.ts';
import type { FindIntegration } from '../contract/policy.ts';
import type { Instant } from '../contract/words.ts';
import type { CardData } from '../screening/index.ts';
import type { adoptSchema } from './adopt-request.ts';
import type { EarlyAnswers } from './fast-path.ts';
import type { ListRequest } from './list-request.ts';
import type { optionsSchema, screenSchema } from './read-requests.ts';

export interface OrderScreeningOptions {
  /** Made with `new Client({connection, namespace, dataConverter})`; `createDataConverter` of the deployment's payload keys. */
  client: Client;
  /** For the checks and the answer when no worker is there. */
  findIntegration: FindIntegration;
  /** Needed only for full card data: the integration workflow `pre-gateway`. */
  cards?: CardStash;
  /**
   * Only where a worker runs in this process, on the `NativeConnection` that `client` is made with, and tells them what
   * its screenings bring: then checkouts are answered the moment the service has answered.
   */
  earlyAnswers?: EarlyAnswers;
}

/** Names an order. A leading `#` doesn't count; no integration means `default`. */
export interface OrderName {
  orderId: string;
  integration?: string | undefined;
}

/** One attempt of an order, to be screened: `attempt` is 1 unless given, `transaction` is as the screening service takes it, in either spelling. */
export type ScreenRequest = z.input<typeof screenSchema> & { transaction: unknown };

/** Takes over an order whose transaction was screened without us. */
export type AdoptRequest = z.input<typeof adoptSchema>;

/** Who asks, for the order's journal, and a key that makes a repeat of the request harmless. */
export type PortalOptions = z.input<typeof optionsSchema>;

/** How much of an order is read: its bounded record, or all that there is, from the workflow's result or history. */
export type View = 'record' | 'full';

/** An order with all that can be known of it now. */
export interface InspectedOrder {
  summary: OrderSummary;
  /** The run that is meant, as the Temporal UI addresses it. */
  runId: string;
  /** In the view that was asked for, `record` unless given; absent when `missing` says why. */
  state?: OrderRecord;
  /**
   * `undecryptable`: the client's payload keys don't open the record. `no-record`: the workflow ended without a record, such as one that was
   * refused when it was started.
   */
  missing?: 'undecryptable' | 'no-record';
  /** Present while the order is polled. */
  poll?: PollTimes;
}

/** When the decision was asked for without news, and when it is asked for next; absent: not yet, or under way. */
export interface PollTimes {
  lastAt?: Instant;
  /** Whether the service answered the last time; false: it failed, and is tried again. */
  answered?: boolean;
  nextAt?: Instant;
}

/** Identifies a transaction by its id or its invoice number. If several have the invoice number, the first one is read. */
export interface TransactionLookup {
  /** A leading `#` is removed. */
  idOrInvoice: string;
  /** The integration whose API key is used; `default` unless given. */
  integration?: string | undefined;
}

/** Somebody says there is news about a transaction, by its id or by the invoice number of its order. */
export interface HintRequest {
  integration?: string | undefined;
  /** The invoice number, which is the order's id unless another was sent. */
  orderId?: string | undefined;
  transactionId?: string | undefined;
  decision?: string | undefined;
  /** Who says so, such as `webhook`. */
  source: string;
}

/** `accepted`: the hint is sent to the order, or kept until it may be. `unknown`: no order is meant. */
export interface HintAnswer {
  outcome: 'accepted' | 'unknown';
}

/**
 * Everything an order service, a webhook handler or a person can ask of an order.
 * Every method rejects with `OrderScreeningError`, whose `code` is stable; `temporal-unavailable` means that the
 * outcome is unknown and the same request may be sent again; `card-stash-unavailable`, `busy` and `late` that nothing was
 * done yet. Beside it only errors of the set-up come through: TypeError for full card data without `cards`, and
 * `PayloadCodecError` when the client's payload keys don't open an answer.
 */
export interface OrderScreening {
  /**
   * Asks for the decision of one attempt, within the checkout budget and 2 s. Starts the order if need be. The same request
   * after a `pending` gets the decision as soon as there is one.
   */
  screen(request: ScreenRequest | Readonly<Record<string, unknown>>): Promise<CheckoutAnswer>;
  /**
   * Starts an order from a transaction that the service has, and creates none. The same again gets the same answer. It is
   * refused by `unknown-transaction`, `transaction-without-decision`, `transaction-taken`, `order-exists` and
   * `invoice-mismatch`; by `screening-service-unavailable` when its status can't be read.
   * @param options with `dryRun` the answer is only told: the service is asked from this process, with its own key
   */
  adopt(
    request: AdoptRequest | Readonly<Record<string, unknown>>,
    options?: { dryRun?: boolean } & Pick<PortalOptions, 'by'>,
  ): Promise<CheckoutAnswer>;
  /** Screens the next attempt of a declined order, from 2. */
  retry(request: ScreenRequest & { attempt: number }): Promise<CheckoutAnswer>;
  /** Reports what the payment gateway said (`pre-gateway` only). The same result again gets the same answer. */
  recordGatewayResult(order: OrderName, request: GatewayResultRequest): Promise<GatewayResultAnswer>;
  /**
   * The record of an open, closed or terminated order: its newest entries and the strongest insights; `leftOut` counts the others, which the
   * view `full` has; of a closed order also what came after its end. No worker takes part.
   */
  get(order: OrderName, options?: { view?: View }): Promise<OrderRecord & { afterEnd?: AfterEnd }>;
  /** All that can be known of an order within a time, 5 s unless given; no worker takes part. */
  inspect(order: OrderName, options?: { withinMs?: number; view?: View }): Promise<InspectedOrder>;
  /**
   * Reads a transaction from the screening service now. This process sends the request, with the integration's API key; no
   * worker is needed. Rejects with `unknown-transaction`, with `transaction-without-decision` when the decision is unknown, and with
   * `screening-service-unavailable` when the status can't be read.
   */
  getTransaction(request: TransactionLookup): Promise<TransactionStatus>;
  list(request?: ListRequest): Promise<OrderList>;
  /** How many orders a list with these filters has. */
  count(request?: Omit<ListRequest, 'cursor' | 'limit'>): Promise<number>;
  /** Cancels with the service, within the cancel window. `requested` when that takes longer than 10 s. */
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
   * Takes back a portal action that waits or is under way, by its number on the order's record. `withdrawn`: it was not sent;
   * `done`: it had been done already; `requested` when that takes longer than 10 s.
   */
  withdraw(order: OrderName, request: WithdrawRequest, options?: PortalOptions): Promise<PortalAnswer>;
  /** Clears what needs attention. @returns how many matters that were */
  acknowledge(
    order: OrderName,
    request: { reason: string },
    options?: PortalOptions,
  ): Promise<{ cleared: number }>;
  /**
   * A person decides in place of the service: the action is theirs, whatever the service says later, until the next override
   * or attempt. `cancel` also cancels with the service, where it can be asked.
   */
  override(order: OrderName, request: OverrideRequest, options?: PortalOptions): Promise<OverrideAnswer>;
  /**
   * Sends one of the order's last 50 events again, with the same id and content. `requested` when that takes longer than 10 s.
   * It is refused by `unknown-event`, and by `event-not-delivered` when the receiver doesn't take it.
   */
  redeliver(
    order: OrderName,
    request: { sequence: number },
    options?: Pick<PortalOptions, 'by'>,
  ): Promise<RedeliveryAnswer>;
  /**
   * Makes the order read its status in the background, also after its end; the rechecks of one process are spaced like hints. Of an order
   * without a transaction it is refused by `no-transaction` once the order has ended.
   */
  recheck(order: OrderName): Promise<{ status: 'requested' }>;
  /**
   * Passes on that there is news of a transaction: the order reads its status, also after its end. An order gets at most one hint per 2 s from a process,
   * under a flood one per 5 min; a hint that comes earlier is kept and sent when that time is over.
   */
  hint(request: HintRequest): Promise<HintAnswer>;
  /** Puts full card data in the stash, for callers that start the workflow themselves. */
  putCard(
    request: (OrderName & CardData) | Readonly<Record<string, unknown>>,
  ): Promise<{ cardRef: string; expiresAt: Instant }>;
  /** Really asks Temporal. @throws when it doesn't answer */
  ping(): Promise<void>;
  /**
   * Sends the hints and rechecks that are kept. Call it before the client's connection closes.
   * @returns how many could not be sent: the orders' next polls read the news
   */
  close(): Promise<{ unsent: number }>;
}

/** What the parts of the client library share. */
export interface ClientContext {
  client: Client;
  findIntegration: FindIntegration;
  cards?: CardStash;
  earlyAnswers?: EarlyAnswers;
}
