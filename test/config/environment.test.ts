import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadTemporalSettings,
  loadWorkerVersion,
  type Role,
} from '../../src/config/index.ts';
import { A_SECRET, ANOTHER, faultsIn, least, SHORT_SECRET } from './support.ts';

const faultsOf = (env: NodeJS.ProcessEnv, role?: Role) =>
  faultsIn(() => loadConfig({ ...least, ...env }, role));
const keyOf = (id: string, bytes = 32, fill = 1) => `${id}:${Buffer.alloc(bytes, fill).toString('base64')}`;

it('settings have defaults, also where a variable is empty', () => {
  const { integrations, findIntegration, ...others } = loadConfig(least);
  expect(others).toMatchObject({
    api: { host: '127.0.0.1', port: 8080, keys: [], trustProxy: [] },
    cardStash: { url: 'memory:', keys: [] },
    payloadsRequired: false,
    allowPlaintext: [],
    // A client reconnects within seconds after an outage of Temporal.
    temporal: { embedded: true, connection: { channelArgs: { 'grpc.max_reconnect_backoff_ms': 5_000 } } },
  });
  expect([...integrations.keys()]).toEqual(['default']);
  expect(findIntegration('default')).toBe(integrations.get('default'));
  expect(findIntegration('another')).toBeUndefined();
  const empty = { API_KEYS: '', EVENTS_URL: '', LOG_LEVEL: '', SCREENING_CONFIG: '', TEMPORAL_ADDRESS: '' };
  expect(JSON.stringify(loadConfig({ ...least, ...empty }))).toBe(JSON.stringify(loadConfig(least)));
});

it('every variable is read', () => {
  const [key, older] = [randomBytes(32), randomBytes(32)];
  const hash = (written: string) => createHash('sha256').update(written).digest();
  const sandboxWebhookUrl = 'http://127.0.0.1:8080/v1/webhooks/default/some-secret';
  const plain = {
    EVENTS_URL: 'https://shop.example/events?from=screening',
    CARD_STASH_URL: 'rediss://user:p%40ss@cache.example:6380/3',
    CODEC_TOKEN: 'abcdefghijklmnopqrstuv',
    LOG_LEVEL: 'debug',
    QUEUE_TIME_ZONE: 'Europe/Berlin',
    TEMPORAL_ADDRESS: 'temporal.example:7233',
    TEMPORAL_NAMESPACE: 'shop',
    TEMPORAL_UI_URL: 'https://ui.example/t',
    WORKER_DEPLOYMENT_NAME: 'orders',
    WORKER_BUILD_ID: 'v1.2.3',
    DATA_DIR: '/var/lib/screening',
    SANDBOX_WEBHOOK_URL: sandboxWebhookUrl,
  };
  const ports = { API_PORT: '0', METRICS_PORT: '9000', TEMPORAL_PORT: '1', SANDBOX_PORT: '3' };
  const config = loadConfig({
    ...{ ...least, ...plain, ...ports },
    API_MAX_RPS: '7',
    SCREENING_MODE: 'live',
    SCREENING_WORKFLOW: 'post-acceptance',
    SCREENING_MAX_RPS: '0.5',
    API_HOST: '0.0.0.0',
    METRICS_HOST: '0.0.0.0',
    API_KEYS: 'shop:first-key-of-shop, ops:the-key-of-ops:1,shop:next-key-of-shop,',
    TRUST_PROXY: '10.0.0.0/8,::1',
    WEBHOOK_SECRETS: 'the-old-secret-of-webhooks,the-new-secret-of-webhooks',
    EVENTS_SECRETS: `${A_SECRET}, ${ANOTHER}`,
    CARD_STASH_KEYS: `a:${key.toString('base64')}`,
    PAYLOAD_KEYS: `b-2:${key.toString('base64')}, b-1:${older.toString('base64')}`,
    PAYLOADS_REQUIRED: 'true',
    CODEC_ORIGINS: 'https://temporal.example, http://127.0.0.1:9000',
    ALLOW_PLAINTEXT: 'redis:a mesh encrypts it, temporal: one network',
  });
  const hashes = ['first-key-of-shop', 'the-key-of-ops:1', 'next-key-of-shop'].map(hash);
  expect(config.api.keys.map((one) => one.name)).toEqual(['shop', 'ops', 'shop']);
  expect(config.api.keys.map((one) => one.hash)).toEqual(hashes);
  expect(config.findIntegration('default')).toMatchObject({ mode: 'live', workflow: 'post-acceptance' });
  expect(config).toMatchObject({
    maxRps: 0.5,
    api: { host: '0.0.0.0', port: 0, maxRps: 7, trustProxy: ['10.0.0.0/8', '::1'] },
    webhookSecrets: ['the-old-secret-of-webhooks', 'the-new-secret-of-webhooks'],
    events: { common: { url: plain.EVENTS_URL, secrets: [A_SECRET, ANOTHER] } },
    cardStash: { url: plain.CARD_STASH_URL, keys: [{ id: 'a', key }] },
    payloadKeys: [{ id: 'b-2' }, { id: 'b-1', key: older }],
    payloadsRequired: true,
    codec: { origins: ['https://temporal.example', 'http://127.0.0.1:9000'], token: plain.CODEC_TOKEN },
    metrics: { host: '0.0.0.0', port: 9000 },
    allowPlaintext: [{ name: 'redis', reason: 'a mesh encrypts it' }, { reason: 'one network' }],
    logLevel: 'debug',
    queueTimeZone: 'Europe/Berlin',
    temporal: { embedded: false, connection: { address: 'temporal.example:7233' }, namespace: 'shop' },
    temporalUiUrl: 'https://ui.example/t',
    workerVersion: { deploymentName: 'orders', buildId: 'v1.2.3' },
    local: { temporalPort: 1, dataDir: plain.DATA_DIR, sandboxPort: 3, sandboxWebhookUrl },
  });
});

const ORIGINS = 'without path and wildcard';
const BASE_URL = 'without user, password, query, fragment and white space';
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
    ['SCREENING_API_KEY', '"sk-live-1"', 'without quotes'],
    ['SCREENING_BASE_URL', "'https://screening.example'", 'without quotes'],
    ['WEBHOOK_SECRETS', '"secret-of-the-webhooks"', 'without quotes'],
    ['LOG_LEVEL', '"info"', 'without quotes'],
    ['TEMPORAL_ADDRESS', '"temporal.example:7233"', 'without quotes'],
    ['TEMPORAL_API_KEY', "'key-of-temporal'", 'without quotes'],
    ['TEMPORAL_API_KEY', 'key-of-temporal\n', 'visible ASCII'],
    ['HTTPS_PROXY', 'http://user:pa#ss@proxy.example:3128', 'percent-encoded'],
    ['all_proxy', 'proxy.example:port', 'percent-encoded'],
    ['ALL_PROXY', 'socks5://proxy.example:1080', 'must be an HTTP proxy'],
    ['TEMPORAL_GRPC_META_*', undefined, 'visible ASCII', { TEMPORAL_GRPC_META_AUTHORIZATION: 'Bearer it\n' }],
    ['SCREENING_BASE_URL', undefined, 'is required'],
    ['SCREENING_BASE_URL', 'https://screening.example/?key=1', BASE_URL],
    ['SCREENING_BASE_URL', 'https://screening.example ', BASE_URL],
    ['SCREENING_BASE_URL', 'https://screening.example/\n', BASE_URL],
    ['SCREENING_BASE_URL', 'https://screening.example/v1?', BASE_URL],
    ['SCREENING_BASE_URL', 'https://screening.example/v1#', BASE_URL],
    ['EVENTS_URL', 'https://shop.example/events\n', 'white space'],
    ['CARD_STASH_URL', 'memory:', 'must be a Redis', { SCREENING_WORKFLOW: 'pre-gateway' }, 'worker'],
    ['CARD_STASH_URL', undefined, 'must be a Redis', { SCREENING_WORKFLOW: 'pre-gateway' }, 'api'],
    ['SCREENING_MODE', 'production', '"test", "live"'],
    ['SCREENING_WORKFLOW', 'afterwards', '"pre-gateway"'],
    ['SCREENING_MAX_RPS', '0', 'more than 0'],
    ['API_PORT', '65536', 'from 0 to 65535'],
    ['API_PORT', 'tcp://10.0.0.1:80', 'enableServiceLinks: false'],
    ['METRICS_PORT', 'udp://10.0.0.1:80', 'enableServiceLinks: false'],
    ['API_KEYS', undefined, 'is required to listen', { API_HOST: '192.0.2.1' }],
    ['API_KEYS', undefined, 'is required with TRUST_PROXY', { TRUST_PROXY: '127.0.0.1' }],
    ['API_KEYS', ',', 'must be a list "name:key,…"'],
    ['API_KEYS', 'a-key-without-its-name', ENTRIES],
    ['API_KEYS', 'shop:a-short-key', ENTRIES],
    ['API_KEYS', 'a name:a-key-that-is-long', ENTRIES],
    ['WEBHOOK_SECRETS', ' , ', 'at least one secret'],
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
    ['WORKER_BUILD_ID', undefined, 'is required with', { WORKER_DEPLOYMENT_NAME: 'a' }],
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
    const wrong = {
      ...{ SCREENING_API_KEY: '', SCREENING_MODE: secret, METRICS_PORT: secret, LOG_LEVEL: secret },
      ...{ TEMPORAL_PORT: secret, TEMPORAL_UI_PORT: secret, SANDBOX_PORT: secret },
      API_KEYS: `shop:${secret}-of-the-shop,${secret}-without-a-name`,
      CARD_STASH_URL: `redis://:${secret}@cache/cards`,
      SANDBOX_WEBHOOK_URL: `http://user:${secret}@host/`,
    };
    expect(Object.keys(faultsOf(wrong)).sort()).toEqual(Object.keys(wrong).sort());
    const load = () => loadConfig({ ...least, ...wrong });
    expect(load).toThrow(/^The configuration has 10 errors:\n {2}[A-Z_]+: .*\n {2}[A-Z_]+: /);
    expect(load).not.toThrow(secret);
  });
});

describe('each process reads what it needs', () => {
  it('a worker the key of the screening service, the API its API keys', () => {
    const env = { API_HOST: '0.0.0.0', SCREENING_API_KEY: '' };
    expect(Object.keys(faultsOf(env, 'worker'))).toEqual(['SCREENING_API_KEY']);
    expect(Object.keys(faultsOf(env, 'api'))).toEqual(['API_KEYS']);
    const ports = { API_PORT: 'tcp://10.0.0.1:80', SANDBOX_PORT: 'x', METRICS_PORT: 'x' };
    expect(Object.keys(faultsOf(ports, 'worker'))).toEqual(['METRICS_PORT']);
    expect(Object.keys(faultsOf(ports, 'api'))).toEqual(['API_PORT']);
    expect(Object.keys(faultsOf(ports))).toEqual(['SANDBOX_PORT', 'API_PORT', 'METRICS_PORT']);
    for (const API_HOST of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
      expect(faultsOf({ API_HOST })).toEqual({});
    }
  });

  it('a client no key of the screening service and no setting of a server', () => {
    const client = { ...least, SCREENING_API_KEY: '', API_HOST: '0.0.0.0', EVENTS_URL: 'nowhere' };
    const settings = loadClientSettings(client);
    expect(settings.findIntegration('default')).toMatchObject({ name: 'default', mode: 'test' });
    expect(settings.temporal.connection.address).toBe('127.0.0.1:7233');
    const wrong = { ...client, SCREENING_MODE: 'real', CARD_STASH_URL: 'redis://127.0.0.1' };
    const faults = Object.keys(faultsIn(() => loadClientSettings(wrong)));
    expect(faults).toEqual(['SCREENING_MODE', 'CARD_STASH_KEYS']);
  });

  it('the embedded server and the sandbox their own, and the set-up the version of the workers', () => {
    expect(faultsOf({ PAYLOADS_REQUIRED: 'true' })).toEqual({});
    expect(loadLocalSettings({ TEMPORAL_UI_PORT: '18233', API_PORT: 'x' }).temporalUiPort).toBe(18233);
    expect(() => loadLocalSettings({ TEMPORAL_UI_PORT: 'x' })).toThrow('TEMPORAL_UI_PORT');
    const version = { WORKER_DEPLOYMENT_NAME: 'orders', WORKER_BUILD_ID: 'v1.2.3' };
    expect(loadWorkerVersion(version)).toEqual({ deploymentName: 'orders', buildId: 'v1.2.3' });
    expect(loadWorkerVersion({ WORKER_DEPLOYMENT_NAME: '' })).toBeUndefined();
  });

  it.each([
    ['an order service', ['TEMPORAL_UI_PORT', 'SANDBOX_PORT'], loadClientSettings],
    ['the set-up', ['TEMPORAL_UI_PORT', 'SANDBOX_PORT'], loadTemporalSettings],
    ['the embedded server', ['SANDBOX_PORT'], loadLocalSettings],
    ['`npm run serve`', ['SANDBOX_PORT'], (env: NodeJS.ProcessEnv) => loadConfig(env, 'serve')],
  ])('%s no port of a server that it does not start: %j', (_who, ports, load) => {
    const ofServices = Object.fromEntries(ports.map((name) => [name, 'tcp://10.0.0.1:80']));
    expect(faultsIn(() => load({ ...least, ...ofServices }))).toEqual({});
    expect(Object.keys(faultsIn(() => load({ ...least, ...ofServices, TEMPORAL_PORT: 'x' })))).toEqual([
      'TEMPORAL_PORT',
    ]);
  });

  it('doctor all settings, with the default of each that has an error', () => {
    const { config, fieldErrors } = inspectConfig({ ...least, API_PORT: 'http', WEBHOOK_SECRETS: 'one,two' });
    expect(fieldErrors.map(({ path }) => path)).toEqual(['API_PORT']);
    expect(config).toMatchObject({ api: { port: 8080 }, webhookSecrets: ['one', 'two'] });
    expect(config.findIntegration('default')).toBeDefined();
  });
});
