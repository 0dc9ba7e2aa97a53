import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  hashedKey,
  inspectConfig,
  loadConfig,
  loadLocalSettings,
  type Role,
} from '../../src/config/index.ts';
import { faultsIn, least } from './support.ts';

function faultsOf(env: NodeJS.ProcessEnv, role?: Role): Record<string, string> {
  return faultsIn(() => loadConfig({ ...least, ...env }, role));
}

describe('settings from the environment', () => {
  it('have the defaults that are promised', () => {
    const { integrations, findIntegration, queueTimeZone: _inUtc, ...others } = loadConfig(least);
    expect(others).toEqual({
      maxRps: 20,
      api: { host: '127.0.0.1', port: 8080, keys: [], maxRps: 100, trustProxy: [] },
      webhookSecrets: [],
      events: { own: new Map() },
      cardStash: { url: 'memory:', keys: [] },
      payloadKeys: [],
      payloadsRequired: false,
      allowPlaintext: [],
      codec: { origins: ['http://127.0.0.1:8233', 'http://localhost:8233'] },
      metrics: { host: '127.0.0.1', port: 9464 },
      logLevel: 'info',
      temporal: {
        embedded: true,
        connection: { address: '127.0.0.1:7233', channelArgs: expect.anything() },
        namespace: 'default',
      },
      temporalUiUrl: 'http://127.0.0.1:8233',
      local: { temporalPort: 7233, temporalUiPort: 8233, dataDir: '.data', sandboxPort: 8090 },
    });
    expect([...integrations.keys()]).toEqual(['default']);
    expect(findIntegration('default')).toBe(integrations.get('default'));
    expect(findIntegration('another')).toBeUndefined();
  });

  it.each([
    [{ TEMPORAL_UI_PORT: '9233' }, 'http://127.0.0.1:9233'],
    [{ TEMPORAL_ADDRESS: 'temporal.example:7233' }, undefined],
    [
      { TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_UI_URL: 'https://ui.example/t' },
      'https://ui.example/t',
    ],
  ])('know the Temporal UI only where there is one: %o', (env, url) => {
    expect(loadConfig({ ...least, ...env }).temporalUiUrl).toBe(url);
  });

  it.each(['javascript:alert(1)', 'ui.example', 'https://ui.example/?x=1'])('refuse %s for it', (url) => {
    expect(faultsOf({ TEMPORAL_UI_URL: url })).toEqual({
      TEMPORAL_UI_URL: 'must be an http:// or https:// address without user, password, query and fragment',
    });
  });

  it('are all read', () => {
    const [key, older] = [randomBytes(32), randomBytes(32)];
    const config = loadConfig({
      ...least,
      SCREENING_MODE: 'live',
      SCREENING_WORKFLOW: 'post-acceptance',
      SCREENING_MAX_RPS: '0.5',
      API_HOST: '0.0.0.0',
      API_PORT: '0',
      API_KEYS: 'shop:first-key-of-shop, ops:the-key-of-ops:1,',
      API_MAX_RPS: '7',
      WEBHOOK_SECRETS: 'the-old-secret-of-webhooks,the-new-secret-of-webhooks',
      EVENTS_URL: 'https://shop.example/events?from=screening',
      EVENTS_SECRETS: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
      CARD_STASH_KEYS: `a:${key.toString('base64')}`,
      PAYLOAD_KEYS: `b-2:${key.toString('base64')}, b-1:${older.toString('base64')}`,
      CODEC_ORIGINS: 'https://temporal.example, http://127.0.0.1:9000',
      CODEC_TOKEN: 'abcdefghijklmnopqrstuv',
      METRICS_PORT: '9000',
      LOG_LEVEL: 'debug',
      ALLOW_PLAINTEXT: 'redis:a mesh encrypts it, temporal: one network',
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'shop',
      TEMPORAL_PORT: '1',
      TEMPORAL_UI_PORT: '2',
      DATA_DIR: '/var/lib/screening',
      SANDBOX_PORT: '3',
      SANDBOX_WEBHOOK_URL: 'http://127.0.0.1:8080/v1/webhooks/default/some-secret',
    });
    expect(config).toMatchObject({
      maxRps: 0.5,
      api: { host: '0.0.0.0', port: 0, maxRps: 7 },
      webhookSecrets: ['the-old-secret-of-webhooks', 'the-new-secret-of-webhooks'],
      events: { common: { url: 'https://shop.example/events?from=screening' } },
      cardStash: { url: 'memory:', keys: [{ id: 'a', key }] },
      payloadKeys: [
        { id: 'b-2', key },
        { id: 'b-1', key: older },
      ],
      codec: {
        origins: ['https://temporal.example', 'http://127.0.0.1:9000'],
        token: 'abcdefghijklmnopqrstuv',
      },
      metrics: { host: '127.0.0.1', port: 9000 },
      allowPlaintext: [
        { name: 'redis', reason: 'a mesh encrypts it' },
        { name: 'temporal', reason: 'one network' },
      ],
      logLevel: 'debug',
      temporal: { embedded: false, connection: { address: 'temporal.example:7233' }, namespace: 'shop' },
      local: { temporalPort: 1, temporalUiPort: 2, dataDir: '/var/lib/screening', sandboxPort: 3 },
    });
    expect(config.api.keys).toEqual([
      hashedKey('shop', 'first-key-of-shop'),
      hashedKey('ops', 'the-key-of-ops:1'),
    ]);
    expect(config.local.sandboxWebhookUrl).toContain('/v1/webhooks/');
    expect(config.findIntegration('default')).toMatchObject({ mode: 'live', workflow: 'post-acceptance' });
  });

  it('count as not set when they are empty', () => {
    const empty = { API_KEYS: '', EVENTS_URL: '', LOG_LEVEL: '', SCREENING_CONFIG: '', TEMPORAL_ADDRESS: '' };
    expect(loadConfig({ ...least, ...empty })).toMatchObject({
      logLevel: 'info',
      temporal: { embedded: true },
    });
  });

  it('are refused with every fault at once, and no value', () => {
    const secret = 'do-not-print-me';
    const wrong = {
      SCREENING_API_KEY: '',
      SCREENING_BASE_URL: `ftp://${secret}`,
      SCREENING_PORTAL_BASE_URL: '',
      SCREENING_MODE: secret,
      SCREENING_WORKFLOW: secret,
      SCREENING_MAX_RPS: '0',
      API_HOST: '0.0.0.0',
      API_PORT: '65536',
      API_KEYS: `shop:${secret}-of-the-shop,${secret}-without-a-name`,
      API_MAX_RPS: secret,
      EVENTS_URL: secret,
      EVENTS_SECRETS: secret,
      CARD_STASH_URL: `redis://:${secret}@cache/cards`,
      CARD_STASH_KEYS: `a:${secret}`,
      PAYLOAD_KEYS: `a:${secret}`,
      CODEC_ORIGINS: `https://${secret}/path`,
      CODEC_TOKEN: secret,
      METRICS_PORT: secret,
      LOG_LEVEL: secret,
      TEMPORAL_PORT: secret,
      TEMPORAL_UI_PORT: '-1',
      SANDBOX_PORT: '1.5',
      SANDBOX_WEBHOOK_URL: `http://user:${secret}@host/`,
    };
    const faults = faultsOf(wrong);
    const variables = Object.keys(wrong).filter((name) => name !== 'API_HOST');
    expect(Object.keys(faults).sort()).toEqual([...variables].sort());
    expect(() => loadConfig({ ...least, ...wrong })).toThrow(/^The configuration has 22 errors:/);
    expect(() => loadConfig({ ...least, ...wrong })).not.toThrow(secret);
  });

  it.each([
    [{ CARD_STASH_KEYS: `a:${Buffer.alloc(16).toString('base64')}` }, 'CARD_STASH_KEYS'],
    [
      { CARD_STASH_KEYS: [1, 2].map((n) => `a:${Buffer.alloc(32, n).toString('base64')}`).join() },
      'CARD_STASH_KEYS',
    ],
    [
      { PAYLOAD_KEYS: [1, 2].map((n) => `a:${Buffer.alloc(32, n).toString('base64')}`).join() },
      'PAYLOAD_KEYS',
    ],
    [{ PAYLOAD_KEYS: ',' }, 'PAYLOAD_KEYS'],
    [{ CODEC_ORIGINS: '*' }, 'CODEC_ORIGINS'],
    [{ CODEC_ORIGINS: 'https://*.example.com' }, 'CODEC_ORIGINS'],
    [{ CODEC_ORIGINS: 'https://temporal.example/' }, 'CODEC_ORIGINS'],
    [{ CODEC_TOKEN: 'short' }, 'CODEC_TOKEN'],
    [{ SCREENING_BASE_URL: 'https://screening.example/?key=1' }, 'SCREENING_BASE_URL'],
    [{ API_HOST: '192.0.2.1' }, 'API_KEYS'],
    [{ API_KEYS: 'a-key-without-its-name' }, 'API_KEYS'],
    [{ API_KEYS: 'shop:a-short-key' }, 'API_KEYS'],
    [{ API_KEYS: 'a name:a-key-that-is-long' }, 'API_KEYS'],
    [{ API_MAX_RPS: '0' }, 'API_MAX_RPS'],
    [{ TEMPORAL_ADDRESS: 'http://temporal.example:7233' }, 'TEMPORAL_ADDRESS'],
    [{ TEMPORAL_ADDRESS: '::1:7233' }, 'TEMPORAL_ADDRESS'],
    [{ TEMPORAL_ADDRESS: 'temporal.example:' }, 'TEMPORAL_ADDRESS'],
  ])('%o are refused at %s', (env, path) => {
    expect(Object.keys(faultsOf(env))).toEqual([path]);
  });

  it.each(['redis://cache', 'rediss://user:p%40ss@cache.example:6380/3', 'redis://[::1]'])(
    'take a card stash in Redis with the keys that its processes share: %s',
    (url) => {
      expect(faultsOf({ CARD_STASH_URL: url })).toEqual({
        CARD_STASH_KEYS: expect.stringContaining('required'),
      });
      const key = { id: 'a', key: Buffer.alloc(32, 7) };
      const CARD_STASH_KEYS = `a:${key.key.toString('base64')}`;
      const { cardStash } = loadConfig({ ...least, CARD_STASH_URL: url, CARD_STASH_KEYS });
      expect(cardStash).toEqual({ url, keys: [key] });
    },
  );

  it.each([
    'cache:6379',
    'http://cache',
    'redis:cache',
    'redis://cache/cards',
    'redis://cache?db=1',
    'redis://:%@cache',
    'redis://:%FF@cache',
    'redis://%C3:password@cache',
  ])('refuse a card stash at %s without naming it', (url) => {
    expect(faultsOf({ CARD_STASH_URL: url })).toEqual({
      CARD_STASH_URL: expect.stringContaining('must be "memory:"'),
    });
    expect(() => loadConfig({ ...least, CARD_STASH_URL: url })).not.toThrow(url);
  });

  it.each(['127.0.0.1', '127.0.0.2', '::1', 'localhost'])(
    'let the API listen on %s without a key',
    (host) => {
      expect(faultsOf({ API_HOST: host })).toEqual({});
    },
  );

  it('ask a worker for the key of the service and not for API keys, and the API the other way round', () => {
    const env = { API_HOST: '0.0.0.0', SCREENING_API_KEY: '' };
    expect(Object.keys(faultsOf(env, 'worker'))).toEqual(['SCREENING_API_KEY']);
    expect(Object.keys(faultsOf(env, 'api'))).toEqual(['API_KEYS']);
  });
});

it('take no key of the service that has white space around it, from any process', () => {
  for (const role of ['worker', 'api'] as const) {
    const faults = faultsOf({ SCREENING_API_KEY: 'sk-live-1\n' }, role);
    expect(faults).toEqual({ SCREENING_API_KEY: expect.stringContaining('visible ASCII') });
    expect(faults.SCREENING_API_KEY).not.toContain('sk-live-1');
  }
});

it('keep no API key, only its hash, and take two of one name', () => {
  const keys = ['the-old-key-of-shop', 'the-new-key-of-shop'];
  const { api } = loadConfig({ ...least, API_KEYS: keys.map((key) => `shop:${key}`).join() });
  expect(api.keys.map(({ name }) => name)).toEqual(['shop', 'shop']);
  expect(api.keys.map(({ hash }) => hash)).toEqual(
    keys.map((key) => createHash('sha256').update(key).digest()),
  );
});

it('reads the settings of the embedded server and the sandbox alone', () => {
  expect(loadLocalSettings({ SANDBOX_PORT: '18090' })).toEqual({
    temporalPort: 7233,
    temporalUiPort: 8233,
    dataDir: '.data',
    sandboxPort: 18090,
  });
  expect(() => loadLocalSettings({ SANDBOX_PORT: 'x' })).toThrow('SANDBOX_PORT');
});

describe('settings that are looked at for their faults', () => {
  it('are told with every fault, beside what can be read', () => {
    const { config, faults } = inspectConfig({ ...least, API_PORT: 'http', WEBHOOK_SECRETS: 'one,two' });
    expect(faults.map(({ path }) => path)).toEqual(['API_PORT']);
    expect(config).toMatchObject({ api: { port: 8080 }, webhookSecrets: ['one', 'two'] });
    expect(config.findIntegration('default')).toBeDefined();
  });
});
