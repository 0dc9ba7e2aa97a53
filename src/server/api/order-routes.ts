/** Routes about an order: screening, adopting, gateway result, reading and listing; cards; reading a transaction. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { listRequestOf } from '../../client/lists/list-request.ts';
import { CARD_FIELDS_OF_AN_ORDER, invalidRequest } from '../../client/read-requests.ts';
import {
  cardRefSchema,
  checkoutAnswerSchema,
  gatewayResultAnswerSchema,
  transactionSchema,
} from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { orderListSchema, orderStateSchema } from '../../contract/order/order.ts';
import { CARD_FIELDS } from '../../screening-service/index.ts';
import type { OrderScreening, TransactionLookup, TransactionStatus } from '../../starter.ts';
import { listedIntegrations, requireScope } from './callers.ts';
import { defineRoute, nothing, OF_AN_ORDER } from './define-route.ts';
import { type HttpMetrics, whoAsks } from './metrics.ts';
import type { RefusedCheckouts } from './refused-checkouts.ts';
import {
  actorHeaders,
  adoptBody,
  anyObject,
  cardBody,
  gatewayResultBody,
  listQuery,
  orderParams,
  orderQuery,
  readQuery,
  screeningBody,
  transactionParams,
  uncheckedOrderParams,
  uncheckedOrderQuery,
} from './request-schemas.ts';

const SCREENING = '/v1/orders/:orderId/screening';
const ORDERS = { method: 'POST', tag: 'orders', scope: 'screen', problems: OF_AN_ORDER } as const;
const READS = { ...ORDERS, method: 'GET', scope: 'read', body: nothing } as const;
/** The error statuses of a read, which has no body. */
const OF_A_READ = [400, 401, 404, 409, 422, 429, 503] as const;
/** Validated by the client library, together with the transaction. */
const UNCHECKED = { params: uncheckedOrderParams, query: uncheckedOrderQuery, body: anyObject };

export function orderRoutes(
  app: FastifyInstance,
  orderScreening: OrderScreening,
  metrics: Pick<HttpMetrics, 'noteWarnings'>,
  refused: RefusedCheckouts,
): void {
  // Of the card scan, too, which runs before the handler.
  app.addHook('onError', async ({ routeOptions, params, query, body }, _reply, error) => {
    if (routeOptions.url === SCREENING) refused.note(Object.assign({}, query, body, params), error);
  });
  defineRoute(app, {
    url: SCREENING,
    summary: 'Screen an order and get its decision and action',
    ...ORDERS,
    ...UNCHECKED,
    documentedBody: screeningBody,
    cards: CARD_FIELDS_OF_AN_ORDER,
    answers: { 200: checkoutAnswerSchema, 202: checkoutAnswerSchema },
    handle: async ({ params: { orderId }, query, body }, _request, reply) => {
      const request = { ...withIntegration(query, withoutOrderId(body)), orderId };
      const { fingerprint: _ours, ...answer } = await orderScreening.screen(request);
      if (answer.warnings !== undefined) metrics.noteWarnings(answer.integration, answer.warnings.length);
      return reply.code(answer.decision === 'pending' ? 202 : 200).send(answer);
    },
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId/adopt',
    summary: 'Adopt an order: start it from an existing transaction at the screening service',
    ...ORDERS,
    scope: 'ops',
    ...UNCHECKED,
    documentedBody: adoptBody,
    answers: { 200: checkoutAnswerSchema },
    headers: actorHeaders,
    handle: async ({ params: { orderId }, query, body }, request) =>
      orderScreening.adopt({ ...withIntegration(query, withoutOrderId(body)), orderId }, whoAsks(request)),
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId/gateway-result',
    summary: "Report the payment gateway's result (pre-gateway)",
    ...ORDERS,
    params: orderParams,
    query: orderQuery,
    body: gatewayResultBody,
    answers: { 200: gatewayResultAnswerSchema },
    handle: async ({ params, query, body }) =>
      orderScreening.recordGatewayResult({ ...params, ...query }, body),
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId',
    summary: 'Read an order, open or closed, including what happened after its end',
    ...READS,
    params: orderParams,
    query: readQuery,
    answers: { 200: orderStateSchema },
    problems: OF_A_READ,
    handle: async ({ params, query: { view = 'record', ...query } }) =>
      orderScreening.get({ ...params, ...query }, { view }),
  });

  defineRoute(app, {
    url: '/v1/orders',
    summary: 'List orders; up to 2 s behind',
    ...READS,
    params: nothing,
    query: listQuery,
    ofMany: true,
    answers: { 200: orderListSchema },
    problems: [401, 422, 429, 503],
    handle: async ({ query: { integration, ...query } }, request) =>
      orderScreening.list({ ...listRequestOf(query), ...listedIntegrations(request, integration) }),
  });

  defineRoute(app, {
    url: '/v1/transactions/:idOrInvoice',
    summary: 'Read a transaction from the screening service now, and the order that owns it',
    ...READS,
    tag: 'transactions',
    params: transactionParams,
    query: orderQuery,
    answers: { 200: transactionSchema },
    problems: OF_A_READ,
    handle: async ({ params, query }, request) =>
      readTransaction(orderScreening, request, { ...params, ...query }),
  });

  defineRoute(app, {
    url: '/v1/card-refs',
    summary: 'Put full card data in the card stash, to start an order with its cardRef',
    ...ORDERS,
    tag: 'cards',
    ...UNCHECKED,
    params: nothing,
    documentedBody: cardBody,
    cards: CARD_FIELDS,
    answers: { 201: cardRefSchema },
    problems: [400, 401, 404, 413, 415, 422, 429, 503],
    handle: async ({ query, body }, _request, reply) =>
      reply.code(201).send(await orderScreening.putCard(withIntegration(query, body))),
  });
}

/** @throws OrderScreeningError `invalid-request` when the body has an order id as well */
function withoutOrderId(body: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(body, 'orderId')) return body;
  throw invalidRequest([{ path: 'orderId', message: 'is in the path; remove it from the body' }]);
}

/** @throws OrderScreeningError `invalid-request` when query and body have different integrations */
function withIntegration(query: { integration?: string | undefined }, body: Record<string, unknown>) {
  const { integration = query.integration } = body;
  if (query.integration !== undefined && integration !== query.integration) {
    throw invalidRequest([
      { path: 'integration', message: 'differs from the one in the query: specify it once' },
    ]);
  }
  return { ...query, ...body };
}

/**
 * Reads a transaction for a caller. Integrations can share an account, so a key of some integrations gets the same answer for another
 * integration's transaction as for none, also while the transaction's decision is unknown.
 * @throws HttpError `missing-scope` when the key is for some integrations, none of their orders owns the transaction, and the key lacks
 *   the scope `ops`
 * @throws OrderScreeningError `unknown-transaction`
 */
export async function readTransaction(
  orderScreening: OrderScreening,
  request: FastifyRequest,
  lookup: TransactionLookup,
): Promise<TransactionStatus> {
  const { integrations } = request.apiKey ?? {};
  if (integrations === undefined) return orderScreening.getTransaction(lookup);
  const status = await orderScreening.getTransaction(lookup).catch((error: unknown) => {
    if (hasCode(error, 'unknown-transaction', 'transaction-without-decision')) return undefined;
    throw error;
  });
  if (status?.order !== undefined && integrations.includes(status.order.integration)) return status;
  requireScope(request, 'ops');
  if (status !== undefined && status.order === undefined) return status;
  throw new OrderScreeningError(
    'unknown-transaction',
    'The integrations of the API key have no such transaction, or its decision is unknown.',
  );
}
