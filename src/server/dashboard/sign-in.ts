/**
 * Sign-in to the pages. The browser sends an API key by HTTP Basic, as the password; the person chooses the user name. This needs
 * no scripts, sessions or server secrets, and unlike a cookie, the key isn't sent to other ports of the same host.
 */
import type { FastifyRequest } from 'fastify';
import { sentBy } from '../api/callers.ts';
import { HttpError } from '../api/problems.ts';

/** Makes the browser prompt for the key. */
export const CHALLENGE = 'Basic realm="order-screening", charset="UTF-8"';

/** Returns the API key and the user name of an `Authorization` header; the user name is a claim. */
export function signInOf(authorization: string): { key: string | undefined; user: string } {
  const [, scheme, credentials = ''] = /^(Basic|Bearer) ([^\s]+)$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return { key: credentials, user: '' };
  const [, user = '', key] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return { key, user };
}

/**
 * Rejects forms of other sites, since the browser sends the key with them as well.
 * @throws HttpError `foreign-form` unless the browser's headers show that the form is from these pages
 */
export function requireOwnForm({ headers }: FastifyRequest): void {
  if (sentBy(headers) !== 'own page') throw new HttpError('foreign-form');
}
