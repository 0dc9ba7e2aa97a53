/** The routes of an order's page, of its actions, and of actions on several orders. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cardDataIn } from '../../card-data/card-data.ts';
import { checked, fieldErrorsOf } from '../../client/read-requests.ts';
import { DEFAULT_INTEGRATION, type OrderKey, orderWorkflowId } from '../../contract/ids.ts';
import { isUnderWay } from '../../order/portal/portal-requests.ts';
import { OUR_WORDS } from '../../screening-service/index.ts';
import type { OrderName } from '../../starter.ts';
import { hasScope, requireIntegration } from '../api/callers.ts';
import { whoAsks } from '../api/metrics.ts';
import { logFailure, toProblem } from '../api/problems.ts';
import { actionParams, orderParams, orderQuery, pageQuery, queueQuery } from '../api/request-schemas.ts';
import { type Filters, type From, listPath, listQuery, orderPath, TAB_NAMES } from './addresses.ts';
import { html } from './html.ts';
import { confirmPath, isAction, PAGE_ACTIONS, wordsOf } from './order/action-words.ts';
import { chosenIn, formOf, howOf, isNotice, NOTICES, performSoon, unlessOurs } from './order/actions.ts';
import {
  type Again,
  confirmPage,
  notAccepted,
  type Result,
  resultsPage,
  severalPage,
} from './order/confirm-page.ts';
import { type Back, finishedBox, runningBoxes } from './order/order-aside.ts';
import { orderPage } from './order/order-page.ts';
import { type Pages, pageFor, sendPage } from './page-route.ts';
import { filtered, type Snapshot } from './queue/queue-list.ts';
import { ROWS } from './queue/queue-page.ts';

/** How long the order's page and its confirmations wait for Temporal, in milliseconds. */
const INSPECT_WITHIN_MS = 3_000;

export function actionRoutes(scope: FastifyInstance, { options, store, now, allowed, frame }: Pages): void {
  const { orderScreening, temporalUi, findIntegration, log } = options;
  const inspect = (order: OrderName, view: 'record' | 'full' = 'record') =>
    orderScreening.inspect(order, { withinMs: INSPECT_WITHIN_MS, view });
  const inspectAll = (chosen: readonly OrderKey[]) =>
    Promise.all(
      chosen.map(async (order) => ({ ...order, inspected: await inspect(order).catch(unlessOurs) })),
    );
  const mayOf = (request: FastifyRequest) => ({
    act: hasScope(request, 'act'),
    ops: hasScope(request, 'ops'),
  });
  const failing = (request: FastifyRequest) => (error: unknown) => {
    const { code, problem } = toProblem(error);
    logFailure(log, error, code, problem, request);
  };

  scope.get('/orders/:orderId', pageFor('read'), async (request, reply) => {
    const { notice, ...from } = checked(pageQuery, request.query);
    const { number: _none, ...order } = nameIn(request);
    const standing = await store.standing(allowed(request));
    const inspected = await inspect(order, 'full');
    const policy = findIntegration?.(inspected.summary.integration);
    const view = {
      notice: isNotice(notice) ? notice : undefined,
      temporalUi,
      portalLink: policy?.portalLink,
      shopLink: policy?.shopLink,
      may: mayOf(request),
      back: backOf(from, standing.queue, inspected.summary),
    };
    return sendPage(reply, orderPage(inspected, view, await frame(request, standing)));
  });

  scope.get('/orders/:orderId/running', pageFor('read'), async (request, reply) => {
    const { from, pos } = checked(pageQuery, request.query);
    const { number: _none, ...order } = nameIn(request);
    const inspected = await inspect(order);
    const back = backOf({ from, pos }, undefined, inspected.summary);
    const runs = inspected.state?.actions.some(isUnderWay) ?? false;
    const boxes = runs
      ? runningBoxes(inspected, mayOf(request).act, back, now())
      : finishedBox(inspected, back);
    return sendPage(reply, html`${boxes}`.markup);
  });

  for (const action of Object.keys(PAGE_ACTIONS).filter(isAction)) {
    const url = `/orders/:orderId/${confirmPath(action, ':number')}`;
    const route = pageFor(wordsOf(action).scope);
    // The address of a failed form, opened again.
    scope.get(url, route, async (request, reply) =>
      reply.redirect(orderPath(keyOf(nameIn(request)), undefined, checked(fromQuery, request.query)), 303),
    );
    scope.post(url, route, async (request, reply) => {
      const { number, ...order } = nameIn(request);
      const { from, pos } = checked(pageQuery, request.query);
      const form = formOf(action).safeParse(request.body ?? {}, OUR_WORDS);
      const typed = typedFields.parse(request.body);
      const refused = async (status: number, why: Partial<Again>) => {
        const again = { number, from, pos, typed, ...why };
        return sendPage(reply.code(status), confirmPage(action, keyOf(order), again, await frame(request)));
      };
      if (!form.success) return refused(422, { problem: notAccepted(fieldErrorsOf(form.error)) });
      const asked = { ...form.data, number };
      try {
        const how = howOf(whoAsks(request), asked);
        const { notice } = await performSoon(orderScreening, action, order, [asked, how], failing(request));
        store.forget();
        return reply.redirect(orderPath(keyOf(order), undefined, { notice, from, pos }), 303);
      } catch (error) {
        const { code, problem } = toProblem(error);
        // What was typed is kept, unless it is card data.
        if (problem.status === 500 || code === 'card-data-in-request') throw error;
        reply.problemCode = code;
        logFailure(log, error, code, problem, request);
        return refused(problem.status, { problem });
      }
    });
  }

  scope.get('/several', pageFor('ops'), async (request, reply) => {
    const { selection, chosen } = chosenBy(request, request.query);
    return sendPage(reply, severalPage(selection, await inspectAll(chosen), await frame(request)));
  });
  scope.post('/several', pageFor('ops'), async (request, reply) => {
    const { selection, chosen } = chosenBy(request, request.body);
    const { action } = selection;
    const form = formOf(action).safeParse(request.body, OUR_WORDS);
    if (!form.success) {
      const problem = notAccepted(fieldErrorsOf(form.error));
      const page = severalPage(selection, await inspectAll(chosen), await frame(request), problem);
      return sendPage(reply.code(422), page);
    }
    const results = await Promise.all(
      chosen.map(async (order): Promise<Result> => {
        try {
          const how = howOf(whoAsks(request), form.data);
          const done = await performSoon(orderScreening, action, order, [form.data, how], failing(request));
          return { order, outcome: done.unchanged ? 'unchanged' : 'done', words: NOTICES[done.notice] };
        } catch (error) {
          const { code, problem } = toProblem(error);
          if (problem.status === 500) logFailure(log, error, code, problem, request);
          return { order, outcome: 'failed', words: problem.title };
        }
      }),
    );
    store.forget();
    return sendPage(reply, resultsPage(selection, results, await frame(request)));
  });
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the integration of a selected order */
function chosenBy(request: FastifyRequest, given: unknown) {
  const { action, chosen, from } = chosenIn(given);
  request.workflowIds = chosen.map(({ integration, orderId }) => orderWorkflowId(integration, orderId));
  for (const { integration } of chosen) requireIntegration(request, integration);
  const { filters, ...place } = listIn(from);
  return { selection: { action, from, back: listPath(filters, place) }, chosen };
}

const WHOLE_QUEUE = { filters: { list: 'all' }, page: 1, cursor: undefined } as const;

/** The filters and the page of a list's query; an invalid one is the whole queue. */
function listIn(from: string | undefined): { filters: Filters; page: number; cursor?: string | undefined } {
  const given = Object.fromEntries(new URLSearchParams(from ?? ''));
  return queueQuery.safeParse(given).data ?? WHOLE_QUEUE;
}

/** @returns the way back to the list, and to the orders before and after this one as the list is now */
function backOf({ from, pos }: From, queue: Snapshot | undefined, order: OrderKey): Back {
  const { filters, page, cursor } = listIn(from);
  const name = filters.q === undefined ? TAB_NAMES[filters.list] : 'Search';
  const place = { page: pos === undefined ? page : Math.ceil(pos / ROWS), cursor };
  const back = { from, pos, path: listPath(filters, place), name };
  if (from === undefined || pos === undefined || queue === undefined) return back;
  const entries = filtered(queue.entries, filters);
  const at = entries.findIndex(
    ({ summary }) => summary.orderId === order.orderId && summary.integration === order.integration,
  );
  // An order that has left the list had its place before the one that is there now.
  const [before, after] = at >= 0 ? [at - 1, at + 1] : [pos - 2, pos - 1];
  const pathOf = (index: number) => {
    const summary = entries[index]?.summary;
    return summary && orderPath(summary, undefined, { from: listQuery(filters), pos: index + 1 });
  };
  const found = at >= 0 ? { pos: at + 1, total: entries.length } : { pos: undefined };
  return { ...back, ...found, previous: pathOf(before), next: pathOf(after) };
}

/** The order, and the number of the portal action or event if the path has one. */
const namedParams = orderParams.extend({ number: actionParams.shape.number.optional() });

/** @throws OrderScreeningError `other-integration` when the key isn't for the order's integration */
function nameIn(request: FastifyRequest) {
  const { integration } = checked(pageQuery, request.query);
  const order = { number: undefined, ...checked(namedParams, request.params), integration };
  requireIntegration(request, integration);
  return order;
}

function keyOf({ orderId, integration = DEFAULT_INTEGRATION }: OrderName): OrderKey {
  return { orderId, integration };
}

const fromQuery = pageQuery.pick({ from: true, pos: true });

const text = z.string().optional().catch(undefined);
/** The fields of a form as they were typed. */
const typedFields = z.object({ reason: text, hours: text, assignee: text, once: text }).catch({});

/** @returns the path of the order's page after a failed action on an order, otherwise the queue's */
export function wayBack({ method, params, query }: FastifyRequest): string {
  const name = namedParams.safeParse(params);
  const where = orderQuery.partial().loose().safeParse(query);
  if (method !== 'POST' || !name.success || !where.success) return '/';
  if (cardDataIn([name.data, where.data]).length > 0) return '/';
  const { integration = DEFAULT_INTEGRATION } = where.data;
  return orderPath({ orderId: name.data.orderId, integration });
}
