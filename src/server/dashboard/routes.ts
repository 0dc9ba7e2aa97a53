/** The review pages at `/`: access, the queue, the wall, the days, and what they load. */
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countDays } from '../../client/lists/count-orders.ts';
import { LookUps } from '../../client/lists/look-ups.ts';
import { checked } from '../../client/read-requests.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { instant } from '../../contract/words.ts';
import { hasScope, listedIntegrations, requireIntegration } from '../api/callers.ts';
import { CALLBACK, SIGN_OUT, SIGNED_OUT } from '../api/oidc.ts';
import { readTransaction } from '../api/order-routes.ts';
import { csvOf } from '../api/orders-csv.ts';
import { orderQuery, queueQuery, transactionParams } from '../api/request-schemas.ts';
import { actionRoutes } from './action-routes.ts';
import type { Filters } from './addresses.ts';
import { REFUSED_PATH, refusedPage, transactionPage } from './card-pages.ts';
import { html } from './html.ts';
import { cardPage, document, SCRIPT_PATH, STYLE_PATH } from './layout.ts';
import type { Moment, PageOptions, Pages } from './pages.ts';
import { admitPeople, answersAsPages, createPages, pageFor, sendHtml } from './pages.ts';
import { type DaysView, daysPage } from './queue/days-page.ts';
import { entryOf, filtered } from './queue/queue-list.ts';
import { newsLink, queuePage, ROWS } from './queue/queue-page.ts';
import { wallPage } from './queue/wall-page.ts';
import { dayStarts } from './words.ts';

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
export async function queueRoutes(app: FastifyInstance, options: PageOptions): Promise<void> {
  for (const [path, [type, text]] of Object.entries(FILES)) {
    app.get(path, { schema: { hide: true } }, async (_request, reply) =>
      reply.type(type).header('cache-control', `max-age=${FILE_MAX_AGE_SECONDS}`).send(text),
    );
  }
  await app.register(async (scope) => {
    answersAsPages(scope, options);
    await admitPeople(scope, options);
    const pages = createPages(scope, options);
    listRoutes(pages);
    actionRoutes(pages);
  });
  const { signIn } = options;
  if (signIn === undefined) return;
  await app.register(async (scope) => {
    answersAsPages(scope, options);
    const hidden = { schema: { hide: true } };
    scope.get('/sign-in', hidden, async (request, reply) => {
      const address = await signIn.begin(request, reply);
      // Browsers block a redirect of a form, such as the search, to a different origin than its page allows.
      const link = html`<p><a href="${address}">Continue to the sign-in provider</a></p>`;
      return sendHtml(reply.header('refresh', `0;url=${address}`), document(cardPage('Signing in', link)));
    });
    scope.get(CALLBACK, hidden, async (request, reply) => signIn.finish(request, reply));
    scope.get(SIGNED_OUT, hidden, async (_request, reply) =>
      sendHtml(reply, document(cardPage('You are signed out', html`<p><a href="/">Sign in again</a></p>`))),
    );
  });
}

function listRoutes({ scope, options, store, allowed, get }: Pages): void {
  const { orderScreening, integrations, refused, signIn } = options;
  const storesOf = (request: FastifyRequest): readonly string[] =>
    allowed(request).integrations ?? integrations ?? [DEFAULT_INTEGRATION];

  /** A search or the list of every order, which visibility answers, newest first. */
  async function found(request: FastifyRequest, filters: Filters, cursor: string | undefined) {
    const { q, integration, decision, phase, amountFrom, amountTo } = filters;
    const of = listedIntegrations(request, integration);
    const integrations = q !== undefined && integration === undefined ? storesOf(request) : of.integrations;
    const amount = q === undefined ? { from: amountFrom, until: amountTo } : undefined;
    const asked = { find: q, decision, phase, amount, cursor, limit: ROWS };
    return orderScreening.rows({ ...of, integrations, ...asked });
  }

  scope.post(SIGN_OUT, pageFor('read'), async (_request, reply) =>
    signIn === undefined ? reply.redirect('/', 303) : signIn.end(reply),
  );

  const list = async (request: FastifyRequest, { now, of, standing }: Moment) => {
    const { filters, page, cursor, select, wall } = listedIn(request);
    if (wall) return wallPage(standing, filters, now);
    const queue = standing.queue ?? (await store.queue(of));
    const list = filters.list === 'every' ? await found(request, filters, cursor) : undefined;
    const entries = list?.orders.map((order) => entryOf(order, now.ms)) ?? filtered(queue.entries, filters);
    const view = { filters, queue, entries, page, cursor, next: list?.cursor, selected: select === 'all' };
    const several = hasScope(request, 'ops');
    const count = refused.of(of.integrations).length;
    return queuePage({ ...view, stores: storesOf(request), several, refused: count }, now);
  };
  get('/', 'read', list, true);

  get(REFUSED_PATH, 'read', (_, { now, of }) => refusedPage(refused.of(of.integrations), now));

  scope.get('/news', pageFor('read'), async (request, reply) => {
    const { filters, page, seen = '' } = listedIn(request);
    const of = allowed(request);
    const { entries } = await store.queue(of);
    store.renew(of);
    return sendHtml(reply, html`${newsLink(filters, page, entries, seen)}`.markup);
  });

  scope.get('/queue.csv', pageFor('read', true), async (request, reply) => {
    const { filters } = listedIn(request);
    const file = await csvOf(async (cursor) => {
      if (filters.list !== 'every') {
        const { entries, cut } = await store.queue(allowed(request));
        return { orders: filtered(entries, filters).map(({ summary }) => summary), cut };
      }
      const { orders, ...place } = await found(request, filters, cursor);
      return { orders: orders.map(({ summary }) => summary), ...place };
    });
    const name = `orders-${instant(Date.now()).slice(0, 16).replace(':', '')}.csv`;
    reply.header('content-disposition', `attachment; filename="${name}"`);
    return reply.type('text/csv; charset=utf-8').send(file);
  });

  const days = new LookUps<Pick<DaysView, 'days' | 'statistics'>>(DAYS_KEPT_MS, MOST_DAYS_KEPT);
  const lastDays = async (request: FastifyRequest, { now, standing }: Moment) => {
    const { integration } = checked(queueQuery, request.query).filters;
    const of = listedIntegrations(request, integration);
    const stores = storesOf(request);
    const starts = dayStarts(SHOWN_DAYS, now);
    const chosen = integration === undefined ? stores : [integration];
    const counted = await days.find(JSON.stringify([of, starts[0]]), async () => ({
      days: await countDays(orderScreening, of, starts),
      statistics: await orderScreening.statistics(chosen, starts.at(-1) ?? instant(now.ms)),
    }));
    return daysPage({ ...counted, queue: standing.queue, integration, stores }, now);
  };
  get('/days', 'read', lastDays, true);

  get('/transactions/:idOrInvoice', 'read', async (request) => {
    const { integration } = checked(orderQuery, request.query);
    requireIntegration(request, integration);
    const { idOrInvoice } = checked(transactionParams, request.params);
    return transactionPage(await readTransaction(orderScreening, request, { idOrInvoice, integration }));
  });
}

/** @throws OrderScreeningError `other-integration` when the key isn't for the chosen store */
function listedIn(request: FastifyRequest) {
  const query = checked(queueQuery, request.query);
  const { integration } = query.filters;
  if (integration !== undefined) requireIntegration(request, integration);
  return query;
}
