/** The route that reads a transaction from the screening service. */
import type { FastifyInstance } from 'fastify';
import type { OrderScreening } from '../starter.ts';
import { transactionSchema } from './answer-schemas.ts';
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
    handle: async ({ params, query }, { apiKey }) =>
      orderScreening.getTransaction({ ...params, ...query, integrations: apiKey?.integrations }),
  });
}
