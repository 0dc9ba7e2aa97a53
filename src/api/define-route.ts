/** A route of the API: its body, its schemas, its answer and its documentation from one description. */
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { refuseCardData } from '../card-data/card-data.ts';
import { fieldErrorsOf, invalidRequest, notCardsFor, noteScanned } from '../client/read-requests.ts';
import type { ApiKeys, Scope } from '../config/index.ts';
import { isLoopback } from '../config/values.ts';
import type { FindIntegration } from '../contract/policy.ts';
import { isRecord } from '../orders/shapes.ts';
import { OUR_WORDS } from '../screening/index.ts';
import { requireIntegration } from './callers.ts';
import { HttpError, problemSchema } from './problems.ts';

/** One route: its schemas check the request and make its documentation. */
export interface RouteDefinition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  summary: string;
  tag: 'orders' | 'portal actions' | 'transactions' | 'cards';
  /** What an API key must be allowed. */
  scope: Scope;
  params: Params;
  query: Query;
  body: Body;
  /** Documented in place of `body`, for a body that the handler checks in full, or with an example. */
  documentedBody?: z.ZodType;
  /** Answers by status. */
  answers: Record<number, z.ZodType>;
  /** Statuses of problems, beside 403 and 500. */
  problems: readonly (keyof typeof PROBLEMS)[];
  /** It is about orders of several integrations, and shows only those that the key is for. */
  ofMany?: true;
  /** Request headers, documented only. */
  headers?: z.ZodType;
  /** Where a card may stand in the body; nowhere unless said. */
  cards?: readonly string[];
  handle: (
    parts: { params: z.output<Params>; query: z.output<Query>; body: z.output<Body> },
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<unknown>;
}

/** The problems of a request about one order. */
export const OF_AN_ORDER = [400, 401, 404, 409, 413, 415, 422, 429, 503] as const;

/** No parameters, or no body. */
export const nothing = z.strictObject({});

/** Adds a route that checks path, query and body together, so that every error is listed at once. */
export function defineRoute<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  app: FastifyInstance,
  route: RouteDefinition<Params, Query, Body>,
): void {
  const { method, url, summary, tag, scope, params, query, body, handle } = route;
  const answers = Object.entries(route.answers).map(([status, answer]) => [
    status,
    { description: status === '202' ? GOES_ON : DONE, content: { 'application/json': { schema: answer } } },
  ]);
  const problems = [...route.problems, 403 as const, 500 as const].map((status) => [
    status,
    { description: PROBLEMS[status], content: problemContent },
  ]);
  app.route({
    method,
    url,
    config: { scope, cards: route.cards ?? [] },
    schema: {
      summary,
      tags: [tag],
      security: securityOf(scope),
      ...(params instanceof z.ZodObject && Object.keys(params.shape).length > 0 && { params }),
      ...(query instanceof z.ZodObject && Object.keys(query.shape).length > 0 && { querystring: query }),
      ...(method === 'POST' && { body: route.documentedBody ?? body }),
      ...(route.headers !== undefined && { headers: route.headers }),
      response: Object.fromEntries([...answers, ...problems]),
    },
    handler: async (request, reply) => {
      const parts = {
        params: params.safeParse(request.params, OUR_WORDS),
        query: query.safeParse(request.query, OUR_WORDS),
        body: body.safeParse(method === 'POST' ? (request.body ?? {}) : {}, OUR_WORDS),
      };
      if (!parts.params.success || !parts.query.success || !parts.body.success) {
        throw invalidRequest(
          Object.values(parts).flatMap((part) => (part.success ? [] : fieldErrorsOf(part.error))),
        );
      }
      // Where address and body name two, the handler refuses it.
      const named = [parts.query.data, parts.body.data].flatMap(integrationsIn);
      if (!route.ofMany)
        for (const one of named.length > 0 ? named : [undefined]) requireIntegration(request, one);
      return handle(
        { params: parts.params.data, query: parts.query.data, body: parts.body.data },
        request,
        reply,
      );
    },
  });
}

function integrationsIn(part: unknown): string[] {
  return isRecord(part) && typeof part.integration === 'string' ? [part.integration] : [];
}

/** The scope stands as the role that OpenAPI 3.1 lets a bearer scheme ask for; `{}`: an API without keys. */
function securityOf(scope: Scope): Record<string, string[]>[] {
  return [{ key: [scope] }, {}];
}

/** In bytes. */
const LARGE_BODY = 32 * 1024;

/** Headers whose values are kept. */
const KEPT_HEADERS = ['Idempotency-Key', 'X-Actor'] as const;

/**
 * Refuses card data in whatever a request has that is kept, before anything else looks at it.
 * @param findIntegration by whose policy `notCards` ids are vouched for; absent: none are
 */
export function refuseCards(
  scope: FastifyInstance,
  findIntegration: FindIntegration = () => undefined,
): void {
  scope.addHook('preHandler', async ({ params, query, body, headers, routeOptions }) => {
    // To read, to scan and to check a large body are turns of their own: others are answered between them.
    const isLarge = Number(headers['content-length'] ?? 0) > LARGE_BODY;
    if (isLarge) await setImmediate();
    const [named, found] = [params, query].map((part) => (isRecord(part) ? part : {}));
    const notCards = notCardsFor(found?.integration === undefined ? body : found, findIntegration);
    const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, headers[name.toLowerCase()]]));
    refuseCardData({ ...found, ...named, ...kept }, { notCards });
    refuseCardData(body, { cards: routeOptions.config.cards, notCards });
    if (isRecord(body)) noteScanned(body.transaction);
    if (isLarge) await setImmediate();
  });
}

/**
 * Refuses what its head says enough of, before a byte of its body is read: an address that nobody has, a body that is
 * compressed, and, where there are no keys, a name that isn't this machine's own (DNS rebinding: a page of another address whose
 * name was made to mean this machine is no foreign page to its browser).
 */
export function refuseByHead(app: FastifyInstance, apiKeys: ApiKeys): void {
  app.addHook('onRequest', async ({ headers, is404, routeOptions }) => {
    const { fromOutside = false } = routeOptions.config;
    if (apiKeys.current.length === 0 && !fromOutside && !isOfThisMachine(headers.host))
      throw new HttpError('foreign-host');
    if (is404) throw new HttpError('not-found');
    const { 'content-encoding': encoding = 'identity' } = headers;
    if (!fromOutside && encoding !== 'identity') throw new HttpError('unsupported-media-type');
  });
}

function isOfThisMachine(host = ''): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, ''));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Where a card may stand in the body. */
    cards?: readonly string[];
    /** Called by others than the order service: whatever name they call it by, and however they write. */
    fromOutside?: boolean;
  }
}

/** Takes JSON and nothing else; many clients announce it and send nothing, for actions that need no body. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const { 'content-type': type = '' } = request.headers;
    const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type) ?? [];
    if (!/^utf-?8$/i.test(charset)) {
      done(new HttpError('unsupported-media-type'));
      return;
    }
    const text = utf8(body);
    const error = limitError(text ?? '');
    if (text === undefined) done(new HttpError('not-json'));
    else if (text === '') done(null, undefined);
    else if (error !== undefined) done(invalidRequest([{ path: '', message: error }]));
    else {
      void parseJson(request, text, (error, value) => {
        // `null` would be taken for no body.
        if (error === null && value === null) done(new HttpError('not-json'));
        else done(error, value);
      });
    }
  });
}

/** @returns the text without a mark at its beginning, or undefined: bytes of another encoding would make two names one */
function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a body of JSON may hold at most: rule «limits before schemas». */
export const BODY_LIMITS = { values: 20_000, depth: 20, keys: 200 } as const;

/**
 * Counts on the text, before anything is made of it: to read a body that is too wide costs more than to refuse it, and a
 * key that stands there twice is gone after the reading. Text that is no JSON may pass; the parser refuses it.
 * @returns what is wrong with the body, or undefined
 */
export function limitError(text: string): string | undefined {
  const { values, depth, keys } = BODY_LIMITS;
  let found = 1;
  const keysAt: number[] = [];
  for (let at = 0; at < text.length && found <= values; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x2c: // ,
        found += 1;
        break;
      case 0x3a: {
        // :
        const here = (keysAt.pop() ?? 0) + 1;
        if (here > keys) return `must have at most ${keys} fields in one object`;
        keysAt.push(here);
        break;
      }
      case 0x5b: // [
      case 0x7b: // {
        found += 1;
        if (keysAt.push(0) > depth) return `must be nested at most ${depth} levels deep`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        keysAt.pop();
    }
  }
  return found > values ? `must hold at most ${values.toLocaleString('en')} values` : undefined;
}

/** @returns where the string ends that begins there: at its closing quote, or with the text */
function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
  } while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charAt(before) === '\\') before -= 1;
  return (at - before) % 2 === 0;
}

const DONE = 'Done';
const GOES_ON = 'Not done yet: it goes on';
/** What each status of a problem means, in the documentation. */
const PROBLEMS = {
  400: 'The body is not JSON, or the address cannot be read',
  401: 'No valid API key',
  403: 'The API key lacks the scope that `scope` names, or is for other integrations',
  404: 'No such order, integration, transaction or portal action',
  409: 'The state of the order or the transaction does not allow this; `type` says why',
  413: 'The body is over 256 KiB',
  415: 'Another content type than application/json in UTF-8, or a compressed body',
  422: 'The request breaks a rule; `errors` lists every error',
  429: 'Too many requests with this key: nothing was done',
  500: 'An error in this service',
  502: 'The screening service refused it, or did not say whether it was done',
  503: 'The outcome is unknown, or nothing was done yet: send the same request again',
  504: 'It could not be sent within a day, and is not tried any more',
} as const;

const problemContent = { 'application/problem+json': { schema: problemSchema } };
