/** The routes of an order's page, of its actions, and of actions on several orders. */
import type { FastifyRequest } from 'fastify';
import { checked, fieldErrorsOf, invalidRequest } from '../../client/read-requests.ts';
import { DEFAULT_INTEGRATION, type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import { OUR_WORDS } from '../../screening-service/index.ts';
import { hasScope, requireIntegration } from '../api/callers.ts';
import { whoAsks } from '../api/metrics.ts';
import { logFailure, toProblem } from '../api/problems.ts';
import { actionParams, orderParams, pageQuery } from '../api/request-schemas.ts';
import { listPath, orderPath } from './addresses.ts';
import { html } from './html.ts';
import { confirmPage, resultsPage, seenOf, selectionSchema, severalPage } from './order/action-forms.ts';
import {
  actionPath,
  formOf,
  NOTICES,
  PAGE_ACTIONS,
  type PageAction,
  perform,
  typedFields,
} from './order/actions.ts';
import { finishedBox, listIn, orderPage, placeOf, runningBoxes } from './order/order-page.ts';
import { type Pages, pageFor, sendHtml } from './pages.ts';
import { unlessOurs } from './queue-store.ts';

/** How long the order's page and its confirmations wait for Temporal, in milliseconds. */
const INSPECT_WITHIN_MS = 3_000;

export function actionRoutes({ scope, options, store, now, get, send }: Pages): void {
  const { orderScreening, temporalUi, findIntegration, log } = options;
  const inspect = (order: OrderKey, view: 'record' | 'full' = 'record') =>
    orderScreening.inspect(order, { withinMs: INSPECT_WITHIN_MS, view });
  const inspectAll = (chosen: readonly OrderKey[]) =>
    Promise.all(chosen.map(async (order) => ({ order, found: await inspect(order).catch(unlessOurs) })));
  const may = (request: FastifyRequest) => ({ act: hasScope(request, 'act'), ops: hasScope(request, 'ops') });
  const note = (request: FastifyRequest) => (error: unknown) => {
    const { code, problem } = toProblem(error);
    logFailure(log, error, code, problem, request);
  };

  get('/orders/:orderId', 'read', async (request, { standing, now }) => {
    const { order, notice, place } = orderIn(request);
    const inspected = await inspect(order, 'full');
    const { portalLink, shopLink } = findIntegration?.(order.integration) ?? {};
    return orderPage({
      ...{ ...inspected, now, temporalUi, portalLink, shopLink, may: may(request) },
      notice: Object.entries(NOTICES).find(([name]) => name === notice)?.[1],
      ...placeOf(place, standing.queue, order),
    });
  });

  scope.get('/orders/:orderId/running', pageFor('read'), async (request, reply) => {
    const { order, place } = orderIn(request);
    const view = { ...(await inspect(order)), now: now(), may: may(request), place };
    return sendHtml(reply, html`${runningBoxes(view) ?? finishedBox(view)}`.markup);
  });

  for (const action of Object.keys(PAGE_ACTIONS) as PageAction[]) {
    const url = `/orders/:orderId/${actionPath(action, ':number')}`;
    // The address of a failed form, opened again, also by a person who may no longer send it.
    scope.get(url, pageFor('read'), async (request, reply) => {
      const { order, place } = orderIn(request);
      return reply.redirect(orderPath(order, undefined, place), 303);
    });
    scope.post(url, pageFor(PAGE_ACTIONS[action].scope ?? 'act'), async (request, reply) => {
      const { order, number, place } = orderIn(request);
      try {
        const asked = { ...checked(formOf(action), request.body ?? {}), number };
        const notice = await perform(orderScreening, action, order, asked, whoAsks(request), note(request));
        store.forget();
        return reply.redirect(orderPath(order, undefined, { notice, ...place }), 303);
      } catch (error) {
        const { code, problem } = toProblem(error);
        // What was typed is kept, unless it is card data.
        if (problem.status === 500 || code === 'card-data-in-request') throw error;
        reply.code(problem.status).problemCode = code;
        note(request)(error);
        const typed = typedFields.parse(request.body);
        // The order would answer the same key with the same refusal.
        if (problem.status !== 503) delete typed.once;
        if (code === 'order-changed') Object.assign(typed, seenOf((await inspect(order)).state));
        const again = { problem, typed, number, place };
        return send(request, reply, (_, { now }) => confirmPage(action, order, again, now));
      }
    });
  }

  get('/several', 'ops', async (request, { now }) => {
    const selection = selectionIn(request, request.query);
    return severalPage(selection, await inspectAll(selection.chosen), now);
  });
  scope.post('/several', pageFor('ops'), async (request, reply) => {
    const selection = selectionIn(request, request.body);
    const { action, chosen } = selection;
    const form = formOf(action).safeParse(request.body, OUR_WORDS);
    if (!form.success) {
      const { problem } = toProblem(invalidRequest(fieldErrorsOf(form.error)));
      const again = { problem, typed: typedFields.parse(request.body) };
      const orders = await inspectAll(chosen);
      return send(request, reply.code(422), (_, { now }) => severalPage(selection, orders, now, again));
    }
    const results = await Promise.all(
      chosen.map(async ({ ifAction, until, ...order }) => {
        try {
          const asked = { ...form.data, ifAction, until };
          const notice = await perform(orderScreening, action, order, asked, whoAsks(request), note(request));
          const isSame = notice === 'nothing-to-resolve';
          return { order, outcome: isSame ? 'nothing to do' : 'done', words: NOTICES[notice] } as const;
        } catch (error) {
          const { problem } = toProblem(error);
          if (problem.status === 500) note(request)(error);
          return { order, outcome: 'not done', words: problem.detail } as const;
        }
      }),
    );
    store.forget();
    return send(request, reply, () => resultsPage(selection, results));
  });
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the integration of a selected order */
function selectionIn(request: FastifyRequest, given: unknown) {
  const selection = checked(selectionSchema, given);
  const { chosen, from } = selection;
  request.workflowIds = chosen.map(({ integration, orderId }) => orderWorkflowId(integration, orderId));
  for (const { integration } of chosen) requireIntegration(request, integration);
  const { filters, page, cursor } = listIn(from);
  return { ...selection, back: listPath(filters, { page, cursor }) };
}

/** The order, and the number of the portal action or event if the path has one. */
const namedParams = orderParams.extend({ number: actionParams.shape.number.optional() });

/** @throws OrderScreeningError `other-integration` when the key isn't for the order's integration */
function orderIn(request: FastifyRequest) {
  const { orderId, number } = checked(namedParams, request.params);
  const { integration = DEFAULT_INTEGRATION, notice, ...place } = checked(pageQuery, request.query);
  requireIntegration(request, integration);
  return { order: { orderId, integration }, number, notice, place };
}
