import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { faultsOf, invalidRequest } from '../client/read-requests.ts';
import { problemSchema } from './answer-schemas.ts';

/** One route: its schemas check the request and make its documentation. */
export interface RouteDefinition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  method: 'GET' | 'POST';
  url: string;
  summary: string;
  tag: 'orders' | 'portal actions' | 'cards';
  params: Params;
  query: Query;
  body: Body;
  /** Documented in place of `body`, for a body that the handler checks in full. */
  documentedBody?: z.ZodType;
  /** Answers by status. */
  answers: Record<number, z.ZodType>;
  /** Problems by status, each with the codes that it may have. */
  problems: readonly number[];
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
  const problems = Object.fromEntries(
    route.problems.map((status) => [status, { description: 'Problem', content: problemContent }]),
  );
  app.route({
    method,
    url,
    schema: {
      summary,
      tags: [tag],
      ...(params instanceof z.ZodObject && Object.keys(params.shape).length > 0 && { params }),
      ...(query instanceof z.ZodObject && Object.keys(query.shape).length > 0 && { querystring: query }),
      ...(method === 'POST' && { body: route.documentedBody ?? body }),
      response: { ...route.answers, ...problems },
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

const problemContent = { 'application/problem+json': { schema: problemSchema } };
