/** What the routes of the pages share: how a page is made and sent. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Scope, SIGNED_IN } from '../../config/index.ts';
import type { ApiOptions } from '../api/api-options.ts';
import { listedIntegrations } from '../api/callers.ts';
import type { RefusedCheckouts } from '../api/refused-checkouts.ts';
import { document, type Page } from './layout.ts';
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

/** @returns how the routes of `scope` answer with pages */
export function createPages(scope: FastifyInstance, options: PageOptions) {
  const store = createQueueStore(options.orderScreening);
  const allowed = (request: FastifyRequest) => listedIntegrations(request, undefined);
  const now = (): Now => ({ ms: Date.now(), zone: options.timeZone ?? 'UTC' });

  async function send(request: FastifyRequest, reply: FastifyReply, make: MakePage) {
    const moment = { now: now(), standing: await store.standing(allowed(request)), of: allowed(request) };
    const page = await make(request, moment);
    const { parts } = moment.standing;
    const signedIn = request.apiKey?.name === SIGNED_IN;
    return sendHtml(reply, document(page, { now: moment.now, parts, who: request.pageUser, signedIn }));
  }
  /** Adds a route that answers with a page. @param ofMany it lists or counts orders */
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
