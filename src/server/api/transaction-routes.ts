/** The route that reads a transaction from the screening service. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { transactionSchema } from '../../contract/answers.ts';
import { hasCode, OrderScreeningError } from '../../contract/errors.ts';
import type { OrderScreening, TransactionLookup, TransactionStatus } from '../../starter.ts';
import { requireScope } from './callers.ts';
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
