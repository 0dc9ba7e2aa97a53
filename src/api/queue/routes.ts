/** The operators' pages at `/`: access, the queue, each order and its actions. They contain no scripts. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { countDays, type Days } from '../../client/list-orders.ts';
import { LookUps } from '../../client/look-ups.ts';
import { csvOf } from '../../client/read-orders.ts';
import { checked, fieldErrorsOf } from '../../client/read-requests.ts';
import type { Scope } from '../../config/index.ts';
import { DEFAULT_INTEGRATION, type OrderKey } from '../../contract/ids.ts';
import type { FindIntegration } from '../../contract/policy.ts';
import type { Log } from '../../process/log.ts';
import { OUR_WORDS } from '../../screening/index.ts';
import type { OrderName, OrderScreening } from '../../starter.ts';
import {
  type Admission,
  hasScope,
  limitRequests,
  listedIntegrations,
  requireIntegration,
  requireKey,
} from '../callers.ts';
import { refuseCards } from '../define-route.ts';
import { whoAsks } from '../metrics.ts';
import { type SignIn, signInRoutes } from '../oidc.ts';
import { HttpError, logFailure, toProblem } from '../problems.ts';
import { fieldsOf, orderParams, orderQuery, queueQuery, transactionParams } from '../request-schemas.ts';
import { readTransaction } from '../transaction-routes.ts';
import {
  chosenIn,
  confirmPath,
  formOf,
  isAction,
  isNotice,
  NOTICES,
  PAGE_ACTIONS,
  perform,
  wordsOf,
} from './actions.ts';
import { confirmPage, resultsPage, severalPage, signedOutPage } from './confirm-page.ts';
import { type Now, orderPath, STYLE_PATH, type TemporalUi } from './layout.ts';
import { orderPage } from './order-page.ts';
import { answersAsPages, namedParams, sendPage } from './page-answers.ts';
import { csvName, DAYS_PICTURE_PATH, daysPage, daysPicture, queuePage } from './queue-page.ts';
import { countQueue, readQueue, unlessOurs } from './read-queue.ts';
import { requireOwnForm, signInOf } from './sign-in.ts';
import { transactionPage } from './transaction-page.ts';

export interface QueueOptions extends Admission {
  orderScreening: OrderScreening;
  /** As in `ApiOptions`. */
  findIntegration?: FindIntegration;
  /** The Temporal UI that the pages link to. Absent: no links. */
  temporalUi?: TemporalUi;
  log: Log;
  /** All configured integrations. The queue page searches for an order in each. */
  integrations?: readonly string[];
  /** Time zone of the pages. Default: UTC. */
  timeZone?: string;
  /** As in `ApiOptions`. */
  signIn?: SignIn;
}

const FORM_LIMIT = 16 * 1024;
/** How long the order's page and its confirmations wait for Temporal, in milliseconds. */
const INSPECT_WITHIN_MS = 3_000;
const STYLE_MAX_AGE_SECONDS = 300;
/** The last days cost Temporal 36 counts, so those who ask share them for so long, in milliseconds. */
const DAYS_KEPT_MS = 30_000;
/** By choice of integrations, which may be what a caller wrote. */
const MOST_DAYS_KEPT = 100;
/** The picture contains no personal data. A browser may cache it for five minutes, per key. */
const PICTURE_HEADERS = { 'cache-control': 'private, max-age=300', vary: 'authorization' };
const STYLE = readFileSync(new URL('./queue.css', import.meta.url), 'utf8');

const pageQuery = z.object({ ...orderQuery.shape, notice: z.unknown().optional() });
/** Adds the pages. Their requests are validated like the API's. */
export async function queueRoutes(app: FastifyInstance, options: QueueOptions): Promise<void> {
  app.get(STYLE_PATH, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/css').header('cache-control', `max-age=${STYLE_MAX_AGE_SECONDS}`).send(STYLE),
  );
  await app.register(async (scope) => pages(scope, options));
  const { signIn, log } = options;
  if (signIn === undefined) return;
  await app.register(async (scope) => {
    answersAsPages(scope, log);
    signInRoutes(scope, signIn, signedOutPage);
  });
}

async function pages(scope: FastifyInstance, options: QueueOptions): Promise<void> {
  const { orderScreening, apiKeys, maxRps, temporalUi, findIntegration, signIn, log } = options;
  answersAsPages(scope, log);
  scope.addHook('onRequest', async (request, reply) => {
    const { authorization } = request.headers;
    if (authorization !== undefined || signIn === undefined) {
      const { key, user } = signInOf(authorization ?? '');
      request.pageUser = user;
      await requireKey(request, apiKeys, key);
    } else if (!(await signIn.admits(request))) {
      if (request.method !== 'GET') throw new HttpError('unauthorized');
      return reply.redirect(`/sign-in?to=${encodeURIComponent(request.url)}`, 303);
    }
    if (request.method === 'POST') requireOwnForm(request);
  });
  await limitRequests(scope, { apiKeys, maxRps });
  refuseCards(scope, findIntegration);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    (_request, body, done) => done(null, fieldsOf(new URLSearchParams(String(body)))),
  );

  const now = (): Now => ({ ms: Date.now(), zone: options.timeZone ?? 'UTC' });

  /** Returns the validated query, and the integrations that it covers, limited to the API key's. */
  const queueOf = (request: FastifyRequest) => {
    const asked = checked(queueQuery, request.query);
    const of = listedIntegrations(request, asked.integration);
    const everywhere = asked.q !== undefined && of.integration === undefined;
    return { asked, of: everywhere ? { integrations: of.integrations ?? options.integrations } : of };
  };
  const days = new LookUps<Days>(DAYS_KEPT_MS, MOST_DAYS_KEPT);
  const daysOf = (request: FastifyRequest, at: Now) => {
    const { integration } = checked(orderQuery, request.query);
    const of = listedIntegrations(request, integration);
    return days.find(JSON.stringify(of), () => countDays(orderScreening, of, at.ms));
  };

  scope.post(
    '/sign-out',
    pageFor('read'),
    async (_request, reply) => signIn?.end(reply) ?? reply.redirect('/', 303),
  );

  scope.get('/', pageFor('read'), async (request, reply) => {
    const { asked, of } = queueOf(request);
    const at = now();
    const { orders, cursor } = await readQueue(orderScreening, { ...asked, ...of }, at.ms);
    const counts = await countQueue(orderScreening, of, at.ms);
    const continued = asked.cursor !== undefined;
    const several = hasScope(request, 'ops');
    const readable = of.integrations ?? [asked.integration ?? DEFAULT_INTEGRATION];
    const view = { ...asked, orders, counts, cursor, continued, readable, several };
    return sendPage(reply, queuePage(view, at));
  });

  scope.get('/queue.csv', pageFor('read'), async (request, reply) => {
    const { asked, of } = queueOf(request);
    const at = now();
    const file = await csvOf((cursor = asked.cursor) =>
      readQueue(orderScreening, { ...asked, ...of, cursor }, at.ms),
    );
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${csvName(at)}"`)
      .send(file);
  });

  scope.get('/days', pageFor('read'), async (request, reply) => {
    const at = now();
    return sendPage(reply, daysPage(await daysOf(request, at), at));
  });
  scope.get(DAYS_PICTURE_PATH, pageFor('read'), async (request, reply) => {
    const { markup } = daysPicture(await daysOf(request, now()));
    return reply.type('image/svg+xml').headers(PICTURE_HEADERS).send(markup);
  });

  scope.get('/orders/:orderId', pageFor('read'), async (request, reply) => {
    const { integration, notice } = checked(pageQuery, request.query);
    requireIntegration(request, integration);
    const order = await inspect({ ...checked(orderParams, request.params), integration }, 'full');
    const shown = {
      notice: isNotice(notice) ? notice : undefined,
      temporalUi,
      portalLink: findIntegration?.(order.summary.integration)?.portalLink,
      may: { act: hasScope(request, 'act'), ops: hasScope(request, 'ops') },
    };
    return sendPage(reply, orderPage(order, shown, now()));
  });

  scope.get('/transactions/:idOrInvoice', pageFor('read'), async (request, reply) => {
    const { integration } = checked(orderQuery, request.query);
    requireIntegration(request, integration);
    const { idOrInvoice } = checked(transactionParams, request.params);
    const status = await readTransaction(orderScreening, request, { idOrInvoice, integration });
    return sendPage(reply, transactionPage(status, now()));
  });

  for (const action of Object.keys(PAGE_ACTIONS).filter(isAction)) {
    const url = `/orders/:orderId/${confirmPath(action, ':number')}`;
    const route = pageFor(wordsOf(action).scope);
    scope.get(url, route, async (request, reply) => {
      const { number, ...order } = nameIn(request);
      return sendPage(reply, confirmPage(action, await inspect(order), now(), { number }));
    });
    scope.post(url, route, async (request, reply) => {
      const { number, ...order } = nameIn(request);
      const form = formOf(action).safeParse(request.body ?? {}, OUR_WORDS);
      if (!form.success) {
        const fieldErrors = fieldErrorsOf(form.error);
        return sendPage(
          reply.code(422),
          confirmPage(action, await inspect(order), now(), { fieldErrors, number }),
        );
      }
      const notice = await perform(orderScreening, action, order, { ...form.data, number }, whoAsks(request));
      const integration = order.integration ?? DEFAULT_INTEGRATION;
      return reply.redirect(orderPath({ ...order, integration }, undefined, notice), 303);
    });
  }

  scope.get('/several', pageFor('ops'), async (request, reply) => {
    const { action, chosen } = chosenBy(request, request.query);
    return sendPage(reply, severalPage(action, await inspectAll(chosen), now()));
  });
  scope.post('/several', pageFor('ops'), async (request, reply) => {
    const { action, chosen } = chosenBy(request, request.body);
    const form = formOf(action).safeParse(request.body, OUR_WORDS);
    if (!form.success) {
      const fieldErrors = fieldErrorsOf(form.error);
      return sendPage(reply.code(422), severalPage(action, await inspectAll(chosen), now(), fieldErrors));
    }
    const results = await Promise.all(
      chosen.map(async (order) => {
        try {
          const notice = await perform(orderScreening, action, order, form.data, whoAsks(request));
          return { order, done: true, words: NOTICES[notice] };
        } catch (error) {
          const { code, problem } = toProblem(error);
          if (problem.status === 500) logFailure(log, error, code, problem, request);
          return { order, done: false, words: problem.title };
        }
      }),
    );
    return sendPage(reply, resultsPage(action, results, now()));
  });

  function inspect(order: OrderName, view: 'record' | 'full' = 'record') {
    return orderScreening.inspect(order, { withinMs: INSPECT_WITHIN_MS, view });
  }

  function inspectAll(chosen: readonly OrderKey[]) {
    return Promise.all(
      chosen.map(async (order) => ({ ...order, inspected: await inspect(order).catch(unlessOurs) })),
    );
  }
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the integration of a selected order */
function chosenBy(request: FastifyRequest, given: unknown) {
  const { action, chosen } = chosenIn(given);
  for (const { integration } of chosen) requireIntegration(request, integration);
  return { action, chosen };
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the order's integration */
function nameIn(request: FastifyRequest) {
  const order = {
    number: undefined,
    ...checked(namedParams, request.params),
    ...checked(orderQuery, request.query),
  };
  requireIntegration(request, order.integration);
  return order;
}

/** Route options of a page or its form, with the scope that a key needs. */
function pageFor(scope: Scope) {
  return { schema: { hide: true }, config: { scope } } as const;
}
