/** All processes of a run: Temporal, workers, API, the card stash's Redis. Sandbox and events receiver are in this process. */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { StartedParts } from '../../src/platform/parts.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { freePort, spawnProcess } from '../support/index.ts';
import { needRedis, startRedis } from '../support/servers/redis-server.ts';
import { startReceiver, startSwitchboard } from './people/receiver.ts';
import type { ChaosIntegration } from './plan/policies.ts';
import { type ProcessLog, supervise } from './supervise.ts';

export const API_KEY = 'sandbox-test-key';
const START_WITHIN_MS = 120_000;

/** The API is a process of its own, or has a worker in its process and with it the fast path. */
type ApiRuns = 'API' | 'API with worker';

/** The whole deployment; each process can be killed while the others continue. */
export type Deployment = Awaited<ReturnType<typeof startDeployment>>;

export interface DeploymentOptions {
  seed: number;
  workers: number;
  integrations: readonly ChaosIntegration[];
  /** Which integration the order of an invoice number belongs to. */
  integrationOf: (invoice: string) => string | undefined;
}

/** Starts everything on loopback; if a part can't be started, the others are stopped. */
export async function startDeployment(options: DeploymentOptions) {
  const parts = new StartedParts();
  const log: ProcessLog = { outages: [], ends: new Map(), complaints: [], isOver: false };
  const stop = (): Promise<void> => {
    log.isOver = true;
    return parts.giveUp();
  };
  try {
    return { ...(await assemble(options, parts, log)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  { seed, workers: workerCount, integrations, integrationOf }: DeploymentOptions,
  parts: StartedParts,
  log: ProcessLog,
) {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-chaos-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  parts.add(() => rm(directory, { recursive: true, force: true }));

  const temporalPort = await freePort();
  const address = `127.0.0.1:${temporalPort}`;
  const startTemporal = () =>
    startEmbeddedTemporal({ port: temporalPort, dataDir: join(directory, 'temporal') });
  const temporal = await supervise(() => 'Temporal', startTemporal, log);
  parts.add(temporal.stop);
  await needRedis();
  const cards = await startRedis();
  parts.add(cards.stop);

  const apiPort = await freePort();
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const webhookSecret = randomBytes(12).toString('base64url');
  const switchboard = await startSwitchboard(
    (invoice) => `${apiUrl}/v1/webhooks/${integrationOf(invoice) ?? 'default'}/${webhookSecret}`,
  );
  parts.add(switchboard.close);
  const sandbox = await createSandbox({ port: 0, webhookUrl: switchboard.url });
  parts.add(sandbox.close);
  const eventsSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = await startReceiver(eventsSecret, seed);
  parts.add(receiver.close);

  const addresses = { baseUrl: sandbox.testBaseUrl, portalBaseUrl: sandbox.portalBaseUrl };
  const policies = integrations.map(({ name, written }) => [name, { ...addresses, ...written }]);
  const policyFile = join(directory, 'policy.json');
  writeFileSync(policyFile, JSON.stringify({ integrations: Object.fromEntries(policies) }));
  const departures = join(directory, 'departures');
  writeFileSync(departures, '');
  const env = {
    CHAOS_DEPARTURES: departures,
    TEMPORAL_ADDRESS: address,
    SCREENING_CONFIG: policyFile,
    SCREENING_API_KEY: API_KEY,
    SCREENING_MAX_RPS: '100',
    WEBHOOK_SECRETS: webhookSecret,
    EVENTS_URL: receiver.url,
    EVENTS_SECRETS: eventsSecret,
    API_PORT: String(apiPort),
    CARD_STASH_URL: cards.url,
    CARD_STASH_KEYS: `chaos:${randomBytes(32).toString('base64')}`,
  };
  const spawn = async (script: string, metricsPort: number, readyWhen: RegExp) =>
    spawnProcess(script, {
      env: { ...env, METRICS_PORT: String(metricsPort) },
      nodeArgs: ['--import', './test/chaos/faults/note-departures.mjs'],
      readyWhen,
      readyWithinMs: START_WITHIN_MS,
    });
  const startWorker = async (which: number) => {
    const metricsPort = await freePort();
    // The last one forgets orders again and again, and has to replay them before their next task.
    const script = which === workerCount - 1 ? 'test/chaos/faults/forgetful-worker.ts' : 'src/worker.ts';
    return supervise(
      () => 'worker',
      () => spawn(script, metricsPort, /worker is ready/),
      log,
    );
  };
  const workers = await Promise.all(Array.from({ length: workerCount }, (_, which) => startWorker(which)));
  parts.add(() => Promise.all(workers.map((worker) => worker.stop())));

  let apiRuns: ApiRuns = 'API with worker';
  const apiMetricsPort = await freePort();
  const startApi = () =>
    apiRuns === 'API'
      ? spawn('src/api.ts', apiMetricsPort, /listening/i)
      : spawn('src/serve.ts', apiMetricsPort, /API and worker are ready/);
  const api = await supervise(() => apiRuns, startApi, log);
  parts.add(api.stop);

  const connection = Connection.lazy({ address });
  parts.add(() => connection.close());
  return {
    apiUrl,
    client: new Client({ connection }),
    sandbox,
    receiver,
    cards,
    /** Where workers and API note their requests to the screening service. */
    departures,
    log,
    temporal,
    workers,
    restartApi: (signal: 'SIGTERM' | 'SIGKILL', next: ApiRuns) => {
      const restarted = api.kill(signal);
      apiRuns = next;
      return restarted;
    },
  };
}
