/** A route of the API: its body, its schemas, its answer and its documentation from one description. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { faultsOf, invalidRequest } from '../client/read-requests.ts';
import { problemSchema } from './answer-schemas.ts';
import { HttpError } from './problems.ts';

/** One route: its schemas check the request and make its documentation. */
export interface RouteDefinition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  summary: string;
  tag: 'orders' | 'portal actions' | 'cards';
  params: Params;
  query: Query;
  body: Body;
  /** Documented in place of `body`, for a body that the handler checks in full, or with an example. */
  documentedBody?: z.ZodType;
  /** Answers by status. */
  answers: Record<number, z.ZodType>;
  /** Statuses of problems, beside 500. */
  problems: readonly (keyof typeof PROBLEMS)[];
  /** Request headers, documented only. */
  headers?: z.ZodType;
  handle: (
    parts: { params: z.output<Params>; query: z.output<Query>; body: z.output<Body> },
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<unknown>;
}

/** No parameters, or no body. */
export const nothing = z.strictObject({});

/** Adds a route that checks path, query and body together, so that every fault is listed at once. */
export function defineRoute<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  app: FastifyInstance,
  route: RouteDefinition<Params, Query, Body>,
): void {
  const { method, url, summary, tag, params, query, body, handle } = route;
  const answers = Object.entries(route.answers).map(([status, answer]) => [
    status,
    { description: status === '202' ? GOES_ON : DONE, content: { 'application/json': { schema: answer } } },
  ]);
  const problems = [...route.problems, 500 as const].map((status) => [
    status,
    { description: PROBLEMS[status], content: problemContent },
  ]);
  app.route({
    method,
    url,
    schema: {
      summary,
      tags: [tag],
      ...(params instanceof z.ZodObject && Object.keys(params.shape).length > 0 && { params }),
      ...(query instanceof z.ZodObject && Object.keys(query.shape).length > 0 && { querystring: query }),
      ...(method === 'POST' && { body: route.documentedBody ?? body }),
      ...(route.headers !== undefined && { headers: route.headers }),
      response: Object.fromEntries([...answers, ...problems]),
    },
    handler: async (request, reply) => {
      const parts = {
        params: params.safeParse(request.params),
        query: query.safeParse(request.query),
        body: body.safeParse(method === 'POST' ? (request.body ?? {}) : {}),
      };
      if (!parts.params.success || !parts.query.success || !parts.body.success) {
        throw invalidRequest(
          Object.values(parts).flatMap((part) => (part.success ? [] : faultsOf(part.error))),
        );
      }
      return handle(
        { params: parts.params.data, query: parts.query.data, body: parts.body.data },
        request,
        reply,
      );
    },
  });
}

/** Takes JSON and nothing else; many clients announce it and send nothing, for actions that need no body. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else {
      void parseJson(request, String(body), (error, value) => {
        // `null` would be taken for no body.
        if (error === null && value === null) done(new HttpError('not-json'));
        else done(error, value);
      });
    }
  });
}

const DONE = 'Done';
const GOES_ON = 'Not done yet: it goes on';
/** What each status of a problem means, in the documentation. */
const PROBLEMS = {
  400: 'The body is not JSON, or the address cannot be read',
  401: 'No valid API key',
  404: 'No such order, integration, transaction or portal action',
  409: 'The order does not take this now; `type` says why',
  413: 'The body is over 1 MiB',
  415: 'Another content type than application/json',
  422: 'The request breaks a rule; `errors` lists every fault',
  429: 'Too many requests with this key: nothing was done',
  500: 'A fault of this service',
  502: 'The screening service refused it, or did not say whether it was done',
  503: 'The outcome is unknown, or nothing was done yet: send the same request again',
  504: 'It could not be sent within a day, and is not tried any more',
} as const;

const problemContent = { 'application/problem+json': { schema: problemSchema } };
