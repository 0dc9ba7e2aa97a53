/** The client library with which an order service in TypeScript screens its orders. */
import type { UpdateDefinition } from '@temporalio/common';
import type { z } from 'zod';
import { refuseCardData, vouchedFor } from './card-data/card-data.ts';
import { readHealth } from './client/health.ts';
import { countOrders, readStatistics } from './client/lists/count-orders.ts';
import { listOrders, listQueue, listRows } from './client/lists/list-orders.ts';
import { OpenOrders } from './client/lists/open-orders.ts';
import { recordGatewayResult } from './client/messages/gateway-result.ts';
import { OrderSignals } from './client/messages/hint.ts';
import { portalAction, readPortalFields, withdraw } from './client/messages/portal-action.ts';
import { redeliver } from './client/messages/redeliver.ts';
import { update } from './client/messages/send-update.ts';
import { checked, integrationOf, readCardRequest, readOrderId } from './client/read-requests.ts';
import { readWithAfterEnd } from './client/reading/after-end.ts';
import { inspectOrder } from './client/reading/inspect-order.ts';
import { readTransaction } from './client/reading/read-transaction.ts';
import { adopt } from './client/screening/adopt.ts';
import { putCard, screen } from './client/screening/screen.ts';
import { ANSWER_WITHIN_MS, callTemporal, endingBy, READ_WITHIN_MS } from './client/temporal-errors.ts';
import type { OrderName, OrderScreening, OrderScreeningOptions, PortalOptions } from './client/types.ts';
import { orderWorkflowId } from './contract/ids.ts';
import {
  acknowledgeUpdate,
  assignUpdate,
  type Envelope,
  noteUpdate,
  overrideUpdate,
  snoozeUpdate,
} from './contract/messages.ts';
import { HANDLING, overrideSchema } from './contract/order/requests.ts';
import type { PortalActionKind } from './contract/portal/portal-kinds.ts';

export type { ListRequest } from './client/lists/list-request.ts';
export { EarlyAnswers } from './client/screening/fast-path.ts';
export type {
  AdoptRequest,
  Health,
  HintAnswer,
  HintRequest,
  InspectedOrder,
  OrderName,
  OrderRows,
  OrderScreening,
  OrderScreeningOptions,
  PollTimes,
  PortalOptions,
  Queue,
  QueuedOrder,
  ScreenRequest,
  Statistics,
  TransactionLookup,
} from './client/types.ts';
export { createDataConverter, PayloadCodecError } from './codec/index.ts';
export type { TransactionStatus } from './contract/answers.ts';
export { OrderScreeningError } from './contract/errors.ts';
export type {
  AfterEnd,
  LateAction,
  LateDecision,
  OrderList,
  OrderSummary,
  Redelivery,
} from './contract/order/order.ts';

const PING_WITHIN_MS = 2_000;

/**
 * Creates the client. Use one per process; it opens no connection itself. Its methods throw `OrderScreeningError`, see
 * `OrderScreening`.
 */
export function createOrderScreening(context: OrderScreeningOptions): OrderScreening {
  const { client } = context;
  const signals = new OrderSignals(context);
  const openOrders = new OpenOrders(context);
  const key = ({ orderId, integration }: OrderName, request = {}, how = {}) => {
    const { name, notCards } = integrationOf(context, integration);
    refuseCardData({ ...request, ...how, orderId }, { notCards });
    return { integration: name, orderId: readOrderId(orderId) };
  };
  /** @throws OrderScreeningError `card-data-in-request` for card data anywhere in the message to the order */
  const workflowId = (order: OrderName, request = {}, how = {}) => {
    const { integration, orderId } = key(order, request, how);
    return orderWorkflowId(integration, orderId);
  };
  const vouched = <Request extends object>(order: OrderName, request: Request) =>
    vouchedFor(request, integrationOf(context, order.integration));
  /** Gives one deadline to everything that a call asks for: of an order, of its record after its end, and of the screening service. */
  const answered = <Answer>(call: () => Promise<Answer>) => endingBy(Date.now() + ANSWER_WITHIN_MS, call);
  const portal =
    (kind: PortalActionKind) => async (order: OrderName, request?: object, how?: PortalOptions) =>
      answered(() => {
        const named = key(order, request, how);
        return portalAction(context, named, vouched(order, readPortalFields(kind, request)), how);
      });
  const written = <Answer, Body extends object>(
    definition: UpdateDefinition<Answer, [Envelope<Body>]>,
    schema: z.ZodType<NoInfer<Body>>,
  ) => {
    return async (order: OrderName, request: object, how?: PortalOptions) =>
      answered(() =>
        update(context, workflowId(order, request, how), definition, checked(schema, request), how),
      );
  };
  return {
    screen: async (request) => screen(context, request),
    adopt: async (request, how) => adopt(context, request, how),
    retry: async (request) => screen(context, request),
    recordGatewayResult: async (order, request) =>
      answered(() => recordGatewayResult(context, workflowId(order, request), vouched(order, request))),
    get: async (order, { view } = {}) => readWithAfterEnd(context, workflowId(order), view),
    inspect: async (order, { withinMs = READ_WITHIN_MS, view = 'record' } = {}) =>
      endingBy(Date.now() + withinMs, async () => inspectOrder(context, workflowId(order), view)),
    getTransaction: async (request) => readTransaction(context, request),
    list: async (request) => listOrders(context, request),
    queue: async (of = {}) => {
      const queue = await listQueue(context, of);
      openOrders.warm();
      return queue;
    },
    rows: async (request) => listRows(context, request, openOrders),
    health: async () => readHealth(context),
    statistics: async (integrations, since) => readStatistics(context, integrations, since),
    count: async (request) => countOrders(context, request),
    cancel: portal('cancel'),
    reportFraud: portal('report-fraud'),
    submitChargeback: portal('chargeback'),
    attachCustomerCode: portal('customer-code'),
    acknowledge: async (order, request, how) =>
      answered(() => update(context, workflowId(order, request, how), acknowledgeUpdate, request, how)),
    note: written(noteUpdate, HANDLING.note.schema),
    assign: written(assignUpdate, HANDLING.assign.schema),
    snooze: written(snoozeUpdate, HANDLING.snooze.schema),
    override: written(overrideUpdate, overrideSchema),
    withdraw: async (order, request, how) =>
      answered(() => withdraw(context, key(order, request, how), request, how)),
    redeliver: async (order, { sequence }, how) => redeliver(context, key(order, {}, how), sequence, how),
    recheck: async (order) => signals.recheck(key(order)),
    hint: async (request) => signals.hint(request),
    putCard: async (request) => {
      const { warnings, ...entry } = readCardRequest(request, context.findIntegration);
      return { ...(await putCard(context, entry)), ...(warnings.length > 0 && { warnings }) };
    },
    ping: async () => {
      const { namespace } = client.options;
      await callTemporal(client, PING_WITHIN_MS, () =>
        client.workflowService.describeNamespace({ namespace }),
      );
    },
    close: async () => signals.close(),
  };
}
