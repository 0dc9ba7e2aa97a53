/** Routes about an order: screening, adopting, gateway result, reading and listing; cards; reading a transaction. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listRequestOf } from '../../client/lists/list-request.ts';
import { adoptSchema } from '../../client/read-adopt-request.ts';
import { CARD_FIELDS_OF_AN_ORDER, invalidRequest } from '../../client/read-requests.ts';
import {
  cardRefSchema,
  checkoutAnswerSchema,
  gatewayResultAnswerSchema,
  transactionSchema,
} from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import { EXAMPLE_PAYMENT } from '../../contract/example-transaction.ts';
import { attemptSchema } from '../../contract/fields.ts';
import { orderListSchema, orderStateSchema } from '../../contract/order/order.ts';
import { gatewayResultSchema } from '../../contract/order/requests.ts';
import { INTEGRATION_WORKFLOWS } from '../../contract/words.ts';
import { CARD_FIELDS, cardSchema, transactionRequestSchema } from '../../screening-service/index.ts';
import type { OrderScreening, TransactionLookup, TransactionStatus } from '../../starter.ts';
import { listedIntegrations, requireScope } from './callers.ts';
import { defineRoute, nothing, OF_AN_ORDER } from './define-route.ts';
import type { HttpMetrics } from './metrics.ts';
import type { RefusedCheckouts } from './refused-checkouts.ts';
import {
  actorHeaders,
  anyObject,
  listQuery,
  orderParams,
  orderQuery,
  readQuery,
  transactionParams,
} from './request-schemas.ts';

const SCREENING = '/v1/orders/:orderId/screening';
const ORDERS = { method: 'POST', tag: 'orders', scope: 'screen', problems: OF_AN_ORDER } as const;
const READS = { ...ORDERS, method: 'GET', scope: 'read', body: nothing } as const;
/** The error statuses of a read, which has no body. */
const OF_A_READ = [400, 401, 404, 409, 422, 429, 503] as const;
const { integration } = orderQuery.shape;
const workflow = z.enum(INTEGRATION_WORKFLOWS).optional();
/** Validated by the client library, because the rules depend on the integration, and so that the answer lists all errors. */
const UNCHECKED = {
  params: z.strictObject({ orderId: z.string().meta(orderParams.shape.orderId.meta() ?? {}) }),
  query: z.strictObject({
    integration: z.string().optional().meta({ examples: integration.meta()?.examples }),
  }),
  body: anyObject,
};

export function orderRoutes(
  app: FastifyInstance,
  orderScreening: OrderScreening,
  metrics: Pick<HttpMetrics, 'noteWarnings'>,
  refused: RefusedCheckouts,
): void {
  // Of the card scan, too, which runs before the handler.
  app.addHook('onError', async ({ routeOptions, params, query, body, apiKey }, _reply, error) => {
    if (routeOptions.url !== SCREENING) return;
    refused.note(Object.assign({}, query, body, params), error, apiKey?.integrations);
  });
  defineRoute(app, {
    url: SCREENING,
    summary: 'Screen an order and get its decision and action',
    ...ORDERS,
    ...UNCHECKED,
    documentedBody: z
      .strictObject({
        integration,
        workflow,
        attempt: attemptSchema.optional().meta({ description: 'Default: 1' }),
        transaction: transactionRequestSchema,
      })
      .meta({
        examples: [
          {
            workflow: 'pre-acceptance',
            transaction: {
              amount: '125.50',
              currency_code: 'USD',
              customer: { email: 'pass@example.com' },
              ...EXAMPLE_PAYMENT,
            },
          },
        ],
      }),
    cards: CARD_FIELDS_OF_AN_ORDER,
    answers: { 200: checkoutAnswerSchema, 202: checkoutAnswerSchema },
    handle: async ({ asked, body }) => {
      const answer = await orderScreening.screen(wholeRequest(asked, body));
      if (answer.warnings !== undefined) metrics.noteWarnings(answer.integration, answer.warnings.length);
      return answer;
    },
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId/adopt',
    summary: 'Adopt an order: start it from an existing transaction at the screening service',
    ...ORDERS,
    scope: 'ops',
    ...UNCHECKED,
    documentedBody: adoptSchema.omit({ orderId: true }).meta({
      examples: [
        { transactionId: '9f1c8a52-6f0e-4b44-9a3e-2a5d3c1b7e10', screenedAt: '2030-01-31T12:00:00Z' },
      ],
    }),
    answers: { 200: checkoutAnswerSchema },
    headers: actorHeaders,
    handle: async ({ asked, body, how }) => orderScreening.adopt(wholeRequest(asked, body), how),
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId/gateway-result',
    summary: "Report the payment gateway's result (pre-gateway)",
    ...ORDERS,
    params: orderParams,
    query: orderQuery,
    body: gatewayResultSchema.meta({
      examples: [{ result: 'pass', authcode: 'A1B2C3', transactionId: 'gateway-7' }],
    }),
    answers: { 200: gatewayResultAnswerSchema },
    handle: ({ asked, body }) => orderScreening.recordGatewayResult(asked, body),
  });

  defineRoute(app, {
    url: '/v1/orders/:orderId',
    summary: 'Read an order, open or closed, including what happened after its end',
    ...READS,
    params: orderParams,
    query: readQuery,
    answers: { 200: orderStateSchema },
    problems: OF_A_READ,
    handle: ({ asked: { view = 'record', ...order } }) => orderScreening.get(order, { view }),
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
    handle: async ({ asked: { integration, ...query }, request }) =>
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
    handle: ({ asked, request }) => readTransaction(orderScreening, request, asked),
  });

  defineRoute(app, {
    url: '/v1/card-refs',
    summary: 'Put full card data in the card stash, to start an order with its cardRef',
    ...ORDERS,
    tag: 'cards',
    ...UNCHECKED,
    params: nothing,
    documentedBody: z.strictObject({ integration, workflow, orderId: z.string(), ...cardSchema.shape }).meta({
      examples: [
        { orderId: 'order-1002', cardNumber: '4111111111111111', expirationDate: '12/2034', cardCode: '123' },
      ],
    }),
    cards: CARD_FIELDS,
    answers: { 201: cardRefSchema },
    problems: [400, 401, 404, 413, 415, 422, 429, 503],
    handle: async ({ asked, body }) => orderScreening.putCard(wholeRequest(asked, body)),
  });
}

/** @throws OrderScreeningError `invalid-request` when the body repeats the path's order id, or names a different integration than the query */
function wholeRequest(
  asked: { orderId?: string; integration?: string | undefined },
  body: Record<string, unknown>,
) {
  const { integration = asked.integration } = body;
  if (asked.orderId !== undefined && Object.hasOwn(body, 'orderId'))
    throw invalidRequest([{ path: 'orderId', message: 'is in the path; remove it from the body' }]);
  if (asked.integration !== undefined && integration !== asked.integration) {
    throw invalidRequest([
      { path: 'integration', message: 'differs from the one in the query: specify it once' },
    ]);
  }
  return { ...asked, ...body };
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
