/** The workflow's contract: names, arguments and answers of all messages to an order. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { z } from 'zod';
import type {
  AcknowledgeAnswer,
  CheckoutAnswer,
  GatewayResultAnswer,
  HandlingAnswer,
  OverrideAnswer,
  PortalAnswer,
} from './answers.ts';
import type {
  AcknowledgeRequest,
  gatewayResultSchema,
  HandlingRequests,
  OverrideRequest,
} from './order/requests.ts';
import type { Adoption, OrderEventData } from './order/state.ts';
import type { PortalRequests } from './portal/portal-actions.ts';
import { byPortalKind, PORTAL_KINDS, type PortalActionKind } from './portal/portal-kinds.ts';
import type { Action, By, Instant, IntegrationWorkflow, OrderEventType } from './words.ts';

export type * from './answers.ts';
export { ORDER_ERRORS, type OrderErrorCode } from './errors.ts';
export {
  DEFAULT_INTEGRATION,
  decisionUpdateId,
  orderWorkflowId,
  retryUpdateId,
  TASK_QUEUE,
} from './ids.ts';
export type * from './order/order.ts';
export type * from './order/order-record.ts';
export type { AcknowledgeRequest, HandlingRequests, OverrideRequest } from './order/requests.ts';
export type * from './order/state.ts';
export type { PortalActionKind } from './portal/portal-kinds.ts';
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

/** A request with its sender. Callers that use the Temporal SDK directly may omit the sender. */
export type Attributed<Request> = Request & { by?: By };

/** A transaction as JSON, in the canonical form of `src/screening-service/`, without card data or API key. */
export type TransactionJson = Record<string, unknown>;

/**
 * Paths of id fields that may look like a card number but aren't one, such as `order.invoiceNumber`. The client library fills
 * them in from the policy's `notCards`. A caller that uses the Temporal SDK directly sets them itself.
 */
interface Vouched {
  notCards?: string[];
}

/**
 * An update as it is sent to an order. It names its update, so that a sender without a payload key can't send a stored message as a
 * different one.
 */
export interface Envelope<Body> {
  /** The update's name. */
  type: string;
  updateId: string;
  key?: IdempotencyKey;
  /** The action that the sender saw. The order refuses the message if its action is a different one now. */
  ifAction?: Action;
  body: Body;
}

/** The caller's key, and a fingerprint of the caller and the request. */
export interface IdempotencyKey {
  name: string;
  fingerprint: string;
}

/** The one argument of `screenOrder`. */
export interface ScreenOrderInput extends Vouched {
  /** The version of the workflow code that the order runs. Default: the oldest supported version. */
  version?: number;
  /** 1 to 64 characters, a leading `#` removed. */
  orderId: string;
  integration?: string;
  workflow?: IntegrationWorkflow;
  transaction: TransactionJson;
  /** References the full card data in the card stash. */
  cardRef?: string;
  fingerprint?: string;
  /** When the caller stops waiting. If the first task begins later, the order assumes that the caller got `pending`. */
  answerBy?: Instant;
  /** Adopts an existing transaction, which is read and never created. `transaction` then contains its known fields. */
  adopt?: Adoption;
}

/** Asks whether the order has this transaction, or is adopting it. */
export interface AdoptRequest {
  transactionId: string;
}

export interface DecisionRequest {
  attempt: number;
  fingerprint?: string;
}

export interface RetryRequest extends Vouched {
  attempt: number;
  /** The integration workflow by which the caller checked the transaction. Default: the order's. */
  workflow?: IntegrationWorkflow;
  transaction: TransactionJson;
  cardRef?: string;
  fingerprint?: string;
  /** When the caller stops waiting. */
  answerBy?: Instant;
}

export type GatewayResultRequest = z.infer<typeof gatewayResultSchema> & Vouched;

export type CancelRequest = PortalRequests['cancel'];
export type ReportFraudRequest = PortalRequests['report-fraud'];
/** The screening service's submit-chargeback fields in its spelling, and `force`: send even if an earlier attempt may have succeeded. */
export type ChargebackRequest = PortalRequests['chargeback'] & Vouched;
export type CustomerCodeRequest = PortalRequests['customer-code'] & Vouched;

/** The fields that a portal action sends, by kind. */
export type PortalFields = {
  [Kind in PortalActionKind]: { kind: Kind } & PortalRequests[Kind] & Vouched;
}[PortalActionKind];

export interface WithdrawRequest {
  /** The portal action's number on the order's record. */
  number: number;
}

/** A hint that the decision may have changed. The order reads the decision itself and never trusts `decision`. */
export interface ReviewHint {
  source: string;
  transactionId?: string;
  decision?: string;
  receivedAt: Instant;
}

/** A recheck by the client library. Unlike a hint, it may screen an order again whose decision is `error`. */
export interface RecheckRequest {
  /** A request from before the order's current phase was sent before, and may be a stored message. */
  sentAt: Instant;
}

/** An event as sent to `EVENTS_URL`. `id` is its stable `webhook-id`. */
export interface OrderEvent {
  id: string;
  type: OrderEventType;
  orderId: string;
  integration: string;
  /** Counts the order's events, from 1 unless the order was adopted. 0: the sweep sent the event, because the order could not. */
  sequence: number;
  occurredAt: Instant;
  data: Partial<OrderEventData> & Pick<OrderEventData, 'attention'>;
}

/** The argument of `portalAction`: a portal action of a closed order, or of a transaction id without an order. */
export interface PortalActionInput extends Vouched {
  integration: string;
  orderId?: string;
  transactionId?: string;
  fields: PortalFields;
  /** From the order's record. A cancel without it is rejected. */
  cancelBy?: Instant;
  cancelWindowMs?: number;
  by?: By;
}

export const SCREEN_ORDER = 'screenOrder';
export const PORTAL_ACTION = 'portalAction';
/** Its arguments are the event as originally sent, and who requests the redelivery. */
export const REDELIVER_EVENT = 'redeliverEvent';

const define = <Answer, Body>(name: string) => defineUpdate<Answer, [Envelope<Body>]>(name);

export const decisionUpdate = define<CheckoutAnswer, DecisionRequest>('decision');
export const adoptUpdate = define<CheckoutAnswer, Attributed<AdoptRequest>>('adopt');
export const retryUpdate = define<CheckoutAnswer, RetryRequest>('retry');
export const recordGatewayResultUpdate = define<GatewayResultAnswer, GatewayResultRequest>(
  'recordGatewayResult',
);
export const acknowledgeUpdate = define<AcknowledgeAnswer, Attributed<AcknowledgeRequest>>('acknowledge');
const handlingUpdate = <Kind extends keyof HandlingRequests>(kind: Kind) =>
  define<HandlingAnswer, Attributed<HandlingRequests[Kind]>>(kind);
export const noteUpdate = handlingUpdate('note');
export const assignUpdate = handlingUpdate('assign');
export const snoozeUpdate = handlingUpdate('snooze');
export const withdrawUpdate = define<PortalAnswer, Attributed<WithdrawRequest>>('withdraw');
export const overrideUpdate = define<OverrideAnswer, Attributed<OverrideRequest>>('override');
export const reviewHintSignal = defineSignal<[ReviewHint]>('reviewHint');
/** Without a request, or with an old one, it is a hint. */
export const recheckSignal = defineSignal<[RecheckRequest?]>('recheck');

const portalUpdate = <Kind extends PortalActionKind>(kind: Kind) =>
  define<PortalAnswer, Attributed<PortalRequests[Kind] & Vouched>>(PORTAL_KINDS[kind].method);
const portalUpdates = byPortalKind((kind) => portalUpdate(kind)) as {
  [Kind in PortalActionKind]: ReturnType<typeof portalUpdate<Kind>>;
};
export const cancelUpdate = portalUpdates.cancel;
export const reportFraudUpdate = portalUpdates['report-fraud'];
export const submitChargebackUpdate = portalUpdates.chargeback;
export const attachCustomerCodeUpdate = portalUpdates['customer-code'];

export const UPDATES = {
  decision: decisionUpdate,
  adopt: adoptUpdate,
  retry: retryUpdate,
  'gateway-result': recordGatewayResultUpdate,
  acknowledge: acknowledgeUpdate,
  note: noteUpdate,
  assign: assignUpdate,
  snooze: snoozeUpdate,
  override: overrideUpdate,
  withdraw: withdrawUpdate,
  ...portalUpdates,
} as const;
export type MessageKind = keyof typeof UPDATES;
