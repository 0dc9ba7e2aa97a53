/** Errors as RFC 9457 problem documents. They never contain a value from the request. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SCOPES } from '../../config/index.ts';
import { ORDER_ERRORS, OrderScreeningError } from '../../contract/errors.ts';
import { errorDetails } from '../../contract/terms.ts';
import type { Log } from '../../platform/log.ts';

/** Errors of requests that don't reach an order. */
const HTTP_ERRORS = {
  'bad-request': {
    status: 400,
    title: 'Bad request',
    detail: 'See the API documentation at /docs.',
  },
  'not-json': { status: 400, title: 'The body is not JSON', detail: 'Send one JSON object in UTF-8.' },
  unauthorized: {
    status: 401,
    title: 'A valid API key is required',
    detail: 'Send Authorization: Bearer <API key>.',
  },
  'foreign-page': {
    status: 401,
    title: 'Requests from a page of a different origin need an API key',
    detail: 'Nothing was done: set API_KEYS, and send Authorization: Bearer <API key>.',
  },
  'foreign-host': {
    status: 401,
    title: 'Requests through a proxy, or to a host name other than localhost, need an API key',
    detail:
      'Nothing was done: use localhost or 127.0.0.1 without a proxy, or set API_KEYS, and send Authorization: Bearer <API key>.',
  },
  'sign-in-failed': {
    status: 401,
    title: 'The sign-in failed',
    detail: 'It took longer than ten minutes, or the provider refused it: open the pages again.',
  },
  'no-role': {
    status: 403,
    title: 'You have no role here',
    detail: 'You signed in, but none of your roles is in OIDC_ROLES: ask for one.',
  },
  'sign-in-unavailable': {
    status: 503,
    title: 'The sign-in provider does not answer',
    detail: 'Open the page again later, or use an API key.',
  },
  'bad-webhook-secret': {
    status: 401,
    title: 'The webhook secret is wrong or missing',
    detail: 'Send one of WEBHOOK_SECRETS in X-Webhook-Secret, or as the last segment of the path.',
  },
  'missing-scope': {
    status: 403,
    title: 'The API key or role may not do this',
    detail: 'It lacks the scope that `scope` names.',
  },
  'foreign-form': {
    status: 403,
    title: 'The form is not from these pages',
    detail: 'Nothing was done: open the order in the queue page, and send the form from there.',
  },
  'not-found': { status: 404, title: 'Route not found', detail: 'The routes are listed at /docs.' },
  'too-large': {
    status: 413,
    title: 'The body is too large',
    detail: 'At most 256 KiB; 64 KiB for a webhook, 4 MiB for the codec.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported content type',
    detail: 'Send Content-Type: application/json in UTF-8, uncompressed.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests with this key',
    detail: 'Nothing was done: retry after Retry-After seconds.',
  },
  'no-answer-in-time': {
    status: 503,
    title: 'No answer yet. Retrying is safe',
    detail: 'There was no answer in time.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    detail: 'The error was logged without details.',
  },
} as const;

export const problemSchema = z.object({
  type: z.string().meta({
    description: `A stable slug, /problems/<code>. Codes of requests that don't reach an order: ${Object.keys(HTTP_ERRORS).join(', ')}`,
  }),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  scope: z.enum(SCOPES).exactOptional().meta({ description: 'What the API key may not do' }),
  ...errorDetails,
});
export type Problem = z.infer<typeof problemSchema>;

type HttpErrorCode = keyof typeof HTTP_ERRORS;

const RETRY_AFTER_SECONDS = '2';

/** An error that hooks and handlers throw, with a code of `HTTP_ERRORS`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly details: Partial<Pick<Problem, 'scope' | 'detail'>>;

  constructor(code: HttpErrorCode, details: HttpError['details'] = {}) {
    super(HTTP_ERRORS[code].detail);
    this.code = code;
    this.details = details;
  }
}

export function answerWithProblems(app: FastifyInstance, log: Log): void {
  app.setErrorHandler(async (error, request, reply) => {
    const { code, problem } = toProblem(error);
    reply.problemCode = code;
    if (problem.repeated) reply.repeated = true;
    logFailure(log, error, code, problem, request);
    return sendProblem(reply, problem);
  });
}

export function logFailure(
  log: Log,
  error: unknown,
  code: string,
  { status }: Problem,
  request: FastifyRequest,
): void {
  if (status >= 500) log.error({ err: error, code, route: request.routeOptions.url }, 'a request failed');
}

/** @returns the error handler for requests that reach no route, because their path can't be decoded or is too long */
export function frameworkErrorAnswer(answered: (status: number, code: string) => void) {
  return (error: FastifyError, _request: unknown, reply: FastifyReply): void => {
    const { code, problem } = toProblem(error);
    // Hooks don't run without a route.
    answered(problem.status, code);
    sendProblem(reply, problem);
  };
}

function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

/** @returns the problem document for any error, and its code for the log */
export function toProblem(error: unknown): { code: string; problem: Problem } {
  if (error instanceof OrderScreeningError) {
    const { code, message, details } = error;
    const { status, title } = ORDER_ERRORS[code];
    return { code, problem: { type: `/problems/${code}`, status, title, detail: message, ...details } };
  }
  const code = error instanceof HttpError ? error.code : httpErrorOf(error);
  const details = error instanceof HttpError ? error.details : {};
  return { code, problem: { type: `/problems/${code}`, ...HTTP_ERRORS[code], ...details } };
}

function httpErrorOf(error: unknown): HttpErrorCode {
  const { statusCode, code } = fastifyWords.parse(error);
  if (statusCode === 413) return 'too-large';
  if (code === 'FST_ERR_HANDLER_TIMEOUT') return 'no-answer-in-time';
  if (statusCode === 415) return 'unsupported-media-type';
  if (code?.startsWith('FST_ERR_CTP_') && statusCode === 400) return 'not-json';
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? 'bad-request' : 'internal-error';
}

/** The status and code of a Fastify error. Codes of other types, such as gRPC's numbers, are ignored. */
const fastifyWords = z
  .object({
    statusCode: z.number().optional().catch(undefined),
    code: z.string().optional().catch(undefined),
  })
  .catch({});

declare module 'fastify' {
  interface FastifyReply {
    /** The slug of the problem document in the answer, for the log and the metrics. */
    problemCode?: string;
  }
}
