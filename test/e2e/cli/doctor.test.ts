/** `doctor` over a whole deployment. Checks that need none are in `test/cli/doctor.test.ts`. */
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLLED_QUEUES, TASK_QUEUE_TYPE } from '../../../src/contract/ids.ts';
import { makeCurrent } from '../../../src/platform/current-version.ts';
import { setupTemporal, startSweep } from '../../../src/platform/namespace.ts';
import { eventually, freePort, spawnForTest, withTestServer } from '../../support/index.ts';
import { type RedisServer, redisInstalled, startRedis } from '../../support/servers/redis-server.ts';
import { type Deployment, deploy } from '../support.ts';
import {
  aNamespace,
  examine,
  fault,
  receiverOfAnotherSecret,
  serviceAhead,
  warning,
} from './doctor-support.ts';

const withRedis = await redisInstalled();
const server = withTestServer();
let all: Deployment;
let redis: RedisServer | undefined;
/** The whole output of every run, searched for secrets at the end. */
let printed = '';

const SERVICE = 'screening-service:default';
const nobody = async () => `127.0.0.1:${await freePort()}`;
const atNobody = async () => `http://${await nobody()}/test`;
const deadRedis = async () => `redis://${await nobody()}`;
const elsewhere = () => `${all.sandbox.url}/nowhere`;

/** A namespace as orders need it. Orders of other tests, in other namespaces, are encrypted with other keys. */
async function aReadyNamespace(): Promise<string> {
  const namespace = await aNamespace(server.connection);
  await setupTemporal(server.connection, namespace);
  await startSweep(server.connection, namespace);
  return namespace;
}

beforeAll(async () => {
  if (withRedis) redis = await startRedis({ password: 'password-of-redis' });
  const env = { TEMPORAL_NAMESPACE: await aReadyNamespace() };
  all = await deploy(server.address, { default: { poll: { first: '30s', factor: 1, max: '30s' } } }, { env });
});
afterAll(async () => {
  await all?.stop();
  await redis?.stop();
});

/** The settings of a good deployment without a policy file, so that one variable can be spoilt. */
const goodSettings = (): NodeJS.ProcessEnv => ({
  ...all.settings,
  SCREENING_CONFIG: undefined,
  SCREENING_BASE_URL: all.sandbox.testBaseUrl,
  SCREENING_PORTAL_BASE_URL: all.sandbox.portalBaseUrl,
  CARD_STASH_URL: redis?.url,
  CARD_STASH_KEYS: `one:${Buffer.alloc(32, 7).toString('base64')}`,
});

/** Runs the doctor with some settings spoilt. @returns also its errors and warnings */
async function doctor(spoilt: NodeJS.ProcessEnv = {}, ...args: string[]) {
  const run = await examine({ ...goodSettings(), ...spoilt }, ...args);
  printed += run.printed;
  const bad = run.findings.filter(({ status }) => status === 'error' || status === 'warning');
  return { ...run, bad };
}

it('doctor finds nothing wrong in a good set-up, says of each part that it is well, and changes nothing', async () => {
  const { code, findings, bad } = await doctor();
  expect([code, bad]).toEqual([0, []]);
  const well = findings.filter(({ status }) => status === 'ok').map(({ check }) => check);
  const queues = ['', '-background', '-polls'].map((queue) => `task-queue:order-screening${queue}`);
  const temporal = ['settings', 'temporal', 'namespace', 'search-attributes', ...queues];
  const others = [
    'polls',
    'sweep',
    'portal-actions',
    SERVICE,
    `clock:${SERVICE}`,
    'api',
    'webhook-secrets',
    'events',
  ];
  const stash = withRedis ? ['card-stash', 'card-stash-persistence'] : [];
  expect(well).toEqual(expect.arrayContaining([...temporal, ...others, ...stash]));
  const operations = all.sandbox.control.ledger({}).map(({ operation }) => operation);
  expect(new Set(operations)).toEqual(new Set(['status-by-url', 'unknown']));
});

const noWorker = ['', '-background', '-reads', '-polls'].map((queue) =>
  fault(`task-queue:order-screening${queue}`, 'no worker polls', 'npm run worker'),
);

describe('doctor names the fault', () => {
  // A value is made when the test runs.
  it.each<[name: string, value: string | undefined | (() => string | Promise<string>), ...object[]]>([
    ['TEMPORAL_ADDRESS', nobody, fault('temporal', 'does not answer at 127.0.0.1', 'TEMPORAL_ADDRESS')],
    ['TEMPORAL_NAMESPACE', 'nowhere', fault('namespace', 'nowhere does not exist', 'TEMPORAL_NAMESPACE')],
    [
      'TEMPORAL_NAMESPACE',
      () => aNamespace(server.connection),
      fault('search-attributes', /lacks ScreeningPhase, /, 'setup:temporal'),
      ...noWorker,
    ],
    ['SCREENING_API_KEY', 'a-wrong-key', fault(SERVICE, 'refuses the key', 'apiKeyEnv')],
    ['SCREENING_BASE_URL', elsewhere, fault(SERVICE, 'not as the screening service', 'SCREENING_BASE_URL')],
    ['SCREENING_BASE_URL', atNobody, fault(SERVICE, 'connection-refused', 'SCREENING_BASE_URL')],
    ['SCREENING_BASE_URL', serviceAhead, fault(`clock:${SERVICE}`, /(599|600|601) s ahead of/, 'NTP')],
    ['SCREENING_PORTAL_BASE_URL', elsewhere, warning('portal-address:default', 'does not end in', 'PORTAL')],
    ['API_PORT', async () => String(await freePort()), fault('api', 'does not answer', 'npm run api')],
    ['EVENTS_URL', atNobody, fault('events', 'does not answer', 'EVENTS_URL')],
    ['EVENTS_URL', receiverOfAnotherSecret, fault('events', 'refuses the signature', 'EVENTS_SECRETS')],
    [
      'WEBHOOK_SECRETS',
      undefined,
      warning('webhook-secrets', 'an API with these settings refuses every webhook', 'WEBHOOK_SECRETS'),
    ],
    ['WEBHOOK_SECRETS', 'hunter2', warning('webhook-secrets', 'fewer than 16', 'long random')],
    ['CARD_STASH_URL', deadRedis, fault('card-stash', 'does not answer', 'CARD_STASH_URL')],
  ])('of %s, row %#', async (name, value, ...wanted) => {
    const { code, bad } = await doctor({ [name]: typeof value === 'function' ? await value() : value });
    expect(bad).toEqual(wanted);
    expect(code).toBe(bad.some(({ status }) => status === 'error') ? 6 : 0);
  });

  it('workers poll, but their build is not current, so that they get no task', async () => {
    const namespace = await aReadyNamespace();
    const version = { deploymentName: 'doctor', buildId: 'v1' };
    const env = {
      ...goodSettings(),
      TEMPORAL_NAMESPACE: namespace,
      METRICS_PORT: String(await freePort()),
      WORKER_DEPLOYMENT_NAME: version.deploymentName,
      WORKER_BUILD_ID: version.buildId,
    };
    await spawnForTest('src/worker.ts', { env, readyWhen: /worker is ready/ });
    const { workflowService } = server.connection;
    await eventually(async () => {
      for (const { name, type } of POLLED_QUEUES) {
        const queue = { namespace, taskQueue: { name }, taskQueueType: TASK_QUEUE_TYPE[type] };
        expect((await workflowService.describeTaskQueue(queue)).pollers).not.toEqual([]);
      }
    });
    const bad = async () => (await doctor({ TEMPORAL_NAMESPACE: namespace })).bad;
    expect(await bad()).toEqual(noWorker);
    await makeCurrent(server.connection, namespace, version);
    await eventually(async () => expect(await bad()).toEqual([]));
  }, 60_000);

  it('pre-gateway orders have no Redis', async () => {
    const { bad } = await doctor({ SCREENING_WORKFLOW: 'pre-gateway', CARD_STASH_URL: undefined });
    expect(bad).toEqual([fault('card-stash', 'reach no other process', 'CARD_STASH_URL')]);
  });

  it('the API has other keys, or no Temporal', async () => {
    const keyed = { API_KEYS: 'doctor:long-key-of-the-api-process' };
    const [good, away] = await Promise.all([
      all.startApi(keyed),
      all.startApi({ TEMPORAL_ADDRESS: await nobody() }),
    ]);
    expect((await doctor(keyed, '--api', good.url)).bad).toEqual([]);
    const otherKeys = { API_KEYS: 'doctor:another-key-altogether-and-long' };
    expect((await doctor(otherKeys, '--api', good.url)).bad).toEqual([
      fault('api', 'refuses the first of API_KEYS', 'API_KEYS'),
    ]);
    const unreachable = fault('api', "can't reach Temporal", 'TEMPORAL_');
    expect((await doctor({}, '--api', away.url)).bad).toEqual([unreachable]);
  });

  it('settings are not well formed: every one is named, and the rest is looked at all the same', async () => {
    const { code, bad, findings } = await doctor({
      CARD_STASH_KEYS: 'one:key-that-is-too-short',
      PAYLOAD_KEYS: 'key-without-an-id',
      EVENTS_SECRETS: undefined,
    });
    expect(bad.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^CARD_STASH_KEYS must be a list/),
      expect.stringMatching(/^PAYLOAD_KEYS must be a list/),
      expect.stringMatching(/^EVENTS_SECRETS is required/),
    ]);
    expect(code).toBe(6);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'temporal', status: 'ok' }));
    expect(findings).toContainEqual(expect.objectContaining({ check: 'events', status: 'skipped' }));
  });

  it('open reviews are more than can be polled in time', async () => {
    await all.inReview();
    const wanted = warning('polls', /longer than the longest poll pause of 900 s/, 'SCREENING_MAX_RPS');
    await eventually(async () =>
      expect((await doctor({ SCREENING_MAX_RPS: '0.001' })).bad).toEqual([wanted]),
    );
  });

  it.skipIf(!withRedis)('Redis writes to disk, or has another password', async () => {
    const address = new URL(redis?.url ?? '');
    const client = createClient({ url: address.href });
    await client.connect();
    await client.configSet('save', '3600 1');
    const saving = await doctor();
    await client.configSet('save', '');
    client.destroy();
    expect(saving.bad).toEqual([fault('card-stash-persistence', 'writes to disk', 'appendonly no')]);
    address.password = 'another-password';
    const refused = await doctor({ CARD_STASH_URL: address.href });
    expect(refused.bad).toEqual([fault('card-stash', /WRONGPASS|refused|did not answer/, 'CARD_STASH_URL')]);
  });
});

it('doctor keeps every key, secret and password of all set-ups above to itself', () => {
  expect(printed.length).toBeGreaterThan(10_000);
  const { EVENTS_SECRETS = '', WEBHOOK_SECRETS = '' } = all.settings;
  const given = ['sandbox-test-key', 'a-wrong-key', 'key-of-the-api', 'another-key', 'hunter2'];
  const redisKeys = ['password-of-redis', 'another-password', 'key-that-is-too-short'];
  const keys = [1, 2, 7].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const others = ['key-without-an-id', 'token-of-the-receiver', EVENTS_SECRETS, WEBHOOK_SECRETS];
  for (const secret of [...given, ...redisKeys, ...keys, ...others])
    expect(printed.includes(secret), secret).toBe(false);
});
