/**
 * Who may see the pages: whoever has an API key. A browser sends it by HTTP Basic, as the password of any user name: that
 * needs no script, no session and no secret of ours, and unlike a cookie it goes to no other port of the same machine.
 */
import type { FastifyRequest } from 'fastify';
import type { HashedKey } from '../../config.ts';
import { HttpError } from '../problems.ts';
import { nameOfKey } from '../secrets.ts';
import { sentBy } from '../sent-by.ts';

/** What makes a browser ask for the key. */
export const CHALLENGE = 'Basic realm="order-screening", charset="UTF-8"';

/** @throws HttpError `unauthorized` unless one of the keys was sent; without any keys everybody may see */
export function requireSignIn(request: FastifyRequest, apiKeys: readonly HashedKey[]): void {
  if (apiKeys.length === 0) return;
  const name = nameOfKey(apiKeys, keyIn(request.headers.authorization ?? ''));
  if (name === undefined) throw new HttpError('unauthorized');
  request.keyName = name;
}

function keyIn(authorization: string): string | undefined {
  const [, scheme, credentials = ''] = /^(Basic|Bearer) ([^\s]+)$/i.exec(authorization) ?? [];
  if (scheme?.toLowerCase() === 'bearer') return credentials;
  return /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString())?.[1];
}

/**
 * A browser sends the key along whoever made the form, so that a form must come from these pages themselves.
 * @throws HttpError `foreign-form` unless the browser says so
 */
export function requireOwnForm({ headers }: FastifyRequest): void {
  if (sentBy(headers) !== 'own page') throw new HttpError('foreign-form');
}
