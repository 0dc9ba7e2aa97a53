/** The review pages at `/`: access, the queue, the wall, the days, and what they load. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countDays } from '../../client/lists/list-orders.ts';
import { LookUps } from '../../client/lists/look-ups.ts';
import { checked } from '../../client/read-requests.ts';
import { csvOf } from '../../client/reading/read-orders.ts';
import { SIGNED_IN } from '../../config/index.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { instant } from '../../contract/words.ts';
import {
  hasScope,
  limitRequests,
  listedIntegrations,
  requireIntegration,
  requireKey,
} from '../api/callers.ts';
import { refuseCards } from '../api/define-route.ts';
import { SIGNED_OUT, signInRoutes } from '../api/oidc.ts';
import { HttpError } from '../api/problems.ts';
import { fieldsOf, orderQuery, queueQuery, transactionParams } from '../api/request-schemas.ts';
import { readTransaction } from '../api/transaction-routes.ts';
import { actionRoutes } from './action-routes.ts';
import type { Filters } from './addresses.ts';
import { SCRIPT_PATH, STYLE_PATH } from './layout.ts';
import { signedOutPage } from './order/confirm-page.ts';
import { transactionPage } from './order/transaction-page.ts';
import { answersAsPages } from './page-answers.ts';
import { type Pages, pageFor, type QueueOptions, sendPage } from './page-route.ts';
import { type Counted, daysPage } from './queue/days-page.ts';
import { entryOf, filtered } from './queue/queue-list.ts';
import { newsLink, queuePage, ROWS } from './queue/queue-page.ts';
import { REFUSED_PATH, refusedPage } from './queue/refused-page.ts';
import { wallPage } from './queue/wall-page.ts';
import { QueueStore } from './queue-store.ts';
import { requireOwnForm, signInOf } from './sign-in.ts';
import { dayStarts, type Now } from './words.ts';

const FORM_LIMIT = 16 * 1024;
const FILE_MAX_AGE_SECONDS = 300;
const SHOWN_DAYS = 7;
/** The last days cost Temporal 49 counts and their statistics 6 calls, so those who ask share them for so long, in milliseconds. */
const DAYS_KEPT_MS = 30_000;
/** By choice of integrations, which may be what a caller wrote. */
const MOST_DAYS_KEPT = 100;
const FILES = {
  [STYLE_PATH]: ['text/css', readFileSync(new URL('./queue.css', import.meta.url), 'utf8')],
  [SCRIPT_PATH]: ['text/javascript', readFileSync(new URL('./queue.js', import.meta.url), 'utf8')],
} as const;

/** Adds the pages. Their requests are validated like the API's. */
export async function queueRoutes(app: FastifyInstance, options: QueueOptions): Promise<void> {
  for (const [path, [type, text]] of Object.entries(FILES)) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).header('cache-control', `max-age=${FILE_MAX_AGE_SECONDS}`).send(text),
    );
  }
  const { integrations, orderScreening, timeZone: zone = 'UTC' } = options;
  const store = new QueueStore(orderScreening);
  const now = () => ({ ms: Date.now(), zone });
  const allowed = (request: FastifyRequest) => listedIntegrations(request, undefined);
  const frame: Pages['frame'] = async (request, standing, at = now()) => {
    const { parts } = standing ?? (await store.standing(allowed(request)));
    return { now: at, parts, who: request.pageUser, signedIn: request.apiKey?.name === SIGNED_IN };
  };
  const pages = { options, store, now, allowed, frame };
  await app.register(async (scope) => {
    await setUp(scope, options);
    listRoutes(scope, pages, integrations);
    actionRoutes(scope, pages);
  });
  const { signIn } = options;
  if (signIn === undefined) return;
  await app.register(async (scope) => {
    answersAsPages(scope, options);
    signInRoutes(scope, signIn);
    scope.get(SIGNED_OUT, { schema: { hide: true } }, async (_request, reply) =>
      sendPage(reply, signedOutPage()),
    );
  });
}

/** Access, forms and error pages. */
async function setUp(scope: FastifyInstance, options: QueueOptions): Promise<void> {
  const { apiKeys, maxRps, findIntegration, signIn } = options;
  answersAsPages(scope, options);
  scope.addHook('onRequest', async (request, reply) => {
    const { authorization } = request.headers;
    if (authorization !== undefined || signIn === undefined) {
      const { key, user } = signInOf(authorization ?? '');
      await requireKey(request, apiKeys, key);
      // Some type the key in both places. The order's journal and the audit log would keep it.
      request.pageUser = user === key ? '' : user;
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
}

function listRoutes(
  scope: FastifyInstance,
  { options, store, now, allowed, frame }: Pages,
  integrations: readonly string[] | undefined,
): void {
  const { orderScreening } = options;
  const storesOf = (request: FastifyRequest): readonly string[] =>
    allowed(request).integrations ?? integrations ?? [DEFAULT_INTEGRATION];

  /** A search or the list of every order, which visibility answers, newest first. */
  async function found(request: FastifyRequest, filters: Filters, cursor: string | undefined) {
    const { q, integration, decision, phase, amountFrom, amountTo } = filters;
    const of = listedIntegrations(request, integration);
    const everywhere = q !== undefined && of.integration === undefined ? storesOf(request) : of.integrations;
    return orderScreening.rows({
      ...of,
      ...(everywhere && { integrations: everywhere }),
      find: q,
      ...(q === undefined && { decision, phase, amount: { from: amountFrom, until: amountTo } }),
      cursor,
      limit: ROWS,
    });
  }

  scope.post('/sign-out', pageFor('read'), async (_request, reply) =>
    options.signIn === undefined ? reply.redirect('/', 303) : options.signIn.end(reply),
  );

  scope.get('/', pageFor('read', true), async (request, reply) => {
    const { filters, page, cursor, select, wall } = checked(queueQuery, request.query);
    requireListed(request, filters);
    const at = now();
    const standing = await store.standing(allowed(request));
    if (wall) return sendPage(reply, wallPage(standing, filters, at));
    const queue = standing.queue ?? (await store.queue(allowed(request)));
    const list = filters.list === 'every' ? await found(request, filters, cursor) : undefined;
    const entries = list?.orders.map((order) => entryOf(order, at.ms)) ?? filtered(queue.entries, filters);
    const view = {
      ...{ filters, queue, entries, page, cursor, next: list?.cursor, selected: select === 'all' },
      stores: storesOf(request),
      several: hasScope(request, 'ops'),
      refused: options.refused.of(allowed(request).integrations).length,
    };
    return sendPage(reply, queuePage(view, await frame(request, standing, at)));
  });

  scope.get(REFUSED_PATH, pageFor('read'), async (request, reply) => {
    const refused = options.refused.of(allowed(request).integrations);
    return sendPage(reply, refusedPage(refused, await frame(request)));
  });

  scope.get('/news', pageFor('read'), async (request, reply) => {
    const { filters, page, seen = '' } = checked(queueQuery, request.query);
    requireListed(request, filters);
    const { entries } = await store.queue(allowed(request));
    return sendPage(reply, newsLink(filters, page, entries, seen));
  });

  scope.get('/queue.csv', pageFor('read', true), async (request, reply) => {
    const { filters } = checked(queueQuery, request.query);
    requireListed(request, filters);
    const file = await csvOf(async (cursor) => {
      if (filters.list !== 'every') {
        const { entries } = await store.queue(allowed(request));
        return { orders: filtered(entries, filters).map(({ summary }) => summary) };
      }
      const { orders, ...place } = await found(request, filters, cursor);
      return { orders: orders.map(({ summary }) => summary), ...place };
    });
    return reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${csvName(now())}"`)
      .send(file);
  });

  const days = new LookUps<Counted>(DAYS_KEPT_MS, MOST_DAYS_KEPT);
  scope.get('/days', pageFor('read', true), async (request, reply) => {
    const { filters } = checked(queueQuery, request.query);
    const of = listedIntegrations(request, filters.integration);
    const at = now();
    const starts = dayStarts(SHOWN_DAYS, at);
    const stores = storesOf(request);
    const { integration } = filters;
    const counted = await days.find(JSON.stringify([of, starts[0]]), async () => ({
      days: await countDays(orderScreening, of, starts),
      statistics: await orderScreening.statistics(
        integration === undefined ? stores : [integration],
        starts.at(-1) ?? instant(at.ms),
      ),
    }));
    const standing = await store.standing(allowed(request));
    const view = { ...counted, queue: standing.queue, integration, stores };
    return sendPage(reply, daysPage(view, await frame(request, standing, at)));
  });

  scope.get('/transactions/:idOrInvoice', pageFor('read'), async (request, reply) => {
    const { integration } = checked(orderQuery, request.query);
    requireIntegration(request, integration);
    const { idOrInvoice } = checked(transactionParams, request.params);
    const status = await readTransaction(orderScreening, request, { idOrInvoice, integration });
    return sendPage(reply, transactionPage(status, await frame(request)));
  });
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the chosen store */
function requireListed(request: FastifyRequest, { integration }: Filters): void {
  if (integration !== undefined) requireIntegration(request, integration);
}

/** @returns the name of the CSV file */
function csvName(now: Now): string {
  return `orders-${instant(now.ms).slice(0, 16).replace(':', '')}.csv`;
}
