/**
 * How a browser signs in to the pages: it sends an API key by HTTP Basic, as the password of a user name that the person chooses.
 * That needs no script, no session and no secret of ours, and unlike a cookie it is sent to no other port of the same machine.
 */
import type { FastifyRequest } from 'fastify';
import { sentBy } from '../callers.ts';
import { HttpError } from '../problems.ts';

/** Makes a browser ask for the key. */
export const CHALLENGE = 'Basic realm="order-screening", charset="UTF-8"';

/** Returns the API key and the user name of an `Authorization` header; the user name is a claim. */
export function signInOf(authorization: string): { key: string | undefined; user: string } {
  const [, scheme, credentials = ''] = /^(Basic|Bearer) ([^\s]+)$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return { key: credentials, user: '' };
  const [, user = '', key] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return { key, user };
}

/**
 * Rejects forms of other pages: a browser sends the key with them, too.
 * @throws HttpError `foreign-form` unless the browser says that the form is from these pages
 */
export function requireOwnForm({ headers }: FastifyRequest): void {
  if (sentBy(headers) !== 'own page') throw new HttpError('foreign-form');
}
