/** What all pages have in common: their headers, and errors that are answered with pages. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { cardDataIn } from '../../card-data/card-data.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import type { Log } from '../../process/log.ts';
import { logFailure, toProblem } from '../problems.ts';
import { actionParams, orderParams, orderQuery } from '../request-schemas.ts';
import { errorPage, signInPage } from './confirm-page.ts';
import { orderPath, refreshOf } from './layout.ts';
import { CHALLENGE } from './sign-in.ts';

/** The pages load only resources of this server and submit forms only to it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The order, and the number of the portal action or event if the path has one. */
export const namedParams = orderParams.extend({ number: actionParams.shape.number.optional() });

/** Sets the headers of the pages, and answers errors with pages. */
export function answersAsPages(scope: FastifyInstance, log: Log): void {
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      // Browsers must send `Origin` with these pages' forms, which are rejected otherwise.
      'referrer-policy': 'same-origin',
      ...(request.routeOptions.url === '/' && refreshOf(request.query)),
    });
  });
  scope.setErrorHandler(async (error, request, reply) => {
    const { code, problem } = toProblem(error);
    reply.problemCode = code;
    logFailure(log, error, code, problem, request);
    reply.code(problem.status);
    if (code === 'unauthorized') return sendPage(reply.header('www-authenticate', CHALLENGE), signInPage());
    return sendPage(reply, errorPage(code, problem, request.method === 'POST', wayBack(request)));
  });
}

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page);
}

/** @returns the path of the order's page after a failed action on an order, otherwise the queue's */
function wayBack({ method, params, query }: FastifyRequest): string {
  const name = namedParams.safeParse(params);
  const where = orderQuery.safeParse(query);
  if (method !== 'POST' || !name.success || !where.success) return '/';
  if (cardDataIn([name.data, where.data]).length > 0) return '/';
  return orderPath({
    orderId: name.data.orderId,
    integration: where.data.integration ?? DEFAULT_INTEGRATION,
  });
}
