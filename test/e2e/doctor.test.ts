import { randomBytes } from 'node:crypto';
import { createClient } from 'redis';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setupTemporal } from '../../src/temporal/namespace.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, spawnForTest, withTestServer } from '../support/index.ts';
import { type RedisServer, redisInstalled, startRedis } from '../support/redis-server.ts';
import { aFile, aNamespace, aReadyNamespace, examine, fault, serve, warning } from './doctor-support.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const PORTAL_PATH = '/portal/api/v1/transaction-update';
const withRedis = await redisInstalled();
const server = withTestServer();
let all: Deployment;
let redis: RedisServer | undefined;
/** The whole output of every run, searched for secrets at the end. */
let printed = '';

beforeAll(async () => {
  if (withRedis) redis = await startRedis({ password: 'password-of-redis' });
  const env = { TEMPORAL_NAMESPACE: await aReadyNamespace(server.connection) };
  all = await deploy(server.address, { default: { poll: { first: '30s', factor: 1, max: '30s' } } }, { env });
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

/** The settings of a good deployment without a policy file, so that one variable can be spoilt. */
function goodSettings(): Record<string, string | undefined> {
  return {
    ...all.settings,
    SCREENING_CONFIG: undefined,
    SCREENING_BASE_URL: all.sandbox.testBaseUrl,
    SCREENING_PORTAL_BASE_URL: `${all.sandbox.url}${PORTAL_PATH}`,
    CARD_STASH_URL: redis?.url,
    CARD_STASH_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
  };
}

/** Runs the doctor with some settings spoilt. */
async function doctor(spoilt: Record<string, string | undefined> = {}, ...args: string[]) {
  const run = await examine({ ...goodSettings(), ...spoilt }, ...args);
  printed += run.printed;
  const bad = run.findings.filter(({ status }) => status === 'error' || status === 'warning');
  return { ...run, bad };
}

describe('doctor in a good set-up', () => {
  it('finds nothing wrong, and says of each part that it is well', async () => {
    const { code, findings, bad } = await doctor();
    expect(bad).toEqual([]);
    expect(code).toBe(0);
    const well = findings.filter(({ status }) => status === 'ok').map(({ check }) => check);
    expect(well).toEqual(
      expect.arrayContaining([
        'settings',
        'temporal',
        'namespace',
        'search-attributes',
        ...['', '-background', '-polls'].map((queue) => `task-queue:order-screening${queue}`),
        'polls',
        'portal-actions',
        'screening-service:default',
        'clock:screening-service:default',
        'api',
        'webhook-secrets',
        'events',
        ...(withRedis ? ['card-stash', 'card-stash-persistence'] : []),
      ]),
    );
  });

  it('changes nothing: no transaction is made, and no order', async () => {
    const before = all.sandbox.control.transactions().length;
    await doctor();
    expect(all.sandbox.control.transactions()).toHaveLength(before);
    const operations = all.sandbox.control.ledger({}).map(({ operation }) => operation);
    expect(new Set(operations)).toEqual(new Set(['status-by-url', 'unknown']));
  });

  it('is a process that shows it in words on demand', async () => {
    const env = { ...goodSettings(), NO_COLOR: '1' };
    const { code, stdout, stderr } = await runCli(['doctor', '--table'], env);
    printed += stdout + stderr;
    expect(stdout).toMatch(/^ok {7}settings: every variable/);
    expect(stdout).toContain('0 errors, 0 warnings.');
    expect(code).toBe(0);
  });
});

describe('doctor names the fault when', () => {
  it('Temporal is not there', async () => {
    const { code, bad } = await doctor({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` });
    expect(bad).toEqual([fault('temporal', 'does not answer at 127.0.0.1', 'TEMPORAL_ADDRESS')]);
    expect(code).toBe(6);
  });

  it('the namespace does not exist', async () => {
    const { code, bad } = await doctor({ TEMPORAL_NAMESPACE: 'nowhere' });
    expect(bad).toEqual([fault('namespace', 'nowhere does not exist', 'TEMPORAL_NAMESPACE')]);
    expect(code).toBe(6);
  });

  it('the search attributes are not registered, and when no worker is there', async () => {
    const namespace = await aNamespace(server.connection);
    const noWorker = [
      fault('task-queue:order-screening', 'no worker polls', 'npm run worker'),
      fault('task-queue:order-screening-background', 'no worker polls', 'npm run worker'),
      fault('task-queue:order-screening-reads', 'no worker polls', 'npm run worker'),
      fault('task-queue:order-screening-polls', 'no worker polls', 'npm run worker'),
    ];
    expect((await doctor({ TEMPORAL_NAMESPACE: namespace })).bad).toEqual([
      fault('search-attributes', /lacks ScreeningPhase, /, 'setup:temporal'),
      ...noWorker,
    ]);
    await setupTemporal(server.connection, namespace);
    expect((await doctor({ TEMPORAL_NAMESPACE: namespace })).bad).toEqual(noWorker);
  });

  it('the key of the service is wrong', async () => {
    const { code, bad } = await doctor({ SCREENING_API_KEY: 'a-wrong-key' });
    expect(bad).toEqual([fault('screening-service:default', 'refuses the key', 'apiKeyEnv')]);
    expect(code).toBe(6);
  });

  it('the address of the service leads elsewhere', async () => {
    const { bad } = await doctor({ SCREENING_BASE_URL: `${all.sandbox.url}/nowhere` });
    expect(bad).toEqual([
      fault('screening-service:default', 'not as the screening service does', 'SCREENING_BASE_URL'),
    ]);
  });

  it('the service is down', async () => {
    const { bad } = await doctor({ SCREENING_BASE_URL: `http://127.0.0.1:${await freePort()}/test` });
    expect(bad).toEqual([fault('screening-service:default', 'connection-refused', 'SCREENING_BASE_URL')]);
  });

  it('the portal address is cut short', async () => {
    const { bad } = await doctor({ SCREENING_PORTAL_BASE_URL: `${all.sandbox.url}/portal` });
    expect(bad).toEqual([warning('portal-address:default', 'does not end in', 'SCREENING_PORTAL_BASE_URL')]);
  });

  it("the service's clock is ten minutes ahead", async () => {
    const date = () => new Date(Date.now() + 600_000).toUTCString();
    const ahead = await serve((_request, response) => {
      response.writeHead(404, { date: date(), 'content-type': 'application/json' });
      response.end(JSON.stringify({ Errors: ['Transaction Not Found'] }));
    });
    const { code, bad } = await doctor({ SCREENING_BASE_URL: ahead });
    expect(bad).toEqual([fault('clock:screening-service:default', /(599|600|601) s ahead of/, 'NTP')]);
    expect(code).toBe(6);
  });

  it('the API is down', async () => {
    const { bad } = await doctor({ API_PORT: String(await freePort()) });
    expect(bad).toEqual([fault('api', 'does not answer', 'npm run api')]);
  });

  it('the API has other keys, or no Temporal', async () => {
    const port = await freePort();
    const spoilt = { API_PORT: String(port), API_KEYS: 'doctor:long-key-of-the-api-process' };
    const api = (env: Record<string, string>) =>
      spawnForTest('src/api.ts', { env: { ...all.settings, ...env }, readyWhen: /listening/i });
    const elsewhere = await freePort();
    const away = { API_PORT: String(elsewhere), TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    await Promise.all([api(spoilt), api(away)]);
    expect((await doctor(spoilt)).bad).toEqual([]);
    expect((await doctor({ ...spoilt, API_KEYS: 'doctor:another-key-altogether-and-long' })).bad).toEqual([
      fault('api', 'refuses the first of API_KEYS', 'API_KEYS'),
    ]);
    expect((await doctor({}, '--api', `http://127.0.0.1:${elsewhere}`)).bad).toEqual([
      fault('api', "can't reach Temporal", 'TEMPORAL_'),
    ]);
  });

  it('the events receiver is down', async () => {
    const { bad } = await doctor({ EVENTS_URL: `http://127.0.0.1:${await freePort()}/events` });
    expect(bad).toEqual([fault('events', 'does not answer', 'EVENTS_URL')]);
  });

  it('the events receiver has another secret', async () => {
    const webhook = new Webhook(`whsec_${randomBytes(24).toString('base64')}`);
    const url = await serve(async (request, response) => {
      const body = (await request.toArray()).join('');
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      try {
        webhook.verify(body, headers);
        response.writeHead(204).end();
      } catch {
        response.writeHead(401).end();
      }
    });
    const { bad } = await doctor({ EVENTS_URL: `${url}/events?token=token-of-the-receiver` });
    expect(bad).toEqual([fault('events', 'refuses the signature', 'EVENTS_SECRETS')]);
  });

  it('no webhook secret is set, or one that can be guessed', async () => {
    const none = await doctor({ WEBHOOK_SECRETS: undefined });
    expect(none.bad).toEqual([warning('webhook-secrets', 'every webhook is refused', 'WEBHOOK_SECRETS')]);
    expect(none.code).toBe(0);
    const short = await doctor({ WEBHOOK_SECRETS: 'hunter2' });
    expect(short.bad).toEqual([warning('webhook-secrets', 'fewer than 16', 'long random')]);
  });

  it('settings are not well formed: every one is named, and the rest is looked at all the same', async () => {
    const { code, bad, findings } = await doctor({
      CARD_STASH_KEYS: 'one:key-that-is-too-short',
      PAYLOAD_KEYS: 'key-without-an-id',
      API_HOST: '0.0.0.0',
      EVENTS_SECRETS: undefined,
    });
    expect(bad.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^CARD_STASH_KEYS must be a list/),
      expect.stringMatching(/^PAYLOAD_KEYS must be a list/),
      expect.stringMatching(/^EVENTS_SECRETS is required/),
      expect.stringMatching(/^API_KEYS is required/),
    ]);
    expect(code).toBe(6);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'temporal', status: 'ok' }));
    expect(findings).toContainEqual(expect.objectContaining({ check: 'events', status: 'skipped' }));
  });

  it('the policy file has a typing error', async () => {
    const file = await aFile('{"integrations": {"default": {"autoCancle": false}}}');
    const { bad, findings } = await doctor({ SCREENING_CONFIG: file });
    expect(bad).toEqual([
      fault('settings', 'integrations.default.baseUrl is required', 'does not start'),
      fault('settings', 'integrations.default.portalBaseUrl is required', 'does not start'),
      fault('settings', 'integrations.default.autoCancle is not a known key', 'does not start'),
    ]);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'polls', status: 'skipped' }));
  });

  it('open reviews are more than can be polled in time', async () => {
    const orderId = anOrderId();
    await all.call('POST', `/v1/orders/${orderId}/screening`, {
      transaction: withEmail('review@example.com'),
    });
    await eventually(async () => {
      const { code, bad } = await doctor({ SCREENING_MAX_RPS: '0.001' });
      expect(bad).toEqual([
        warning('polls', /longer than the longest poll pause of 900 s/, 'SCREENING_MAX_RPS'),
      ]);
      expect(code).toBe(0);
    });
  });

  it.skipIf(!withRedis)('Redis writes to disk', async () => {
    const client = createClient({ url: redis?.url ?? '' });
    await client.connect();
    await client.configSet('save', '3600 1');
    const saving = await doctor();
    await client.configSet('save', '');
    client.destroy();
    expect(saving.bad).toEqual([fault('card-stash-persistence', 'writes to disk', 'appendonly no')]);
    expect(saving.code).toBe(6);
  });

  it.skipIf(!withRedis)('Redis has another password, or is down', async () => {
    const address = new URL(redis?.url ?? '');
    address.password = 'another-password';
    const refused = await doctor({ CARD_STASH_URL: address.href });
    expect(refused.bad).toEqual([fault('card-stash', /WRONGPASS|refused|did not answer/, 'CARD_STASH_URL')]);
    const down = await doctor({ CARD_STASH_URL: `redis://127.0.0.1:${await freePort()}` });
    expect(down.bad).toEqual([fault('card-stash', 'does not answer', 'CARD_STASH_URL')]);
  });

  it('pre-gateway orders have no Redis', async () => {
    const { bad } = await doctor({ SCREENING_WORKFLOW: 'pre-gateway', CARD_STASH_URL: undefined });
    expect(bad).toEqual([fault('card-stash', 'reach no other process', 'CARD_STASH_URL')]);
  });
});

describe('doctor keeps to itself', () => {
  it('every key, secret and password, of all set-ups above', () => {
    expect(printed.length).toBeGreaterThan(10_000);
    const secrets = [
      'sandbox-test-key',
      'a-wrong-key',
      'key-of-the-api',
      'another-key',
      'password-of-redis',
      'another-password',
      'key-that-is-too-short',
      'key-without-an-id',
      'hunter2',
      'token-of-the-receiver',
      all.settings.EVENTS_SECRETS ?? '',
      all.settings.WEBHOOK_SECRETS ?? '',
      Buffer.alloc(32, 7).toString('base64'),
    ];
    for (const secret of secrets) expect(printed.includes(secret), secret).toBe(false);
  });
});
