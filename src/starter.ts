/** The client library: what an order service in TypeScript imports to screen its orders. */
import { HintQueues, type HintsSent, sendHint } from './client/hint.ts';
import { inspectOrder } from './client/inspect-order.ts';
import { acknowledge, recheck, recordGatewayResult, withdraw } from './client/order-messages.ts';
import { portalAction } from './client/portal-action.ts';
import { LookUps, listOrders, readOrder } from './client/read-orders.ts';
import { integrationOf, readCardRequest, readOrderId } from './client/read-requests.ts';
import { putCard, screen } from './client/screen.ts';
import { asOrderError, within } from './client/temporal-errors.ts';
import type { ClientContext, OrderName, OrderScreening, OrderScreeningOptions } from './client/types.ts';
import { orderWorkflowId } from './orders/ids.ts';
import type { PortalFields } from './orders/messages.ts';

export { EarlyAnswers } from './client/fast-path.ts';
export type {
  HintAnswer,
  HintRequest,
  InspectedOrder,
  ListRequest,
  OrderList,
  OrderName,
  OrderScreening,
  OrderScreeningOptions,
  OrderSummary,
  PollTimes,
  PortalOptions,
  ScreenRequest,
} from './client/types.ts';
export { createDataConverter } from './codec/index.ts';
export { OrderScreeningError } from './orders/errors.ts';

const PING_WITHIN_MS = 2_000;

/**
 * Makes the way to every order. One for a process; it holds no connection of its own.
 * @throws from each method: OrderScreeningError, see `OrderScreening`
 */
export function createOrderScreening(options: OrderScreeningOptions): OrderScreening {
  const context: ClientContext = options;
  const { client } = options;
  const hintsSent: HintsSent = { queues: new HintQueues(), lookUps: new LookUps(), signalTimes: new Map() };
  const key = ({ orderId, integration }: OrderName) => ({
    integration: integrationOf(context, integration).name,
    orderId: readOrderId(orderId),
  });
  const workflowId = (order: OrderName) => {
    const { integration, orderId } = key(order);
    return orderWorkflowId(integration, orderId);
  };
  const portal = async (order: OrderName, fields: PortalFields, portalOptions = {}) =>
    portalAction(context, key(order), fields, portalOptions);
  return {
    screen: async (request) => screen(context, request),
    retry: async (request) => screen(context, request),
    recordGatewayResult: async (order, request) => recordGatewayResult(context, workflowId(order), request),
    get: async (order) => readOrder(context, workflowId(order)),
    inspect: async (order, how) => inspectOrder(context, workflowId(order), how),
    list: async (request) => listOrders(context, request),
    cancel: (order, request, how) => portal(order, { kind: 'cancel', ...request }, how),
    reportFraud: (order, request, how) => portal(order, { kind: 'report-fraud', ...request }, how),
    submitChargeback: (order, request, how) => portal(order, { kind: 'chargeback', ...request }, how),
    attachCustomerCode: (order, request, how) => portal(order, { kind: 'customer-code', ...request }, how),
    acknowledge: async (order, { reason }, how) => acknowledge(context, workflowId(order), reason, how),
    withdraw: async (order, request, how) => withdraw(context, key(order), request, how),
    recheck: async (order) => recheck(context, workflowId(order)),
    hint: async (request) => sendHint(context, hintsSent, request),
    putCard: async (request) => putCard(context, readCardRequest(request, options.findIntegration)),
    ping: async () => {
      await asOrderError(() =>
        within(client, Date.now() + PING_WITHIN_MS, () =>
          client.workflowService.describeNamespace({ namespace: client.options.namespace }),
        ),
      );
    },
  };
}
