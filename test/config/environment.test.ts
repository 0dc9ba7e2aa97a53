import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadWorkerVersion,
  type Role,
} from '../../src/config/index.ts';
import { A_SECRET, ANOTHER, faultsIn, least, SHORT_SECRET } from './support.ts';

const faultsOf = (env: NodeJS.ProcessEnv, role?: Role) =>
  faultsIn(() => loadConfig({ ...least, ...env }, role));
const keyOf = (id: string, bytes = 32, fill = 1) => `${id}:${Buffer.alloc(bytes, fill).toString('base64')}`;

it('settings have the defaults that are promised', () => {
  const { integrations, findIntegration, ...others } = loadConfig(least);
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
    queueTimeZone: 'UTC',
    temporal: {
      embedded: true,
      // A client reconnects within seconds after an outage of Temporal.
      connection: { address: '127.0.0.1:7233', channelArgs: { 'grpc.max_reconnect_backoff_ms': 5_000 } },
      namespace: 'default',
    },
    temporalUiUrl: 'http://127.0.0.1:8233',
    local: { temporalPort: 7233, temporalUiPort: 8233, dataDir: '.data', sandboxPort: 8090 },
  });
  expect([...integrations.keys()]).toEqual(['default']);
  expect(findIntegration('default')).toBe(integrations.get('default'));
  expect(findIntegration('another')).toBeUndefined();
  const empty = { API_KEYS: '', EVENTS_URL: '', LOG_LEVEL: '', SCREENING_CONFIG: '', TEMPORAL_ADDRESS: '' };
  expect(JSON.stringify(loadConfig({ ...least, ...empty }))).toBe(JSON.stringify(loadConfig(least)));
});

it('every variable is read', () => {
  const [key, older] = [randomBytes(32), randomBytes(32)];
  const config = loadConfig({
    ...least,
    SCREENING_MODE: 'live',
    SCREENING_WORKFLOW: 'post-acceptance',
    SCREENING_MAX_RPS: '0.5',
    API_HOST: '0.0.0.0',
    API_PORT: '0',
    API_KEYS: 'shop:first-key-of-shop, ops:the-key-of-ops:1,shop:next-key-of-shop,',
    API_MAX_RPS: '7',
    TRUST_PROXY: '10.0.0.0/8,::1',
    WEBHOOK_SECRETS: 'the-old-secret-of-webhooks,the-new-secret-of-webhooks',
    EVENTS_URL: 'https://shop.example/events?from=screening',
    EVENTS_SECRETS: `${A_SECRET}, ${ANOTHER}`,
    CARD_STASH_URL: 'rediss://user:p%40ss@cache.example:6380/3',
    CARD_STASH_KEYS: `a:${key.toString('base64')}`,
    PAYLOAD_KEYS: `b-2:${key.toString('base64')}, b-1:${older.toString('base64')}`,
    PAYLOADS_REQUIRED: 'true',
    CODEC_ORIGINS: 'https://temporal.example, http://127.0.0.1:9000',
    CODEC_TOKEN: 'abcdefghijklmnopqrstuv',
    METRICS_HOST: '0.0.0.0',
    METRICS_PORT: '9000',
    LOG_LEVEL: 'debug',
    ALLOW_PLAINTEXT: 'redis:a mesh encrypts it, temporal: one network',
    QUEUE_TIME_ZONE: 'Europe/Berlin',
    TEMPORAL_ADDRESS: 'temporal.example:7233',
    TEMPORAL_NAMESPACE: 'shop',
    TEMPORAL_UI_URL: 'https://ui.example/t',
    TEMPORAL_PORT: '1',
    TEMPORAL_UI_PORT: '2',
    WORKER_DEPLOYMENT_NAME: 'orders',
    WORKER_BUILD_ID: 'v1.2.3',
    DATA_DIR: '/var/lib/screening',
    SANDBOX_PORT: '3',
    SANDBOX_WEBHOOK_URL: 'http://127.0.0.1:8080/v1/webhooks/default/some-secret',
  });
  expect(config).toMatchObject({
    maxRps: 0.5,
    api: { host: '0.0.0.0', port: 0, maxRps: 7, trustProxy: ['10.0.0.0/8', '::1'] },
    webhookSecrets: ['the-old-secret-of-webhooks', 'the-new-secret-of-webhooks'],
    events: { common: { url: 'https://shop.example/events?from=screening', secrets: [A_SECRET, ANOTHER] } },
    cardStash: { url: 'rediss://user:p%40ss@cache.example:6380/3', keys: [{ id: 'a', key }] },
    payloadKeys: [
      { id: 'b-2', key },
      { id: 'b-1', key: older },
    ],
    payloadsRequired: true,
    codec: {
      origins: ['https://temporal.example', 'http://127.0.0.1:9000'],
      token: 'abcdefghijklmnopqrstuv',
    },
    metrics: { host: '0.0.0.0', port: 9000 },
    allowPlaintext: [
      { name: 'redis', reason: 'a mesh encrypts it' },
      { name: 'temporal', reason: 'one network' },
    ],
    logLevel: 'debug',
    queueTimeZone: 'Europe/Berlin',
    temporal: { embedded: false, connection: { address: 'temporal.example:7233' }, namespace: 'shop' },
    temporalUiUrl: 'https://ui.example/t',
    workerVersion: { deploymentName: 'orders', buildId: 'v1.2.3' },
    local: {
      temporalPort: 1,
      temporalUiPort: 2,
      dataDir: '/var/lib/screening',
      sandboxPort: 3,
      sandboxWebhookUrl: 'http://127.0.0.1:8080/v1/webhooks/default/some-secret',
    },
  });
  expect(config.findIntegration('default')).toMatchObject({ mode: 'live', workflow: 'post-acceptance' });
  const hash = (written: string) => createHash('sha256').update(written).digest();
  expect(config.api.keys.map((one) => [one.name, one.hash])).toEqual([
    ['shop', hash('first-key-of-shop')],
    ['ops', hash('the-key-of-ops:1')],
    ['shop', hash('next-key-of-shop')],
  ]);
});

const ORIGINS = 'without path and wildcard';
const BASE_URL = 'without user, password, query and fragment';
const STASH_URL = 'must be "memory:", or redis';
const KEYS = 'must be a list "id:base64,…"';
const ENTRIES = 'must be a list "name:key,…"';
const SECRETS = 'must be a list of secrets';
const ADDRESS = 'must be host or host:port';
const events = { EVENTS_URL: 'https://shop.example/events' };

describe('a variable is refused in words that hold no value', () => {
  it.each<[path: string, value: string | undefined, words: string, others?: NodeJS.ProcessEnv, role?: Role]>([
    ['SCREENING_API_KEY', '', 'is not set'],
    ['SCREENING_API_KEY', 'sk-live-1\n', 'visible ASCII'],
    ['SCREENING_API_KEY', ' sk-live-1', 'visible ASCII', {}, 'api'],
    ['SCREENING_BASE_URL', undefined, 'is required'],
    ['SCREENING_BASE_URL', 'https://screening.example/?key=1', BASE_URL],
    ['SCREENING_MODE', 'production', '"test", "live"'],
    ['SCREENING_WORKFLOW', 'afterwards', '"pre-gateway"'],
    ['SCREENING_MAX_RPS', '0', 'more than 0'],
    ['API_PORT', '65536', 'from 0 to 65535'],
    ['API_PORT', 'tcp://10.0.0.1:80', 'from 0 to 65535'],
    ['API_KEYS', undefined, 'is required to listen', { API_HOST: '192.0.2.1' }],
    ['API_KEYS', ',', 'is required to listen', { API_HOST: '192.0.2.1' }],
    ['API_KEYS', 'a-key-without-its-name', ENTRIES],
    ['API_KEYS', 'shop:a-short-key', ENTRIES],
    ['API_KEYS', 'a name:a-key-that-is-long', ENTRIES],
    ['API_MAX_RPS', '0', 'whole number'],
    ['TRUST_PROXY', '10.0.0.0/33', 'IP addresses'],
    ['TRUST_PROXY', '0.0.0.0/0', 'IP addresses'],
    ['TRUST_PROXY', 'proxy.example', 'IP addresses'],
    ['EVENTS_URL', 'shop.example', 'must be an http'],
    ['EVENTS_SECRETS', undefined, 'is required with EVENTS_URL', events],
    ['EVENTS_SECRETS', `${A_SECRET},${SHORT_SECRET}`, SECRETS, events],
    ['EVENTS_SECRETS', A_SECRET.slice('whsec_'.length), SECRETS, events],
    ['EVENTS_SECRETS', ',', SECRETS, events],
    ['CARD_STASH_URL', 'cache:6379', STASH_URL],
    ['CARD_STASH_URL', 'http://cache', STASH_URL],
    ['CARD_STASH_URL', 'redis://cache/cards', STASH_URL],
    ['CARD_STASH_URL', 'redis://cache?db=1', STASH_URL],
    ['CARD_STASH_URL', 'redis://:%FF@cache', STASH_URL],
    ['CARD_STASH_URL', 'redis://%C3:password@cache', STASH_URL],
    ['CARD_STASH_KEYS', undefined, 'is required with a Redis', { CARD_STASH_URL: 'redis://[::1]' }],
    ['CARD_STASH_KEYS', keyOf('a', 16), KEYS],
    ['CARD_STASH_KEYS', `${keyOf('a')},${keyOf('a', 32, 2)}`, KEYS],
    ['PAYLOAD_KEYS', `${keyOf('a')},${keyOf('a', 32, 2)}`, KEYS],
    ['PAYLOAD_KEYS', ',', 'at least one key'],
    ['PAYLOADS_REQUIRED', 'yes', '"true", "false"'],
    ['PAYLOADS_REQUIRED', 'true', 'requires PAYLOAD_KEYS', { TEMPORAL_ADDRESS: 'temporal.example' }],
    ['CODEC_ORIGINS', '*', ORIGINS],
    ['CODEC_ORIGINS', 'https://*.example.com', ORIGINS],
    ['CODEC_ORIGINS', 'https://temporal.example/', ORIGINS],
    ['CODEC_TOKEN', 'short-token', '22 to 128'],
    ['QUEUE_TIME_ZONE', 'Berlin/Europe', 'a time zone'],
    ['TEMPORAL_ADDRESS', 'http://temporal.example:7233', ADDRESS],
    ['TEMPORAL_ADDRESS', '::1:7233', ADDRESS],
    ['TEMPORAL_ADDRESS', 'temporal.example:', ADDRESS],
    ['TEMPORAL_UI_URL', 'javascript:alert(1)', BASE_URL],
    ['TEMPORAL_UI_URL', 'https://ui.example/?x=1', BASE_URL],
    [
      'WORKER_BUILD_ID',
      undefined,
      'is required with WORKER_DEPLOYMENT_NAME',
      { WORKER_DEPLOYMENT_NAME: 'a' },
    ],
    ['WORKER_DEPLOYMENT_NAME', undefined, 'is required with WORKER_BUILD_ID', { WORKER_BUILD_ID: 'v1' }],
    ['WORKER_DEPLOYMENT_NAME', 'orders.of.shop', 'letters, digits', { WORKER_BUILD_ID: 'v1' }],
    ['WORKER_BUILD_ID', 'with space', 'letters, digits', { WORKER_DEPLOYMENT_NAME: 'a' }],
  ])('%s=%s: %s', (path, value, words, others, role) => {
    const fieldErrors = faultsOf({ ...others, [path]: value }, role);
    expect(fieldErrors).toEqual({ [path]: expect.stringContaining(words) });
    if (value && value !== 'true' && value.length > 1) expect(fieldErrors[path]).not.toContain(value.trim());
  });

  it('together with all others, in one error', () => {
    const secret = 'do-not-print-me';
    const names =
      `SCREENING_MODE SCREENING_WORKFLOW SCREENING_MAX_RPS API_PORT API_MAX_RPS TRUST_PROXY EVENTS_URL
      EVENTS_SECRETS QUEUE_TIME_ZONE CARD_STASH_KEYS PAYLOAD_KEYS CODEC_TOKEN METRICS_PORT LOG_LEVEL TEMPORAL_PORT
      TEMPORAL_UI_PORT SANDBOX_PORT`.split(/\s+/);
    const wrong = {
      ...Object.fromEntries(names.map((name) => [name, secret])),
      SCREENING_API_KEY: '',
      SCREENING_BASE_URL: `ftp://${secret}`,
      SCREENING_PORTAL_BASE_URL: '',
      API_KEYS: `shop:${secret}-of-the-shop,${secret}-without-a-name`,
      CARD_STASH_URL: `redis://:${secret}@cache/cards`,
      CODEC_ORIGINS: `https://${secret}/path`,
      SANDBOX_WEBHOOK_URL: `http://user:${secret}@host/`,
    };
    expect(Object.keys(faultsOf({ ...wrong, API_HOST: '0.0.0.0' })).sort()).toEqual(
      Object.keys(wrong).sort(),
    );
    const load = () => loadConfig({ ...least, ...wrong });
    expect(load).toThrow(/^The configuration has 24 errors:\n {2}SCREENING_WORKFLOW: must be one of "pre-/);
    expect(load).not.toThrow(secret);
  });
});

describe('each process reads what it needs', () => {
  it('a worker the key of the screening service, the API its API keys', () => {
    const env = { API_HOST: '0.0.0.0', SCREENING_API_KEY: '' };
    expect(Object.keys(faultsOf(env, 'worker'))).toEqual(['SCREENING_API_KEY']);
    expect(Object.keys(faultsOf(env, 'api'))).toEqual(['API_KEYS']);
    for (const API_HOST of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
      expect(faultsOf({ API_HOST })).toEqual({});
    }
  });

  it('the embedded server gets payload keys of its own', () => {
    expect(faultsOf({ PAYLOADS_REQUIRED: 'true' })).toEqual({});
  });

  it('a client no key of the screening service and no setting of a server', () => {
    const client = { ...least, SCREENING_API_KEY: '', API_HOST: '0.0.0.0', EVENTS_URL: 'nowhere' };
    const settings = loadClientSettings(client);
    expect(settings.findIntegration('default')).toMatchObject({ name: 'default', mode: 'test' });
    expect(settings.temporal.connection.address).toBe('127.0.0.1:7233');
    const wrong = { ...client, SCREENING_MODE: 'real', CARD_STASH_URL: 'redis://127.0.0.1' };
    expect(Object.keys(faultsIn(() => loadClientSettings(wrong)))).toEqual([
      'SCREENING_MODE',
      'CARD_STASH_KEYS',
    ]);
  });

  it('the embedded server and the sandbox their own', () => {
    expect(loadLocalSettings({ SANDBOX_PORT: '18090', API_PORT: 'x' }).sandboxPort).toBe(18090);
    expect(() => loadLocalSettings({ SANDBOX_PORT: 'x' })).toThrow('SANDBOX_PORT');
  });

  it('the set-up the version of the workers', () => {
    const version = { WORKER_DEPLOYMENT_NAME: 'orders', WORKER_BUILD_ID: 'v1.2.3' };
    expect(loadWorkerVersion(version)).toEqual({ deploymentName: 'orders', buildId: 'v1.2.3' });
    expect(loadWorkerVersion({ WORKER_DEPLOYMENT_NAME: '' })).toBeUndefined();
  });

  it('doctor all settings, with the default of each that has an error', () => {
    const { config, fieldErrors } = inspectConfig({ ...least, API_PORT: 'http', WEBHOOK_SECRETS: 'one,two' });
    expect(fieldErrors.map(({ path }) => path)).toEqual(['API_PORT']);
    expect(config).toMatchObject({ api: { port: 8080 }, webhookSecrets: ['one', 'two'] });
    expect(config.findIntegration('default')).toBeDefined();
  });
});
