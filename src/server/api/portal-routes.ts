/** Routes for portal actions, withdrawals, overrides, redeliveries, rechecks, acknowledgements, notes, assignments and snoozes. */
import type { FastifyInstance } from 'fastify';
import { handlingMethod, portalMethod } from '../../client/messages/portal-action.ts';
import {
  acknowledgedSchema,
  handlingSchema,
  overrideAnswerSchema,
  portalAnswerSchema,
  redeliveryAnswerSchema,
  requestedSchema,
} from '../../contract/answers.ts';
import { hasCode } from '../../contract/errors.ts';
import {
  acknowledgeSchema,
  HANDLINGS,
  handlingDefinition,
  overrideSchema,
} from '../../contract/order/requests.ts';
import { portalDefinition } from '../../contract/portal/portal-actions.ts';
import { contentOf, PORTAL_ACTIONS, type PortalActionKind } from '../../contract/portal/portal-kinds.ts';
import type { OrderScreening } from '../../starter.ts';
import { hasScope, requireScope } from './callers.ts';
import { defineRoute, nothing, OF_AN_ORDER } from './define-route.ts';
import {
  actionParams,
  actorHeaders,
  anyObject,
  auditedHeaders,
  eventParams,
  idempotencyHeaders,
  orderParams,
  orderQuery,
} from './request-schemas.ts';

/** Error statuses of a redelivery. No 409: the order's state doesn't matter. */
const OF_AN_EVENT = [400, 401, 404, 413, 415, 422, 429, 502, 503] as const;
/** Error statuses of a withdrawal. No 504: a withdrawn action doesn't reach its time limit of a day. */
const OF_A_WITHDRAWAL = [...OF_AN_ORDER, 502] as const;
const OF_AN_ACTION = [...OF_A_WITHDRAWAL, 504] as const;

/** Adds the routes. A repeat with the same `Idempotency-Key` gets the first answer. */
export function portalRoutes(app: FastifyInstance, orderScreening: OrderScreening): void {
  for (const kind of PORTAL_ACTIONS) actionRoute(app, kind, orderScreening);

  defineRoute(app, {
    ...at('actions/:number', 'Withdraw a queued or running portal action'),
    method: 'DELETE',
    params: actionParams,
    body: nothing,
    answers: { 200: portalAnswerSchema, 202: portalAnswerSchema },
    problems: OF_A_WITHDRAWAL,
    handle: ({ asked: { number, ...order }, how }) => orderScreening.withdraw(order, { number }, how),
  });
  defineRoute(app, {
    ...at('override', 'Override the screening service: proceed or cancel, with a reason'),
    scope: 'ops',
    body: overrideSchema.meta({
      examples: [{ action: 'proceed', reason: 'the customer showed the card' }],
    }),
    answers: { 200: overrideAnswerSchema },
    handle: ({ asked, body, how }) => orderScreening.override(asked, body, how),
  });
  defineRoute(app, {
    ...at('events/:sequence/redeliver', 'Resend an event with the same id and content'),
    params: eventParams,
    body: nothing,
    answers: { 200: redeliveryAnswerSchema, 202: redeliveryAnswerSchema },
    problems: OF_AN_EVENT,
    headers: actorHeaders,
    handle: ({ asked: { sequence, ...order }, how }) => orderScreening.redeliver(order, { sequence }, how),
  });
  defineRoute(app, {
    ...at('recheck', 'Read the decision from the screening service now, also after the order’s end'),
    body: nothing,
    answers: { 202: requestedSchema },
    headers: auditedHeaders,
    // The order doesn't record who rechecks it.
    handle: ({ asked }) => orderScreening.recheck(asked),
  });
  defineRoute(app, {
    ...at('acknowledge', 'Clear what needs attention, with a reason'),
    body: acknowledgeSchema.meta({ examples: [{ reason: 'called the customer' }] }),
    answers: { 200: acknowledgedSchema },
    handle: ({ asked, body, how }) => orderScreening.acknowledge(asked, body, how),
  });
  for (const kind of HANDLINGS) {
    const { summary, schema, example } = handlingDefinition(kind);
    defineRoute(app, {
      ...at(kind, summary),
      body: schema.meta({ examples: [example] }),
      answers: { 200: handlingSchema },
      handle: ({ asked, body, how }) => handlingMethod(orderScreening, kind)(asked, body, how),
    });
  }
}

function actionRoute(app: FastifyInstance, kind: PortalActionKind, orderScreening: OrderScreening): void {
  const { path, summary, schema, example } = portalDefinition(kind);
  defineRoute(app, {
    ...at(path, summary),
    // The library checks what the screening service gets, which may be in either of its spellings.
    body: contentOf(kind).length > 0 ? anyObject : schema,
    documentedBody: schema.meta({ examples: [example] }),
    answers: { 200: portalAnswerSchema, 202: portalAnswerSchema },
    problems: OF_AN_ACTION,
    handle: async ({ asked, body, how, request }) => {
      const options = hasScope(request, 'ops') ? how : { ...how, orderRequired: true };
      try {
        return await portalMethod(orderScreening, kind)(asked, body, options);
      } catch (error) {
        // Without an order, the integration of a transaction is unknown.
        if (body.transactionId !== undefined && hasCode(error, 'unknown-order', 'order-closed'))
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
