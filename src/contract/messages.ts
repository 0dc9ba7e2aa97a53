/** The workflow's contract: names, arguments and answers of everything that can be sent to an order. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CheckoutAnswer, GatewayResultAnswer, OverrideAnswer, PortalAnswer } from './answers.ts';
import type { PortalRequests } from './portal-actions.ts';
import { byPortalKind, PORTAL_KINDS, type PortalActionKind } from './portal-kinds.ts';
import type { Adoption, OrderEventData } from './state.ts';
import type {
  By,
  GatewayResult,
  Instant,
  IntegrationWorkflow,
  OrderEventType,
  OverrideAction,
} from './words.ts';

export type * from './answers.ts';
export { ORDER_ERRORS, type OrderErrorCode } from './errors.ts';
export {
  DEFAULT_INTEGRATION,
  decisionUpdateId,
  orderWorkflowId,
  retryUpdateId,
  TASK_QUEUE,
} from './ids.ts';
export type * from './order.ts';
export type * from './order-record.ts';
export type { PortalActionKind } from './portal-kinds.ts';
export type * from './state.ts';
export type * from './terms.ts';
export type {
  Action,
  AttentionCode,
  By,
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

/** A request of an action, with who asks; a plain SDK caller may leave that out. */
export type Attributed<Request> = Request & { by?: By };

/** A transaction as JSON, in the canonical form of `src/screening/`, without card data or key. */
export type TransactionJson = Record<string, unknown>;

/**
 * Id fields whose digits are no card number, though they may look like one, by their paths: `order.invoiceNumber`. The
 * client library says it by the policy `notCards`; whoever sends a message without it vouches by it.
 */
interface Vouched {
  notCards?: string[];
}

/** The one argument of `screenOrder`. */
export interface ScreenOrderInput extends Vouched {
  /** The version of the workflow code that the order runs; the oldest that is supported unless given. */
  version?: number;
  /** 1 to 64 characters, a leading `#` removed. */
  orderId: string;
  integration?: string;
  workflow?: IntegrationWorkflow;
  transaction: TransactionJson;
  /** Names the full card data in the card stash. */
  cardRef?: string;
  fingerprint?: string;
  /** When the caller stops waiting: a first task that begins later takes `pending` as given. */
  answerBy?: Instant;
  /** The order is adopted: its transaction exists, and is only read. `transaction` then has what is known of it. */
  adopt?: Adoption;
}

/** Asks an order whether it has, or adopts, this transaction. */
export interface AdoptRequest {
  transactionId: string;
}

export interface DecisionRequest {
  attempt: number;
  fingerprint?: string;
}

export interface RetryRequest extends Vouched {
  attempt: number;
  transaction: TransactionJson;
  cardRef?: string;
  fingerprint?: string;
}

export interface GatewayResultRequest extends Vouched {
  /** May be absent only while the order has one attempt. */
  attempt?: number;
  result: GatewayResult;
  authcode?: string;
  /** The gateway's own transaction id. */
  transactionId?: string;
}

export type CancelRequest = PortalRequests['cancel'];
export type ReportFraudRequest = PortalRequests['report-fraud'];
/** The fields of the service's submit-chargeback, in its spelling, and `force`: send it although an earlier try may have been done. */
export type ChargebackRequest = PortalRequests['chargeback'] & Vouched;
export type CustomerCodeRequest = PortalRequests['customer-code'] & Vouched;

/** What a portal action sends, by kind. */
export type PortalFields = {
  [Kind in PortalActionKind]: { kind: Kind } & PortalRequests[Kind] & Vouched;
}[PortalActionKind];

export interface WithdrawRequest {
  /** The portal action's number on the order's record. */
  number: number;
}

export interface OverrideRequest {
  action: OverrideAction;
  /** Why, in the person's own words: 1 to 500 characters. */
  reason: string;
}

/** Somebody says there is news. A hint only: `decision` is never believed. */
export interface ReviewHint {
  source: string;
  transactionId?: string;
  decision?: string;
  receivedAt: Instant;
}

/** An event as it is sent to `EVENTS_URL`. `id` is its stable `webhook-id`. */
export interface OrderEvent {
  id: string;
  type: OrderEventType;
  orderId: string;
  integration: string;
  /** Counts the order's events from 1; 0 comes from outside the order, which could not say it itself. */
  sequence: number;
  occurredAt: Instant;
  data: Partial<OrderEventData> & Pick<OrderEventData, 'attention'>;
}

/** The argument of `portalAction`: a portal action of an order that is closed, or of a bare transaction id. */
export interface PortalActionInput extends Vouched {
  integration: string;
  orderId?: string;
  transactionId?: string;
  fields: PortalFields;
  /** From the order's record; a cancel without it is refused. */
  cancelBy?: Instant;
  cancelWindowMs?: number;
  by?: By;
}

export const SCREEN_ORDER = 'screenOrder';
export const PORTAL_ACTION = 'portalAction';
/** Takes an event as it was sent before, and who asks. */
export const REDELIVER_EVENT = 'redeliverEvent';

export const decisionUpdate = defineUpdate<CheckoutAnswer, [DecisionRequest]>('decision');
export const adoptUpdate = defineUpdate<CheckoutAnswer, [Attributed<AdoptRequest>]>('adopt');
export const retryUpdate = defineUpdate<CheckoutAnswer, [RetryRequest]>('retry');
export const recordGatewayResultUpdate = defineUpdate<GatewayResultAnswer, [GatewayResultRequest]>(
  'recordGatewayResult',
);
export const acknowledgeUpdate = defineUpdate<{ cleared: number }, [Attributed<{ reason: string }>]>(
  'acknowledge',
);
export const withdrawUpdate = defineUpdate<PortalAnswer, [Attributed<WithdrawRequest>]>('withdraw');
export const overrideUpdate = defineUpdate<OverrideAnswer, [Attributed<OverrideRequest>]>('override');
export const reviewHintSignal = defineSignal<[ReviewHint]>('reviewHint');
export const recheckSignal = defineSignal('recheck');

const portalUpdate = <Kind extends PortalActionKind>(kind: Kind) =>
  defineUpdate<PortalAnswer, [Attributed<PortalRequests[Kind] & Vouched>]>(PORTAL_KINDS[kind].method);
const portalUpdates = byPortalKind((kind) => portalUpdate(kind)) as {
  [Kind in PortalActionKind]: ReturnType<typeof portalUpdate<Kind>>;
};
export const cancelUpdate = portalUpdates.cancel;
export const reportFraudUpdate = portalUpdates['report-fraud'];
export const submitChargebackUpdate = portalUpdates.chargeback;
export const attachCustomerCodeUpdate = portalUpdates['customer-code'];

/** The update of each kind of request. */
export const UPDATES = {
  decision: decisionUpdate,
  adopt: adoptUpdate,
  retry: retryUpdate,
  'gateway-result': recordGatewayResultUpdate,
  acknowledge: acknowledgeUpdate,
  override: overrideUpdate,
  withdraw: withdrawUpdate,
  ...portalUpdates,
} as const;
export type MessageKind = keyof typeof UPDATES;
