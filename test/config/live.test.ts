import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadClientSettings, loadConfig, type Role } from '../../src/config/index.ts';
import { faultsIn, least, scratchFile } from './support.ts';

const policyFile = scratchFile('policy.json');

const aKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const oneByte = (byte: number) => `weak:${Buffer.alloc(32, byte).toString('base64')}`;

/** A live integration on several machines, with all that it asks for. */
const live = {
  ...least,
  SCREENING_MODE: 'live',
  SCREENING_BASE_URL: 'https://screening.example',
  SCREENING_PORTAL_BASE_URL: 'https://portal.example/api',
  TEMPORAL_ADDRESS: 'temporal.example:7233',
  TEMPORAL_TLS: 'true',
  CARD_STASH_URL: 'rediss://:password@redis.example',
  CARD_STASH_KEYS: aKey('a'),
  PAYLOAD_KEYS: aKey('a'),
  WEBHOOK_SECRETS: 'a-secret-of-sixteen-and-more',
  EVENTS_URL: 'https://shop.example/events',
  EVENTS_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
  API_KEYS: 'shop:a-key-that-is-long-enough',
  OIDC_ISSUER: 'https://login.example',
  OIDC_CLIENT_ID: 'pages',
  OIDC_ROLES: '{"lead": {"scopes": ["read"]}}',
  PAGES_URL: 'https://screening.example',
  SESSION_KEYS: aKey('a'),
};

const faultsOf = (env: NodeJS.ProcessEnv) => faultsIn(() => loadConfig({ ...live, ...env }));

describe('mode live', () => {
  it('is content with TLS, keys and long secrets', () => {
    expect(faultsOf({})).toEqual({});
    expect(faultsIn(() => loadClientSettings(live))).toEqual({});
  });

  it.each([
    ['SCREENING_BASE_URL', 'http://screening.example', 'must be https://'],
    ['SCREENING_PORTAL_BASE_URL', 'http://portal.example', 'must be https://'],
    ['EVENTS_URL', 'http://shop.example/events', 'must be https://'],
    ['CARD_STASH_URL', 'redis://:password@redis.example', 'must be rediss://'],
    ['TEMPORAL_TLS', undefined, 'must be true'],
    ['TEMPORAL_TLS', 'false', 'must be true'],
    ['PAYLOAD_KEYS', undefined, 'is required in mode live'],
    ['PAYLOAD_KEYS', oneByte(0), 'must not repeat one byte'],
    ['PAYLOAD_KEYS', `${aKey('good')},${oneByte(7)}`, 'must not repeat one byte'],
    ['CARD_STASH_KEYS', oneByte(255), 'must not repeat one byte'],
    ['SESSION_KEYS', oneByte(0), 'must not repeat one byte'],
    ['WEBHOOK_SECRETS', 'a-secret-of-sixteen-and-more,fifteen-letters', '16 characters'],
  ])('refuses %s=%s', (variable, value, words) => {
    expect(faultsOf({ [variable]: value })).toEqual({ [variable]: expect.stringContaining(words) });
    expect(faultsIn(() => loadConfig({ ...live, SCREENING_MODE: 'test', [variable]: value }))).toEqual({});
  });

  it('refuses the same of each role and of a client', () => {
    const weak = { ...live, PAYLOAD_KEYS: '', CARD_STASH_URL: 'redis://redis.example', TEMPORAL_TLS: '' };
    const ofRole = (role: Role) => () => loadConfig(weak, role);
    for (const load of [ofRole('api'), ofRole('worker'), () => loadClientSettings(weak)]) {
      expect(Object.keys(faultsIn(load)).sort()).toEqual(['CARD_STASH_URL', 'PAYLOAD_KEYS', 'TEMPORAL_TLS']);
    }
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('lets plaintext stay on this machine: %s', (host) => {
    const here = {
      SCREENING_BASE_URL: `http://${host}:8090/live`,
      SCREENING_PORTAL_BASE_URL: `http://${host}:8090/portal`,
      EVENTS_URL: `http://${host}:9000/events`,
      CARD_STASH_URL: `redis://${host}:6379`,
      TEMPORAL_ADDRESS: `${host}:7233`,
      TEMPORAL_TLS: '',
    };
    expect(faultsOf(here)).toEqual({});
  });

  it('looks at what the policy file says of each live integration, and of no other', () => {
    const urls = { portalBaseUrl: 'https://portal.example', eventsUrl: 'http://shop.example/events' };
    const one = { apiKeyEnv: 'SCREENING_API_KEY', baseUrl: 'http://screening.example', ...urls };
    const shop = { ...one, mode: 'live', webhookSecretEnv: 'SHOP_WEBHOOKS' };
    const integrations = { shop, trial: { ...one, mode: 'test', webhookSecretEnv: 'TRIAL_WEBHOOKS' } };
    const SCREENING_CONFIG = policyFile({ integrations });
    const SHOP_WEBHOOKS = 'long-enough-to-be-used,short';
    const ofTrials = { WEBHOOK_SECRETS: 'short', TRIAL_WEBHOOKS: 'short' };
    expect(faultsOf({ SCREENING_CONFIG, SHOP_WEBHOOKS, ...ofTrials })).toEqual({
      'integrations.shop.baseUrl': expect.stringContaining('https://'),
      'integrations.shop.eventsUrl': expect.stringContaining('https://'),
      'integrations.shop.webhookSecretEnv': expect.stringContaining('16 characters'),
    });
  });
});

describe('ALLOW_PLAINTEXT', () => {
  const EVENTS_URL = 'http://shop.example/events';
  const plain = { TEMPORAL_TLS: '', CARD_STASH_URL: 'redis://redis', EVENTS_URL };

  it.each([
    ['redis', 'CARD_STASH_URL'],
    ['temporal', 'TEMPORAL_TLS'],
    ['events', 'EVENTS_URL'],
  ])('lets %s be in plain, and nothing else', (name, path) => {
    const others = ['CARD_STASH_URL', 'EVENTS_URL', 'TEMPORAL_TLS'].filter((one) => one !== path);
    const faults = faultsOf({ ...plain, ALLOW_PLAINTEXT: `${name}:a mesh encrypts it` });
    expect(Object.keys(faults).sort()).toEqual(others);
  });

  it('lets neither the service be asked in plain, nor weak keys be taken', () => {
    const all = 'redis:a mesh, temporal:a mesh, events:a mesh';
    expect(faultsOf({ ...plain, ALLOW_PLAINTEXT: all })).toEqual({});
    const weak = { SCREENING_BASE_URL: 'http://screening.example', PAYLOAD_KEYS: '', ALLOW_PLAINTEXT: all };
    expect(Object.keys(faultsOf(weak)).sort()).toEqual(['PAYLOAD_KEYS', 'SCREENING_BASE_URL']);
  });

  it.each(['redis', 'redis:', 'redis: ', 'screening:a mesh', 'everything', 'redis:a mesh,postgres:the same'])(
    'asks for names that it knows, each with a reason: %s',
    (written) => {
      expect(faultsOf({ ALLOW_PLAINTEXT: written })).toEqual({
        ALLOW_PLAINTEXT: expect.stringContaining('redis, temporal, events'),
      });
    },
  );
});
