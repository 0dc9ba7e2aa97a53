/**
 * What the routes of the pages share: who may see them, how a page is made and sent, and how errors are answered.
 *
 * People sign in at a provider. Without one the browser sends an API key by HTTP Basic, as the password; the person chooses the user name.
 * This needs no scripts, sessions or server secrets, and unlike a cookie, the key isn't sent to other ports of the same host.
 */
import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Scope, SIGNED_IN } from '../../config/index.ts';
import { isRecord } from '../../contract/values.ts';
import type { ApiOptions } from '../api/api-options.ts';
import { limitRequests, listedIntegrations, requireKey, sentBy } from '../api/callers.ts';
import { refuseCards } from '../api/define-route.ts';
import { SIGN_OUT } from '../api/oidc.ts';
import { HttpError, logFailure, toProblem } from '../api/problems.ts';
import type { RefusedCheckouts } from '../api/refused-checkouts.ts';
import { errorPage, sessionEndedPage, signInPage } from './card-pages.ts';
import { document, type Page, WALL_SECONDS } from './layout.ts';
import { createQueueStore, type Integrations, type Standing } from './queue-store.ts';
import type { Now } from './words.ts';

/** `refused`: the checkouts that this process refused. */
export type PageOptions = ApiOptions & { refused: Pick<RefusedCheckouts, 'of'> };

/** What a page is made from besides its request: its time, and what the frame shows as well. */
export interface Moment {
  now: Now;
  standing: Standing;
  /** The integrations that the caller's key is for. */
  of: Integrations;
}
type MakePage = (request: FastifyRequest, moment: Moment) => Page | Promise<Page>;

export type Pages = ReturnType<typeof createPages>;

export function createPages(scope: FastifyInstance, options: PageOptions) {
  const store = createQueueStore(options.orderScreening);
  const allowed = (request: FastifyRequest) => listedIntegrations(request, undefined);
  const now = (): Now => ({ ms: Date.now(), zone: options.timeZone ?? 'UTC' });

  async function send(request: FastifyRequest, reply: FastifyReply, make: MakePage) {
    const of = allowed(request);
    const standing = await store.standing(of);
    const signedIn = request.apiKey?.name === SIGNED_IN;
    const frame = { now: now(), parts: standing.parts, who: request.pageUser, signedIn };
    const page = await make(request, { now: frame.now, standing, of });
    store.renew(of);
    return sendHtml(reply, document(page, frame));
  }
  const get = (url: string, needed: Scope, make: MakePage, ofMany = false) =>
    scope.get(url, pageFor(needed, ofMany), (request, reply) => send(request, reply, make));
  return { scope, options, store, now, allowed, send, get };
}

/** Route options of a page or its form, with the scope that a key needs. @param ofMany it lists or counts orders */
export function pageFor(scope: Scope, ofMany = false) {
  return { schema: { hide: true }, config: { scope, ofMany } } as const;
}

export function sendHtml(reply: FastifyReply, markup: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(markup);
}

/** Makes the browser prompt for the key. */
const CHALLENGE = 'Basic realm="order-screening", charset="UTF-8"';
/** The pages load only resources of this server, run only its script, and submit forms only to it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const FORM_LIMIT = 16 * 1024;

/** Sets the headers of the pages, and answers errors with pages. */
export function answersAsPages(scope: FastifyInstance, { signIn, log }: PageOptions): void {
  scope.addHook('onRequest', async ({ routeOptions, query }, reply) => {
    const isWall = routeOptions.url === '/' && isRecord(query) && query.wall !== undefined;
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': CONTENT_SECURITY_POLICY,
      // Browsers must send `Origin` with these pages' forms, which are rejected otherwise.
      'referrer-policy': 'same-origin',
      ...(isWall && { refresh: WALL_SECONDS }),
    });
  });
  scope.setErrorHandler(async (error, request, reply) => {
    const { code, problem } = toProblem(error);
    reply.problemCode = code;
    logFailure(log, error, code, problem, request);
    reply.code(problem.status);
    const hasKey = signIn === undefined || request.headers.authorization !== undefined;
    if (code === 'unauthorized') {
      if (hasKey) reply.header('www-authenticate', CHALLENGE);
      return sendHtml(reply, document(hasKey ? signInPage() : sessionEndedPage()));
    }
    const page = errorPage(code, problem, request.method === 'POST' ? request.routeOptions.url : undefined);
    return sendHtml(reply, document(page, { who: request.pageUser }));
  });
}

/** Admits requests with a key or a session, and accepts these pages' forms without card data. */
export async function admitPeople(scope: FastifyInstance, options: PageOptions): Promise<void> {
  const { apiKeys, maxRps, signIn } = options;
  scope.addHook('onRequest', async (request, reply) => {
    const { authorization } = request.headers;
    if (authorization !== undefined || signIn === undefined) {
      const { key, user } = signInOf(authorization ?? '');
      await requireKey(request, apiKeys, key);
      // Some type the key in both places. The order's journal and the audit log would keep it.
      request.pageUser = user === key ? '' : user;
    } else if (!(await signIn.admits(request)) && request.routeOptions.url !== SIGN_OUT) {
      // Without a session, only signing out is possible.
      if (request.method !== 'GET') throw new HttpError('unauthorized');
      return reply.redirect(`/sign-in?to=${encodeURIComponent(request.url)}`, 303);
    }
    // The browser sends the key with forms of other sites as well.
    if (request.method === 'POST' && sentBy(request.headers) !== 'own page')
      throw new HttpError('foreign-form');
  });
  await limitRequests(scope, { apiKeys, maxRps });
  refuseCards(scope, options, true);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT },
    (_request, body, done) => done(null, parse(String(body), '&', '=', { maxKeys: 0 })),
  );
}

/** Returns the API key and the user name of an `Authorization` header; the user name is a claim. */
function signInOf(authorization: string): { key: string | undefined; user: string } {
  const [, scheme, credentials = ''] = /^(Basic|Bearer) ([^\s]+)$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return { key: credentials, user: '' };
  const [, user = '', key] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return { key, user };
}
