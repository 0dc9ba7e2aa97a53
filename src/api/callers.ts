/** Who calls the API: keys, addresses, limits. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HashedKey } from '../config/index.ts';
import { HttpError } from './problems.ts';

/** Lets in whoever has a key, each key as often a second as it may; without keys everybody, but pages of other addresses. */
export async function admitCallers(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys: readonly HashedKey[]; maxRps: number },
): Promise<void> {
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    requireKey(request, apiKeys);
    // Any page that a browser on this machine shows can send a request here; it can't know a key.
    if (apiKeys.length === 0 && sentBy(request.headers) === 'foreign page')
      throw new HttpError('foreign-page');
  });
  await limitRequests(scope, { apiKeys, maxRps });
}

/** Limits what each key may send a second to the routes of a scope; without keys there is no limit. */
export async function limitRequests(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys: readonly HashedKey[]; maxRps: number },
): Promise<void> {
  await scope.register(rateLimit, {
    max: maxRps,
    timeWindow: 1_000,
    keyGenerator: ({ keyName }) => keyName ?? '',
    allowList: () => apiKeys.length === 0,
    errorResponseBuilder: () => new HttpError('too-many-requests'),
  });
}

/**
 * Notes whose key a request has.
 * @param given the key that was sent, a bearer's unless said
 * @throws HttpError `unauthorized` when it is none of the keys; without any keys everybody may call
 */
export function requireKey(
  request: FastifyRequest,
  apiKeys: readonly HashedKey[],
  given = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1],
): void {
  if (apiKeys.length === 0) return;
  const name = nameOfKey(apiKeys, given);
  if (name === undefined) throw new HttpError('unauthorized');
  request.keyName = name;
}

/**
 * Who a request comes from, as browsers say: a page of this API, a page of another address, or none: another program, or
 * an address that somebody typed. `Sec-Fetch-Site` is sent by every browser of today over HTTPS and on this machine,
 * `Origin` with every form, also without those.
 */
export function sentBy(headers: IncomingHttpHeaders): 'own page' | 'foreign page' | 'no page' {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'none' || (site === undefined && origin === undefined)) return 'no page';
  const own = site === undefined ? hostOf(origin) === host : site === 'same-origin';
  return own ? 'own page' : 'foreign page';
}

function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}

/**
 * Compares in constant time, whatever the lengths, and with every secret, so that time doesn't tell which one it was.
 * @returns whether `given` is one of the secrets; never when there are none
 */
export function isOneOf(secrets: readonly string[], given: string | undefined): boolean {
  const hash = digest(given ?? '');
  const matches = secrets.map((secret) => timingSafeEqual(digest(secret), hash));
  return given !== undefined && matches.includes(true);
}

/** Compares as `isOneOf` does. @returns the name of the key that was given, or undefined when it is none of them */
function nameOfKey(keys: readonly HashedKey[], given: string | undefined): string | undefined {
  const sent = digest(given ?? '');
  const matches = keys.filter(({ hash }) => timingSafeEqual(hash, sent));
  return given === undefined ? undefined : matches[0]?.name;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
