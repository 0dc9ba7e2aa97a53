/** The route that reads a transaction from the screening service. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { transactionSchema } from '../contract/answers.ts';
import type { OrderScreening, TransactionLookup, TransactionStatus } from '../starter.ts';
import { requireIntegration, requireScope } from './callers.ts';
import { defineRoute, nothing } from './define-route.ts';
import { orderQuery, transactionParams } from './request-schemas.ts';

export function transactionRoutes(app: FastifyInstance, orderScreening: OrderScreening): void {
  defineRoute(app, {
    method: 'GET',
    url: '/v1/transactions/:idOrInvoice',
    summary: 'Read a transaction from the screening service now, and the order that owns it',
    tag: 'transactions',
    scope: 'read',
    params: transactionParams,
    query: orderQuery,
    body: nothing,
    answers: { 200: transactionSchema },
    problems: [400, 401, 404, 409, 422, 429, 503],
    handle: async ({ params, query }, request) =>
      readTransaction(orderScreening, request, { ...params, ...query }),
  });
}

/**
 * Reads a transaction for a caller. Integrations can share an account, so a key could read other integrations' transactions.
 * @throws OrderScreeningError `other-integration` when the caller's key isn't for the integration of the order that owns the transaction
 * @throws HttpError `missing-scope` when no order is known to own it, and the key is for some integrations and lacks the scope `ops`
 */
export async function readTransaction(
  orderScreening: OrderScreening,
  request: FastifyRequest,
  lookup: TransactionLookup,
): Promise<TransactionStatus> {
  const status = await orderScreening.getTransaction(lookup);
  if (status.order !== undefined) requireIntegration(request, status.order.integration);
  else if (request.apiKey?.integrations !== undefined) requireScope(request, 'ops');
  return status;
}
