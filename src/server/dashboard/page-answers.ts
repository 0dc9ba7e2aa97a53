/** What all pages have in common: their headers, and errors that are answered with pages. */
import type { FastifyInstance } from 'fastify';
import { logFailure, toProblem } from '../api/problems.ts';
import { wayBack } from './action-routes.ts';
import { refreshOf } from './layout.ts';
import { errorPage, sessionEndedPage, signInPage } from './order/confirm-page.ts';
import { type QueueOptions, sendPage } from './page-route.ts';
import { CHALLENGE } from './sign-in.ts';

/** The pages load only resources of this server, run only its script, and submit forms only to it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sets the headers of the pages, and answers errors with pages. */
export function answersAsPages(
  scope: FastifyInstance,
  { signIn, log }: Pick<QueueOptions, 'signIn' | 'log'>,
): void {
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
    const hasKey = signIn === undefined || request.headers.authorization !== undefined;
    if (code === 'unauthorized' && !hasKey) return sendPage(reply, sessionEndedPage());
    if (code === 'unauthorized') return sendPage(reply.header('www-authenticate', CHALLENGE), signInPage());
    const tried = request.method === 'POST';
    return sendPage(reply, errorPage(code, problem, tried, wayBack(request), { who: request.pageUser }));
  });
}
