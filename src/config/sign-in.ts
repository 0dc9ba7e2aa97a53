/** How people sign in to the pages with OpenID Connect. */
import { isLoopback } from '../contract/values.ts';
import type { ReadVariable } from './environment.ts';
import type { ErrorList } from './errors.ts';

export type SignInSettings = NonNullable<ReturnType<typeof readSignIn>>;

/** @returns undefined if no provider is set */
export function readSignIn(
  read: ReadVariable,
  integrations: ReadonlyMap<string, unknown>,
  errors: ErrorList,
) {
  const issuer = read('OIDC_ISSUER');
  const clientId = read('OIDC_CLIENT_ID');
  const clientSecret = read('OIDC_CLIENT_SECRET');
  const roles = read('OIDC_ROLES');
  const pagesUrl = read('PAGES_URL');
  const sessionKeys = read('SESSION_KEYS');
  const others = { scope: read('OIDC_SCOPE'), rolesClaim: read('OIDC_ROLES_CLAIM') };
  if (issuer === undefined) return undefined;
  const needed = {
    OIDC_CLIENT_ID: clientId,
    OIDC_ROLES: roles,
    PAGES_URL: pagesUrl,
    SESSION_KEYS: sessionKeys,
  };
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined) errors.addMissing(name, 'is required with OIDC_ISSUER');
  }
  for (const [name, url] of Object.entries({ OIDC_ISSUER: issuer, PAGES_URL: pagesUrl })) {
    if (url === undefined) continue;
    const { protocol, hostname } = new URL(url);
    if (protocol === 'http:' && !isLoopback(hostname))
      errors.add(name, 'must be https://, or http:// on this machine');
  }
  const pages = pagesUrl === undefined ? undefined : new URL(pagesUrl);
  if (pages !== undefined && pages.pathname !== '/') errors.add('PAGES_URL', 'must have no path');
  for (const [role, { integrations: limited = [] }] of roles ?? []) {
    if (limited.some((name) => !integrations.has(name)))
      errors.add('OIDC_ROLES', `names an integration that is not configured, in the role ${role}`);
  }
  if (!clientId || !roles || !pages || !sessionKeys) return undefined;
  return {
    issuer,
    clientId,
    /** Undefined: a public client. */
    clientSecret,
    ...others,
    roles,
    /** As browsers write it: the provider compares the address to come back to as text. */
    pagesUrl: pages.origin,
    /** Encrypt the cookies: the first encrypts, all decrypt. */
    sessionKeys,
  };
}
