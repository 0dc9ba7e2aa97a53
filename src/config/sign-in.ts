/** How people sign in to the pages with OpenID Connect. */
import { z } from 'zod';
import type { NamedKey } from '../codec/sealer.ts';
import { keyLimits, type Scope } from './api-keys.ts';
import type { ErrorList } from './errors.ts';
import { baseUrl, namedKeys, text } from './values.ts';

export interface SignInSettings {
  issuer: string;
  clientId: string;
  /** Absent: a public client. */
  clientSecret?: string;
  scope: string;
  rolesClaim: string;
  /** What each role may do. */
  roles: ReadonlyMap<string, { scopes: readonly Scope[]; integrations?: readonly string[] }>;
  /** The pages' address, without a slash at its end. */
  pagesUrl: string;
  /** Encrypt the cookies: the first encrypts, all decrypt. */
  sessionKeys: readonly NamedKey[];
}

const ROLES = 'must be JSON such as {"analyst": {"scopes": ["read", "act"]}}';

const roles = z
  .string()
  .transform((written, context): unknown => {
    try {
      return JSON.parse(written);
    } catch {
      context.addIssue({ code: 'custom', message: ROLES });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), keyLimits, { error: ROLES }))
  .transform((written) => new Map(Object.entries(written)))
  .refine(({ size }) => size > 0, 'must have at least one role');

export const signInVariables = {
  OIDC_ISSUER: baseUrl
    .optional()
    .describe(
      'The OpenID Connect provider with which people sign in to the pages (`docs/security.md`); not set: they use API keys',
    ),
  OIDC_CLIENT_ID: text.optional().describe('The client id of the pages at the provider'),
  OIDC_CLIENT_SECRET: text
    .optional()
    .meta({ secret: true })
    .describe('The client secret of the pages; not set: a public client'),
  OIDC_SCOPE: text
    .prefault('openid email')
    .describe('What the pages ask of the provider; some need one more for the roles, such as `groups`'),
  OIDC_ROLES_CLAIM: text.prefault('roles').describe('The claim of the ID token with a person’s roles'),
  OIDC_ROLES: roles
    .optional()
    .describe(
      'What each role may do, as JSON: `{"analyst": {"scopes": ["read", "act"], "integrations": ["eu"]}}`',
    ),
  PAGES_URL: baseUrl
    .optional()
    .describe(
      'The address at which browsers reach the pages; register `<PAGES_URL>/sign-in/callback` at the provider',
    ),
  SESSION_KEYS: namedKeys
    .optional()
    .meta({ secret: true })
    .describe(
      'Encrypt the cookies of people who signed in, `id:base64,…` of 32 bytes each: the first encrypts, all decrypt; the same in every API process',
    ),
};

type Written = { [Name in keyof typeof signInVariables]: z.output<(typeof signInVariables)[Name]> };

/** @returns undefined if no provider is set */
export function readSignIn(
  written: Written,
  integrations: ReadonlyMap<string, unknown>,
  errors: ErrorList,
): SignInSettings | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_ROLES, PAGES_URL, SESSION_KEYS } = written;
  if (OIDC_ISSUER === undefined) return undefined;
  for (const [name, value] of Object.entries({ OIDC_CLIENT_ID, OIDC_ROLES, PAGES_URL, SESSION_KEYS })) {
    if (value === undefined) errors.addMissing(name, 'is required with OIDC_ISSUER');
  }
  for (const [role, { integrations: limited = [] }] of OIDC_ROLES ?? []) {
    if (limited.some((name) => !integrations.has(name)))
      errors.add('OIDC_ROLES', `names an integration that is not configured, in the role ${role}`);
  }
  if (SESSION_KEYS?.length === 0) errors.add('SESSION_KEYS', 'must have at least one key');
  if (!OIDC_CLIENT_ID || !OIDC_ROLES || !PAGES_URL || !SESSION_KEYS) return undefined;
  return {
    issuer: OIDC_ISSUER,
    clientId: OIDC_CLIENT_ID,
    ...(OIDC_CLIENT_SECRET !== undefined && { clientSecret: OIDC_CLIENT_SECRET }),
    scope: written.OIDC_SCOPE,
    rolesClaim: written.OIDC_ROLES_CLAIM,
    roles: OIDC_ROLES,
    pagesUrl: PAGES_URL.replace(/\/$/, ''),
    sessionKeys: SESSION_KEYS,
  };
}
