/** The topology of `docker-compose.yml`, without containers: the same files, configuration, schema script and start order. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCurrent } from '../../src/platform/current-version.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, freePort, type SpawnedProcess, spawnProcess } from '../support/index.ts';
import { type RedisServer, redisInstalled, startRedis } from '../support/servers/redis-server.ts';
import { type Image, makeImage } from './image.ts';
import { startTemporalCluster, type TemporalCluster } from './temporal-cluster.ts';

const NAMESPACE = 'orders';
const API_KEY = 'a-key-of-the-order-service';
const SANDBOX_KEY = 'sandbox-test-key';

let cluster: TemporalCluster;
let redis: RedisServer;
let image: Image;
let folder: string;
let apiUrl: string;
let sandboxUrl: string;
let connection: Connection;
let common: NodeJS.ProcessEnv;
/** The newest worker of the build that is current. */
let current: SpawnedProcess;
const running: SpawnedProcess[] = [];

beforeAll(async () => {
  if (!(await redisInstalled())) throw new Error('Redis is not installed: apt-get install redis-server');
  [cluster, redis] = await Promise.all([startTemporalCluster(), startRedis({ password: 'a-password' })]);
  image = await makeImage();
  folder = await mkdtemp(join(tmpdir(), 'order-screening-production-'));
  await chmod(folder, 0o777);
  const [apiPort, sandboxPort] = [await freePort(), await freePort()];
  apiUrl = `http://127.0.0.1:${apiPort}`;
  sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  common = {
    NODE_ENV: 'production',
    HOME: '/nonexistent',
    TEMPORAL_ADDRESS: cluster.address,
    TEMPORAL_NAMESPACE: NAMESPACE,
    SCREENING_API_KEY: SANDBOX_KEY,
    SCREENING_BASE_URL: `${sandboxUrl}/test`,
    SCREENING_PORTAL_BASE_URL: `${sandboxUrl}/portal/api/v1/transaction-update`,
    WEBHOOK_SECRETS: 'a-webhook-secret',
    CARD_STASH_URL: redis.url,
    CARD_STASH_KEYS: `first:${randomBytes(32).toString('base64')}`,
    PAYLOAD_KEYS: `first:${randomBytes(32).toString('base64')}`,
    API_KEYS: `shop:${API_KEY}`,
    API_HOST: '127.0.0.1',
    API_PORT: `${apiPort}`,
    SANDBOX_PORT: `${sandboxPort}`,
    SANDBOX_WEBHOOK_URL: `${apiUrl}/v1/webhooks/default`,
    SANDBOX_WEBHOOK_SECRET: 'a-webhook-secret',
    DATA_DIR: folder,
  };
  expect(await setUp()).toMatch(`Namespace "${NAMESPACE}" was created.`);
  connection = await Connection.connect({ address: cluster.address });
  await start('src/sandbox/main.ts', /simulates/, {});
  await start('src/api.ts', /listening/i, {});
}, 600_000);

afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await connection?.close();
  await redis?.stop();
  await cluster?.stop();
  await image?.remove();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, 60_000);

async function start(script: string, readyWhen: RegExp, env: NodeJS.ProcessEnv): Promise<SpawnedProcess> {
  const started = await spawnProcess(script, { ...image.spawn, env: { ...common, ...env }, readyWhen });
  running.push(started);
  return started;
}

const version = (WORKER_BUILD_ID: string) => ({ WORKER_DEPLOYMENT_NAME: 'order-screening', WORKER_BUILD_ID });

async function startWorker(buildId: string, metricsPort?: number): Promise<SpawnedProcess> {
  const METRICS_PORT = `${metricsPort ?? (await freePort())}`;
  return start('src/worker.ts', /worker is ready/, { ...version(buildId), METRICS_PORT });
}

/** `npm run setup:temporal`. @returns what it said */
async function setUp(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const options = { ...image.spawn, env: { ...common, ...env } };
  const script = await spawnProcess('src/platform/setup-temporal.ts', options);
  const code = await script.ended;
  if (code !== 0) throw new Error(`setup:temporal ended with ${code}; it wrote:\n${script.output()}`);
  return script.output();
}

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Screens an order, and expects the status and action of its answer. */
async function screen(orderId: string, email: string, status: number, action: string): Promise<void> {
  const answer = await call('POST', `/v1/orders/${orderId}/screening`, { transaction: withEmail(email) });
  expect(answer).toMatchObject({ status, body: { action } });
}

/** Waits until an order has passed. */
async function passed(orderId: string, timeoutMs: number): Promise<void> {
  const state = { decision: 'pass', action: 'proceed', phase: 'decided' };
  const read = () => call('GET', `/v1/orders/${orderId}`);
  await eventually(async () => expect((await read()).body).toMatchObject(state), { timeoutMs });
}

/** The build that did the order's newest workflow task. */
async function buildOf(orderId: string): Promise<string | null | undefined> {
  const { workflowExecutionInfo } = await connection.workflowService.describeWorkflowExecution({
    namespace: NAMESPACE,
    execution: { workflowId: `order:default:${orderId}` },
  });
  return workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

it('a namespace that is there, and a schema that is there, are set up again without harm', async () => {
  await cluster.setUpSchema();

  expect(await setUp()).toBe(`Namespace "${NAMESPACE}" is set up for orders.\n`);
});

it('an order in review goes on with the next build, made current while the old workers run', async () => {
  const old = [await startWorker('build-1'), await startWorker('build-1')];
  const said = 'Build "build-1" of worker deployment "order-screening" is current.';
  expect(await setUp(version('build-1'))).toContain(said);

  await screen('prod-pass', 'pass@example.com', 200, 'proceed');
  await screen('prod-review', 'review@example.com', 200, 'hold');
  expect(await buildOf('prod-review')).toBe('build-1');

  current = await startWorker('build-2');
  await screen('prod-before', 'pass@example.com', 200, 'proceed');
  expect(await buildOf('prod-before')).toBe('build-1');
  expect(await setUp(version('build-2'))).toContain('is current in place of "build-1"');
  await Promise.all(old.map((worker) => worker.stop()));

  const decided = await fetch(`${sandboxUrl}/_sandbox/transactions/prod-review/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'pass' }),
  });
  expect(decided.status).toBe(200);
  await passed('prod-review', 30_000);
  expect(await buildOf('prod-review')).toBe('build-2');
  await screen('prod-after', 'fail@example.com', 200, 'decline');
  expect(await buildOf('prod-after')).toBe('build-2');
}, 180_000);

it('the health checks of the compose file hold, and Temporal’s server shows its metrics', async () => {
  const health = async (url: string) =>
    (await spawnProcess('deploy/health.mjs', { ...image.spawn, args: [url] })).ended;

  expect(await health(`${apiUrl}/readyz`)).toBe(0);
  expect(await health(`${sandboxUrl}/_sandbox/transactions`)).toBe(0);
  expect(await health(cluster.metricsUrl)).toBe(0);
  expect(await health(`${apiUrl}/nowhere`)).toBe(1);
}, 30_000);

it('a build whose workers do not run is never made current', async () => {
  const absent = { deploymentName: 'order-screening', buildId: 'build-3' };
  const made = makeCurrent(connection, NAMESPACE, absent, 2_000);
  await expect(made).rejects.toThrow(
    /No worker with .*"build-3" polls order-screening, order-screening-background.*stays as it was/,
  );
  await screen('prod-still', 'pass@example.com', 200, 'proceed');
  expect(await buildOf('prod-still')).toBe('build-2');
}, 60_000);

it('when the current build has no workers, orders wait, a worker of another build shows it, and they go on after', async () => {
  await current.stop();
  const metricsPort = await freePort();
  await startWorker('build-4', metricsPort);

  await screen('prod-waiting', 'pass@example.com', 202, 'hold');
  const waits = async () => expect(await backlogAge(metricsPort)).toBeGreaterThan(0);
  await eventually(waits, { timeoutMs: 60_000 });
  await startWorker('build-2');
  await passed('prod-waiting', 60_000);
  expect(await buildOf('prod-waiting')).toBe('build-2');
}, 180_000);

/** @returns how long the oldest workflow task waits, in seconds, as a worker's metrics have it */
async function backlogAge(metricsPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const sample =
    /^order_screening_queue_backlog_age_seconds\{[^}]*queue="order-screening"[^}]*type="workflow"[^}]*\} (\S+)$/m;
  return Number(sample.exec(metrics)?.[1]);
}
