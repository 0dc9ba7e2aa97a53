/** Routes for portal actions, withdrawals, overrides, redeliveries, rechecks, acknowledgements, notes, assignments and snoozes. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { HANDLINGS, handlingDefinition } from '../../client/messages/handling.ts';
import { handlingMethod, portalMethod } from '../../client/messages/portal-action.ts';
import { fieldErrorsOf, invalidRequest } from '../../client/read-requests.ts';
import {
  acknowledgedSchema,
  handlingSchema,
  overrideAnswerSchema,
  portalAnswerSchema,
  redeliveryAnswerSchema,
  requestedSchema,
} from '../../contract/answers.ts';
import { hasCode } from '../../contract/errors.ts';
import { portalDefinition, portalOwnSchema } from '../../contract/portal/portal-actions.ts';
import { PORTAL_ACTIONS, type PortalActionKind } from '../../contract/portal/portal-kinds.ts';
import { OUR_WORDS, parsePortalFields } from '../../screening-service/index.ts';
import type { OrderScreening, PortalOptions } from '../../starter.ts';
import { hasScope, requireScope } from './callers.ts';
import { defineRoute, nothing, OF_AN_ORDER } from './define-route.ts';
import { whoAsks } from './metrics.ts';
import {
  acknowledgeBody,
  actionParams,
  actorHeaders,
  anyObject,
  auditedHeaders,
  eventParams,
  idempotencyHeaders,
  idempotencyKey,
  ifAction,
  noBody,
  orderParams,
  orderQuery,
  overrideBody,
} from './request-schemas.ts';

/** Error statuses of a redelivery. No 409: the order's state doesn't matter. */
const OF_AN_EVENT = [400, 401, 404, 413, 415, 422, 429, 502, 503] as const;
/** Error statuses of a withdrawal. No 504: a withdrawn action doesn't reach its time limit of a day. */
const OF_A_WITHDRAWAL = [...OF_AN_ORDER, 502] as const;
const OF_AN_ACTION = [...OF_A_WITHDRAWAL, 504] as const;

/** Adds the routes. 200: done; 202: still running. A repeat with the same `Idempotency-Key` gets the first answer. */
export function portalRoutes(app: FastifyInstance, orderScreening: OrderScreening): void {
  for (const kind of PORTAL_ACTIONS) actionRoute(app, kind, orderScreening);

  defineRoute(app, {
    ...at('actions/:number', 'Withdraw a queued or running portal action'),
    method: 'DELETE',
    params: actionParams,
    body: nothing,
    answers: { 200: portalAnswerSchema, 202: portalAnswerSchema },
    problems: OF_A_WITHDRAWAL,
    handle: async ({ params: { orderId, number }, query }, request, reply) =>
      answer(reply, await orderScreening.withdraw({ orderId, ...query }, { number }, readOptions(request))),
  });
  defineRoute(app, {
    ...at('override', 'Override the screening service: proceed or cancel, with a reason'),
    scope: 'ops',
    body: overrideBody,
    answers: { 200: overrideAnswerSchema },
    handle: async ({ params, query, body }, request) =>
      orderScreening.override({ ...params, ...query }, body, readOptions(request)),
  });
  defineRoute(app, {
    ...at('events/:sequence/redeliver', 'Resend an event with the same id and content'),
    params: eventParams,
    body: nothing,
    documentedBody: noBody,
    answers: { 200: redeliveryAnswerSchema, 202: redeliveryAnswerSchema },
    problems: OF_AN_EVENT,
    headers: actorHeaders,
    handle: async ({ params: { orderId, sequence }, query }, request, reply) =>
      answer(reply, await orderScreening.redeliver({ orderId, ...query }, { sequence }, whoAsks(request))),
  });
  defineRoute(app, {
    ...at('recheck', 'Read the decision from the screening service now, also after the order’s end'),
    body: nothing,
    documentedBody: noBody,
    answers: { 202: requestedSchema },
    headers: auditedHeaders,
    handle: async ({ params, query }, request, reply) => {
      // The order doesn't record who rechecks it. This call only rejects an invalid `X-Actor`.
      whoAsks(request);
      return reply.code(202).send(await orderScreening.recheck({ ...params, ...query }));
    },
  });
  defineRoute(app, {
    ...at('acknowledge', 'Clear what needs attention, with a reason'),
    body: acknowledgeBody,
    answers: { 200: acknowledgedSchema },
    handle: async ({ params, query, body }, request) =>
      orderScreening.acknowledge({ ...params, ...query }, body, readOptions(request)),
  });
  for (const kind of HANDLINGS) {
    const { summary, schema, example } = handlingDefinition(kind);
    defineRoute(app, {
      ...at(kind, summary),
      body: schema,
      documentedBody: schema.meta({ examples: [example] }),
      answers: { 200: handlingSchema },
      handle: async ({ params, query, body }, request) =>
        handlingMethod(orderScreening, kind)({ ...params, ...query }, body, readOptions(request)),
    });
  }
}

function actionRoute(app: FastifyInstance, kind: PortalActionKind, orderScreening: OrderScreening): void {
  const { path, summary, schema, example, inItsSpelling } = portalDefinition(kind);
  const send = portalMethod(orderScreening, kind);
  defineRoute(app, {
    ...at(path, summary),
    body: inItsSpelling ? anyObject : schema,
    documentedBody: schema.meta({ examples: [example] }),
    answers: { 200: portalAnswerSchema, 202: portalAnswerSchema },
    problems: OF_AN_ACTION,
    handle: async ({ params, query, body }, request, reply) => {
      const fields = inItsSpelling ? readFields(kind, body) : body;
      const how = { ...readOptions(request), ...(!hasScope(request, 'ops') && { orderRequired: true }) };
      try {
        return answer(reply, await send({ ...params, ...query }, fields, how));
      } catch (error) {
        // Without an order, the integration of a transaction is unknown.
        if (fields.transactionId !== undefined && hasCode(error, 'unknown-order', 'order-closed'))
          requireScope(request, 'ops');
        throw error;
      }
    },
  });
}

function at(name: string, summary: string) {
  return {
    method: 'POST',
    url: `/v1/orders/:orderId/${name}`,
    summary,
    tag: 'portal actions',
    scope: 'act',
    params: orderParams,
    query: orderQuery,
    headers: idempotencyHeaders,
    problems: OF_AN_ORDER,
  } as const;
}

function answer(reply: FastifyReply, body: { status: string }): FastifyReply {
  return reply.code(body.status === 'requested' ? 202 : 200).send(body);
}

function readOptions(request: FastifyRequest): PortalOptions {
  const read = <Schema extends z.ZodType>(name: string, schema: Schema) => {
    const { data, error } = schema.safeParse(request.headers[name.toLowerCase()], OUR_WORDS);
    if (error === undefined) return data;
    throw invalidRequest(fieldErrorsOf(error).map(({ message }) => ({ path: name, message })));
  };
  return {
    idempotencyKey: read('Idempotency-Key', idempotencyKey),
    ifAction: read('If-Action', ifAction),
    ...whoAsks(request),
  };
}

function readFields(kind: PortalActionKind, body: Record<string, unknown>): Record<string, unknown> {
  const schema = portalOwnSchema(kind);
  const isOwn = ([name, value]: [string, unknown]) => name in schema.shape && value !== undefined;
  const given = Object.entries(body);
  const own = schema.safeParse(Object.fromEntries(given.filter(isOwn)), OUR_WORDS);
  const parsed = parsePortalFields(kind, Object.fromEntries(given.filter((field) => !isOwn(field))));
  if (!own.success || !parsed.ok) {
    throw invalidRequest([...fieldErrorsOf(own.error), ...(parsed.ok ? [] : parsed.fieldErrors)]);
  }
  return { ...own.data, ...parsed.data };
}
