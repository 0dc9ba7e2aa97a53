/** The pages for ops at `/`: who may see them, the queue, each order and its actions. No script runs in them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { faultsOf, invalidRequest, reasonSchema } from '../../client/read-requests.ts';
import type { ApiKey, Scope } from '../../config/index.ts';
import { cardDataIn } from '../../orders/card-data.ts';
import { DEFAULT_INTEGRATION } from '../../orders/ids.ts';
import type { PortalAnswer } from '../../orders/messages.ts';
import type { FindIntegration } from '../../orders/policy.ts';
import type { Log } from '../../process/log.ts';
import type { OrderName, OrderScreening, PortalOptions } from '../../starter.ts';
import {
  type Admission,
  limitRequests,
  listedIntegrations,
  requireIntegration,
  requireKey,
  sentBy,
} from '../callers.ts';
import { refuseCards } from '../define-route.ts';
import { whoAsks } from '../metrics.ts';
import { HttpError, logFailure, toProblem } from '../problems.ts';
import { actionParams, orderParams, orderQuery } from '../request-schemas.ts';
import {
  CONFIRMED,
  type Confirmed,
  confirmPage,
  confirmPath,
  errorPage,
  signInPage,
} from './confirm-page.ts';
import { orderPath, STYLE, STYLE_PATH, type TemporalUi } from './layout.ts';
import { isNotice, type Notice, orderPage } from './order-page.ts';
import { queuePage } from './queue-page.ts';
import { inspectOrders, readQueue, SHOWN } from './read-queue.ts';

export interface QueueOptions extends Admission {
  orderScreening: OrderScreening;
  /** As the API has it. */
  findIntegration?: FindIntegration;
  /** What the pages link to; absent: they don't. */
  temporalUi?: TemporalUi;
  log: Log;
}

const FORM_LIMIT = 16 * 1024;
/** The order's page and its confirmations wait no longer for a worker; in milliseconds. */
const INSPECT_WITHIN_MS = 3_000;
const STYLE_MAX_AGE_SECONDS = 300;

/** What the pages load and where their forms go. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const queueQuery = z.object({
  show: z.enum(SHOWN, { error: `must be one of ${SHOWN.join(', ')}` }).default('all'),
  integration: z
    .string()
    .optional()
    .transform((name) => (name === '' ? undefined : name))
    .pipe(orderQuery.shape.integration),
  cursor: z.string().optional(),
});
const pageQuery = z.object({ ...orderQuery.shape, notice: z.unknown().optional() });
const formSchema = z.object({
  reason: z
    .string()
    // A browser counts the end of a line as one character, and sends two.
    .transform((reason) => reason.replaceAll('\r\n', '\n').trim() || undefined)
    .pipe(reasonSchema.optional())
    .optional(),
});

/** Adds the pages; what they are asked with is checked as the API's own routes check it. */
export async function queueRoutes(app: FastifyInstance, options: QueueOptions): Promise<void> {
  app.get(STYLE_PATH, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/css').header('cache-control', `max-age=${STYLE_MAX_AGE_SECONDS}`).send(STYLE),
  );
  await app.register(async (scope) => pages(scope, options));
}

async function pages(scope: FastifyInstance, options: QueueOptions): Promise<void> {
  const { orderScreening, apiKeys, maxRps, temporalUi, findIntegration, log } = options;
  scope.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      // Without an origin a form of these pages would look like anybody's.
      'referrer-policy': 'same-origin',
    });
    const { key, user } = signInOf(request.headers.authorization ?? '');
    request.pageUser = user;
    await requireKey(request, apiKeys, key);
    if (request.method === 'POST') requireOwnForm(request);
  });
  await limitRequests(scope, { apiKeys, maxRps });
  refuseCards(scope, findIntegration);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  scope.setErrorHandler(async (error, request, reply) => {
    const { code, problem } = toProblem(error);
    reply.problemCode = code;
    logFailure(log, error, code, problem, request);
    reply.code(problem.status);
    if (code === 'unauthorized') return sendPage(reply.header('www-authenticate', CHALLENGE), signInPage());
    return sendPage(reply, errorPage(code, problem, request.method === 'POST', wayBack(request)));
  });

  scope.get('/', pageFor('read'), async (request, reply) => {
    const asked = checked(queueQuery, request.query);
    const listed = { ...asked, ...listedIntegrations(request, asked.integration) };
    const { orders, cursor } = await readQueue(orderScreening, listed, Date.now());
    const queued = await inspectOrders(orderScreening, orders);
    const continued = asked.cursor !== undefined;
    return sendPage(
      reply,
      queuePage({ ...asked, orders: queued, cursor, continued, temporalUi }, Date.now()),
    );
  });

  scope.get('/orders/:orderId', pageFor('read'), async (request, reply) => {
    const { integration, notice } = checked(pageQuery, request.query);
    requireIntegration(request, integration);
    const order = await inspect({ ...checked(orderParams, request.params), integration });
    const shown = {
      notice: isNotice(notice) ? notice : undefined,
      temporalUi,
      mayAct: may(request.apiKey, 'act'),
    };
    return sendPage(reply, orderPage(order, shown, Date.now()));
  });

  for (const action of CONFIRMED) {
    const url = `/orders/:orderId/${confirmPath(action, ':number')}`;
    scope.get(url, pageFor('act'), async (request, reply) => {
      const { number, ...order } = nameIn(request);
      return sendPage(reply, confirmPage(action, await inspect(order), Date.now(), { number }));
    });
    scope.post(url, pageFor('act'), async (request, reply) => {
      const { number, ...order } = nameIn(request);
      const form = formSchema.safeParse(request.body ?? {});
      if (!form.success) {
        const page = confirmPage(action, await inspect(order), Date.now(), {
          faults: faultsOf(form.error),
          number,
        });
        return sendPage(reply.code(422), page);
      }
      const notice = await ACTIONS[action](orderScreening, order, { ...form.data, number }, whoAsks(request));
      const integration = order.integration ?? DEFAULT_INTEGRATION;
      return reply.redirect(orderPath({ ...order, integration }, undefined, notice), 303);
    });
  }

  function inspect(order: OrderName) {
    return orderScreening.inspect(order, { withinMs: INSPECT_WITHIN_MS });
  }
}

const ACTIONS: Record<
  Confirmed,
  (
    orders: OrderScreening,
    order: OrderName,
    asked: { reason?: string | undefined; number: number | undefined },
    how: Pick<PortalOptions, 'by'>,
  ) => Promise<Notice>
> = {
  recheck: async (orders, order) => {
    await orders.recheck(order);
    return 'recheck';
  },
  cancel: async (orders, order, { reason }, how) => {
    const { status } = await orders.cancel(order, reason === undefined ? {} : { reason }, how);
    return status === 'done' ? 'canceled' : 'cancel-requested';
  },
  withdraw: async (orders, order, { number }, how) => {
    // The path has it, or the route isn't this one.
    if (number === undefined) throw new HttpError('not-found');
    const { status } = await orders.withdraw(order, { number }, how);
    return WITHDRAWN[status];
  },
};

const WITHDRAWN: Record<PortalAnswer['status'], Notice> = {
  withdrawn: 'withdrawn',
  done: 'done-before',
  requested: 'withdraw-requested',
};

/** The order, and the portal action where the address names one. */
const namedParams = orderParams.extend({ number: actionParams.shape.number.optional() });

/** @throws HttpError `other-integration` for an order that isn't the key's */
function nameIn(request: FastifyRequest) {
  const order = {
    number: undefined,
    ...checked(namedParams, request.params),
    ...checked(orderQuery, request.query),
  };
  requireIntegration(request, order.integration);
  return order;
}

/** A page, or what its form sends: what a key must be allowed for it. */
function pageFor(scope: Scope) {
  return { schema: { hide: true }, config: { scope } } as const;
}

function may(key: ApiKey | undefined, scope: Scope): boolean {
  return key === undefined || key.scopes.includes(scope);
}

function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const read = schema.safeParse(given);
  if (!read.success) throw invalidRequest(faultsOf(read.error));
  return read.data;
}

/** @returns the order's page where the address names an order that may exist, else the queue */
function wayBack({ method, params, query }: FastifyRequest): string {
  const name = namedParams.safeParse(params);
  const where = orderQuery.safeParse(query);
  if (method !== 'POST' || !name.success || !where.success) return '/';
  if (cardDataIn([name.data, where.data]).length > 0) return '/';
  return orderPath({
    orderId: name.data.orderId,
    integration: where.data.integration ?? DEFAULT_INTEGRATION,
  });
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page);
}

// Who may see the pages: whoever has an API key. A browser sends it by HTTP Basic, as the password of a
// user name of the person's own: that needs no script, no session and no secret of ours, and unlike a cookie it goes to no
// other port of the same machine.

/** What makes a browser ask for the key. */
const CHALLENGE = 'Basic realm="order-screening", charset="UTF-8"';

/** The password is the key; the user name is who says that they do what is done. */
function signInOf(authorization: string): { key: string | undefined; user: string } {
  const [, scheme, credentials = ''] = /^(Basic|Bearer) ([^\s]+)$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return { key: credentials, user: '' };
  const [, user = '', key] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return { key, user };
}

/**
 * A browser sends the key along whoever made the form, so that a form must come from these pages themselves.
 * @throws HttpError `foreign-form` unless the browser says so
 */
function requireOwnForm({ headers }: FastifyRequest): void {
  if (sentBy(headers) !== 'own page') throw new HttpError('foreign-form');
}
