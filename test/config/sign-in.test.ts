/** The settings of the sign-in with OpenID Connect. */
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { faultsIn, least } from './support.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const complete = {
  ...least,
  API_KEYS: 'shop:a-key-that-is-long-enough',
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'pages',
  OIDC_ROLES: '{"analyst": {"scopes": ["read", "act"], "integrations": ["default"]}}',
  PAGES_URL: 'https://screening.example.com/',
  SESSION_KEYS: `one:${key}`,
};

it('are read together, and none is needed without a provider', () => {
  expect(loadConfig(complete).signIn).toEqual({
    issuer: 'https://login.example.com',
    clientId: 'pages',
    scope: 'openid email',
    rolesClaim: 'roles',
    roles: new Map([['analyst', { scopes: ['read', 'act'], integrations: ['default'] }]]),
    pagesUrl: 'https://screening.example.com',
    sessionKeys: [{ id: 'one', key: Buffer.alloc(32, 7) }],
  });
  expect(loadConfig(least).signIn).toBeUndefined();
});

it.each([
  'https://Screening.example.com',
  'https://screening.example.com:443',
  'HTTPS://screening.example.com/',
])('the pages’ address %s is read as browsers write it', (PAGES_URL) => {
  const { signIn } = loadConfig({ ...complete, PAGES_URL });
  expect(signIn?.pagesUrl).toBe('https://screening.example.com');
});

it('a provider without TLS is accepted on this machine only', () => {
  const OIDC_ISSUER = 'http://127.0.0.1:9000/realm';
  expect(loadConfig({ ...complete, OIDC_ISSUER }).signIn?.issuer).toBe(OIDC_ISSUER);
});

it.each<[change: NodeJS.ProcessEnv, faults: Record<string, string>]>([
  [{ OIDC_CLIENT_ID: undefined }, { OIDC_CLIENT_ID: 'is required with OIDC_ISSUER' }],
  [{ PAGES_URL: undefined }, { PAGES_URL: 'is required with OIDC_ISSUER' }],
  [{ PAGES_URL: 'https://x.example.com/canary' }, { PAGES_URL: 'must have no path' }],
  [{ OIDC_ISSUER: 'http://login.canary.com' }, { OIDC_ISSUER: expect.stringMatching(/^must be https/) }],
  [{ PAGES_URL: 'http://pages.canary.com' }, { PAGES_URL: expect.stringMatching(/^must be https/) }],
  [{ SESSION_KEYS: undefined }, { SESSION_KEYS: 'is required with OIDC_ISSUER' }],
  [{ API_KEYS: undefined }, { API_KEYS: expect.stringContaining('is required with OIDC_ISSUER') }],
  [{ OIDC_ROLES: '{canary' }, { OIDC_ROLES: expect.stringMatching(/^must be JSON such as/) }],
  [{ OIDC_ROLES: '{}' }, { OIDC_ROLES: 'must have at least one role' }],
  [{ OIDC_ROLES: '{"a": {"scopes": ["canary"]}}' }, { 'OIDC_ROLES.a.scopes[0]': expect.any(String) }],
  [
    { OIDC_ROLES: '{"a": {"scopes": ["read"], "integrations": ["canary"]}}' },
    { OIDC_ROLES: 'names an integration that is not configured, in the role a' },
  ],
  [{ API_KEYS: 'sign-in:a-key-that-is-long-enough' }, { API_KEYS: expect.stringContaining('not sign-in') }],
])('with %o are refused', (change, faults) => {
  const found = faultsIn(() => loadConfig({ ...complete, ...change }));
  expect(found).toMatchObject(faults);
  expect(JSON.stringify(found)).not.toContain('canary');
});
