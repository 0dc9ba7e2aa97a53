/** Defines a route of the API: body, schemas, answers and documentation from one definition. */
import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refuseCardData, refuseCardInId } from '../../card-data/card-data.ts';
import { fieldErrorsOf, invalidRequest, notCardsFor, noteScanned } from '../../client/read-requests.ts';
import type { ApiKeys, Scope } from '../../config/index.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { isLoopback, isRecord } from '../../contract/values.ts';
import { OUR_WORDS } from '../../screening-service/index.ts';
import type { PortalOptions } from '../../starter.ts';
import type { ApiOptions } from './api-options.ts';
import { requireIntegration } from './callers.ts';
import { whoAsks } from './metrics.ts';
import { HttpError, problemSchema } from './problems.ts';
import { type actorHeaders, idempotencyHeaders, splitIds } from './request-schemas.ts';

type ActingHeaders = typeof actorHeaders | typeof idempotencyHeaders;

interface RouteDefinition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  summary: string;
  tag: 'orders' | 'portal actions' | 'transactions' | 'cards';
  scope: Scope;
  params: Params;
  query: Query;
  body: Body;
  /** Documented instead of `body`, if the handler validates the body itself. */
  documentedBody?: z.ZodType;
  /** By status. If there are two, the second is for an answer that is still `requested` or `pending`. */
  answers: Record<number, z.ZodType>;
  /** Error statuses in addition to 403 and 500. */
  problems: readonly (keyof typeof PROBLEMS)[];
  /** The route lists orders of several integrations, limited to the API key's. It has a rate limit of its own. */
  ofMany?: true;
  /** The headers that say who asks, and how a repeat is recognized. */
  headers?: ActingHeaders;
  /** Body paths that may contain card data. Default: none. */
  cards?: readonly string[];
  handle: (given: {
    /** What path and query name. */
    asked: z.output<Params> & z.output<Query>;
    body: z.output<Body>;
    /** From `headers`. */
    how: PortalOptions;
    request: FastifyRequest;
  }) => Promise<object>;
}

export const OF_AN_ORDER = [400, 401, 404, 409, 413, 415, 422, 429, 503] as const;

export const nothing = z.strictObject({}).meta({ examples: [{}] });

/** Adds a route that validates path, query and body together, so that the answer lists all errors. */
export function defineRoute<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  app: FastifyInstance,
  route: RouteDefinition<Params, Query, Body>,
): void {
  const { method, url, summary, tag, scope, params, query, body, headers, handle } = route;
  const answers = Object.entries(route.answers).map(([status, schema]) => {
    const description = status === '202' ? 'Accepted: still running' : 'Done';
    return [status, { description, content: { 'application/json': { schema } } }];
  });
  const problems = [...route.problems, 403 as const, 500 as const].map((status) => {
    const content = { 'application/problem+json': { schema: problemSchema } };
    return [status, { description: PROBLEMS[status], content }];
  });
  const [done = 200, running = done] = Object.keys(route.answers).map(Number);
  app.route({
    method,
    url,
    config: { scope, cards: route.cards ?? [], ofMany: route.ofMany ?? false },
    schema: {
      summary,
      tags: [tag],
      // The scope as a role, which OpenAPI 3.1 allows for a bearer scheme. `{}` is for an API without keys.
      security: [{ key: [scope] }, {}],
      ...(Object.keys(params.shape).length > 0 && { params }),
      ...(Object.keys(query.shape).length > 0 && { querystring: query }),
      ...(method === 'POST' && { body: route.documentedBody ?? body }),
      ...(headers && { headers }),
      response: Object.fromEntries([...answers, ...problems]),
    },
    handler: async (request, reply) => {
      const parts = {
        params: params.safeParse(request.params, OUR_WORDS),
        query: query.safeParse(request.query, OUR_WORDS),
        body: body.safeParse(method === 'POST' ? (request.body ?? {}) : {}, OUR_WORDS),
      };
      if (!parts.params.success || !parts.query.success || !parts.body.success) {
        throw invalidRequest(Object.values(parts).flatMap((part) => fieldErrorsOf(part.error)));
      }
      const asked = { ...parts.params.data, ...parts.query.data };
      // If query and body name different integrations, the handler rejects the request.
      const named = [asked, parts.body.data].flatMap(integrationsIn);
      if (!route.ofMany)
        for (const one of named.length > 0 ? named : [undefined]) requireIntegration(request, one);
      const how = headers === undefined ? {} : optionsIn(request, headers);
      const answer = await handle({ asked, body: parts.body.data, how, request });
      return reply.code(isRunning(answer) ? running : done).send(answer);
    },
  });
}

function integrationsIn(part: unknown): string[] {
  return isRecord(part) && typeof part.integration === 'string' ? [part.integration] : [];
}

const keyedHeaders = idempotencyHeaders.omit({ 'x-actor': true });

/** @throws OrderScreeningError `invalid-request` for an invalid header that the route documents */
function optionsIn(request: FastifyRequest, headers: ActingHeaders): PortalOptions {
  if (!('idempotency-key' in headers.shape)) return whoAsks(request);
  const { data, error } = keyedHeaders.safeParse(request.headers, OUR_WORDS);
  if (error === undefined)
    return { idempotencyKey: data['idempotency-key'], ifAction: data['if-action'], ...whoAsks(request) };
  const nameOf = (header: unknown) => String(header).replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  throw invalidRequest(error.issues.map(({ path, message }) => ({ path: nameOf(path[0]), message })));
}

function isRunning(answer: { status?: unknown; decision?: unknown }): boolean {
  return answer.status === 'requested' || answer.decision === 'pending';
}

/** In bytes. */
const LARGE_BODY = 32 * 1024;

const KEPT_HEADERS = ['Idempotency-Key', 'X-Actor'] as const;

/**
 * Rejects card data in all stored parts of a request, before any other handler reads them.
 * @param options with `findIntegration` the integrations' policies, whose `notCards` are exceptions
 * @param isForm whether a body is a form, which may name orders
 */
export function refuseCards(
  scope: FastifyInstance,
  { findIntegration = () => undefined, integrations }: Pick<ApiOptions, 'findIntegration' | 'integrations'>,
  isForm = false,
): void {
  scope.addHook('preHandler', async ({ params, query, body, headers, apiKey, routeOptions }) => {
    // Reading, scanning and validating a large body are separate event-loop turns, so that other requests are answered in between.
    const isLarge = Number(headers['content-length'] ?? 0) > LARGE_BODY;
    if (isLarge) await setImmediate();
    const [named, found] = [params, query].map((part) => (isRecord(part) ? part : {}));
    const notCards = notCardsFor(found?.integration === undefined ? body : found, findIntegration);
    const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, headers[name.toLowerCase()]]));
    const inUrl = splitIds({ ...found, ...named });
    const inBody = isForm && isRecord(body) ? splitIds(body) : { ids: [], others: body };
    refuseCardData({ ...inUrl.others, ...kept }, { notCards });
    refuseCardData(inBody.others, { cards: routeOptions.config.cards, notCards });
    // A search without an integration is for all of the caller's.
    const listed = apiKey?.integrations ?? integrations ?? [DEFAULT_INTEGRATION];
    for (const { name, id, integration } of [...inUrl.ids, ...inBody.ids]) {
      const searched = integration === undefined ? listed : [integration];
      refuseCardInId(name, id, { notCards: searched.flatMap((one) => findIntegration(one)?.notCards ?? []) });
    }
    if (isRecord(body)) noteScanned(body.transaction);
    if (isLarge) await setImmediate();
  });
}

/**
 * Rejects requests by their head, before the body is read: an unknown route, a compressed body and, without API keys, a host
 * name that isn't local or a proxy's header. The host name prevents DNS rebinding: a browser considers a page as same-origin if
 * its host name resolves to this machine. A proxy on this machine passes requests of others on.
 */
export function refuseByHead(app: FastifyInstance, apiKeys: ApiKeys): void {
  app.addHook('onRequest', async ({ headers, is404, raw, routeOptions }) => {
    const { fromOutside = false } = routeOptions.config;
    if (
      apiKeys.current.length === 0 &&
      !fromOutside &&
      (!isLoopback((headers.host ?? '').replace(/:\d{1,5}$/, '')) || Object.keys(headers).some(isForwarded))
    )
      throw new HttpError('foreign-host');
    // Node takes the first one, a proxy before it perhaps the last.
    if (raw.rawHeaders.filter(isAuthorization).length > 1) throw new HttpError('bad-request');
    if (is404) throw new HttpError('not-found');
    const { 'content-encoding': encoding = 'identity' } = headers;
    if (!fromOutside && encoding !== 'identity') throw new HttpError('unsupported-media-type');
  });
}

function isForwarded(name: string): boolean {
  return /^(?:x-)?forwarded\b/.test(name);
}

function isAuthorization(name: string, index: number): boolean {
  return index % 2 === 0 && name.toLowerCase() === 'authorization';
}

declare module 'fastify' {
  interface FastifyContextConfig {
    cards?: readonly string[];
    /** Called by the screening service: any host name and any content encoding are accepted. */
    fromOutside?: boolean;
  }
}

/** Accepts JSON only. An empty body is allowed, since many clients send the content type without a body. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = promisify<FastifyRequest, string, unknown>(app.getDefaultJsonParser('error', 'error'));
  app.removeAllContentTypeParsers();
  const parse = async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    const { 'content-type': type = '' } = request.headers;
    const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? [];
    if (!/^utf-?8$/i.test(charset)) throw new HttpError('unsupported-media-type');
    // Replacement characters could make two names equal.
    if (!isUtf8(body)) throw new HttpError('not-json');
    // Without a byte order mark.
    const text = new TextDecoder().decode(body);
    if (text === '') return undefined;
    const value = await parseJson(request, text);
    // Otherwise `null` would count as an empty body.
    if (value === null) throw new HttpError('not-json');
    const exceeded = limitError(value);
    if (exceeded !== undefined) throw invalidRequest([{ path: '', message: exceeded }]);
    return value;
  };
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, parse);
}

/** Limits of a JSON body: rule «limits before schemas». */
export const BODY_LIMITS = { values: 10_000, depth: 20, keys: 200 } as const;

/**
 * Checks the limits of a parsed body level by level, since recursion would overflow the stack on a deep one.
 * @returns the limit that the body exceeds, or undefined
 */
export function limitError(body: unknown): string | undefined {
  const { values, depth, keys } = BODY_LIMITS;
  let found = 1;
  let level: unknown[] = [body];
  for (let deep = 0; level.length > 0; deep += 1) {
    const objects = level.filter((value): value is object => typeof value === 'object' && value !== null);
    if (deep === depth && objects.length > 0) return `must be nested at most ${depth} levels deep`;
    if (objects.some((one) => !Array.isArray(one) && Object.keys(one).length > keys))
      return `must have at most ${keys} fields in one object`;
    level = objects.flatMap((one) => Object.values(one));
    found += level.length;
    if (found > values) return `must hold at most ${values.toLocaleString('en')} values`;
  }
  return undefined;
}

/** The meaning of each error status, for the documentation. */
const PROBLEMS = {
  400: 'The body is not JSON, or the path cannot be decoded',
  401: 'No valid API key',
  403: 'The API key lacks the scope that `scope` names, or is for other integrations',
  404: 'The order, integration, transaction or portal action does not exist',
  409: 'The state of the order or the transaction does not allow this; `type` says why',
  413: 'The body is over 256 KiB',
  415: 'The content type is not application/json in UTF-8, or the body is compressed',
  422: 'Invalid request; `errors` lists every error',
  429: 'Too many requests with this key: nothing was done',
  500: 'An internal error of order-screening',
  502: 'The screening service refused the action, or did not confirm it',
  503: 'The outcome is unknown, or nothing was done yet. Retrying is safe',
  504: 'The action could not be sent within a day, and is not retried any more',
} as const;
