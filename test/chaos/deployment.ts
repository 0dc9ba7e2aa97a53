/** All processes of a run: Temporal, workers, API, the card stash's Redis, with sandbox and events receiver in this one. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/create-sandbox.ts';
import type { LedgerEntry } from '../../src/sandbox/model.ts';
import { type SpawnedProcess, spawnProcess } from '../support/index.ts';
import { type CardStash, startCardStash } from './card-stash.ts';
import { type Departure, notingDepartures, readDepartures } from './departures.ts';
import { type ChaosIntegration, policyFile } from './policies.ts';
import { quietPorts } from './ports.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startSwitchboard } from './switchboard.ts';

export const API_KEY = 'sandbox-test-key';
const WEBHOOK_SECRET = randomBytes(12).toString('base64url');
const EVENTS_SECRET = `whsec_${randomBytes(32).toString('base64')}`;

/** How often each thing was killed, restarted, or ended by itself. */
export type Deaths = Record<
  | 'worker SIGKILL'
  | 'worker ended by itself'
  | 'API SIGTERM'
  | 'API SIGKILL'
  | 'API with worker SIGTERM'
  | 'API with worker SIGKILL'
  | 'API ended by itself'
  | 'Temporal SIGKILL'
  | 'Temporal ended by itself',
  number
>;

/** A process that was killed, and when it was there again; milliseconds after the epoch. */
export interface Outage {
  what: 'worker' | 'API' | 'API with worker' | 'Temporal';
  from: number;
  until?: number;
}

export type ApiRuns = 'alone' | 'with a worker';

/** The whole deployment, each part replaceable while the others go on. */
export interface Deployment {
  readonly apiUrl: string;
  /** Where the service's webhooks for an integration go. */
  readonly webhookUrl: (integration: string, secret?: string) => string;
  readonly temporal: Client;
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  /** Reads when the request of each entry left its worker, and what its sender heard, by the entry's sequence. */
  readonly departures: (ledger: readonly LedgerEntry[]) => Map<number, Departure>;
  /** Absent: full card data reaches no worker. */
  readonly cards: CardStash | undefined;
  readonly deaths: Deaths;
  /** When something was killed, and when it was there again; milliseconds after the epoch. */
  readonly outages: Outage[];
  killWorker(which: number): Promise<void>;
  /** Whether the API is a process of its own, or has a worker in its process and with it the fast path. */
  readonly apiRuns: ApiRuns;
  restartApi(signal: 'SIGTERM' | 'SIGKILL', next: ApiRuns): Promise<void>;
  restartTemporal(awayMs: number): Promise<void>;
  /** The last lines that all processes wrote at the level of a warning or above. */
  complaints(): string[];
  stop(): Promise<void>;
}

export interface DeploymentOptions {
  seed: number;
  workers: number;
  integrations: ReadonlyMap<string, ChaosIntegration>;
  /** Which integration the order of an invoice number belongs to: the provider has an account for each. */
  integrationOf: (invoice: string) => string | undefined;
}

/** Starts everything on loopback; what is started is stopped when a later part can't be. */
export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const parts: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).reverse()) await part().catch(() => undefined);
  };
  try {
    return await assemble(options, parts, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(
  { seed, workers: workerCount, integrations, integrationOf }: DeploymentOptions,
  parts: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Deployment> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-chaos-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  parts.push(() => rm(directory, { recursive: true, force: true }));
  const [temporalPort, apiPort, receiverPort, ...metricsPorts] = await quietPorts(4 + workerCount);
  const ports = { temporal: temporalPort ?? 0, api: apiPort ?? 0, receiver: receiverPort ?? 0 };

  const deaths: Deaths = {
    'worker SIGKILL': 0,
    'worker ended by itself': 0,
    'API SIGTERM': 0,
    'API SIGKILL': 0,
    'API with worker SIGTERM': 0,
    'API with worker SIGKILL': 0,
    'API ended by itself': 0,
    'Temporal SIGKILL': 0,
    'Temporal ended by itself': 0,
  };
  const outages: Outage[] = [];
  let stopping = false;

  const startTemporal = () =>
    startEmbeddedTemporal({ port: ports.temporal, dataDir: join(directory, 'temporal') });
  let temporal: EmbeddedTemporal = await startTemporal();
  let temporalExpected = false;
  const watchTemporal = (server: EmbeddedTemporal): void => {
    void server.ended.then(() => {
      if (!stopping && !temporalExpected) deaths['Temporal ended by itself'] += 1;
    });
  };
  watchTemporal(temporal);
  parts.push(() => temporal.stop());

  const cardStash: CardStash | undefined = await startCardStash();
  if (cardStash !== undefined) parts.push(() => cardStash.stop());
  const webhookUrl = (integration: string, secret = WEBHOOK_SECRET) =>
    `http://127.0.0.1:${ports.api}/v1/webhooks/${integration}/${secret}`;
  const switchboard = await startSwitchboard((invoice) => webhookUrl(integrationOf(invoice) ?? 'default'));
  parts.push(() => switchboard.close());
  const sandbox = await createSandbox({ port: 0, webhookUrl: switchboard.url });
  parts.push(() => sandbox.close());
  const receiver = await startReceiver(ports.receiver, EVENTS_SECRET, seed);
  parts.push(() => receiver.close());
  const policies = join(directory, 'policy.json');
  await writeFile(
    policies,
    JSON.stringify(
      policyFile(integrations, { baseUrl: sandbox.testBaseUrl, portalBaseUrl: sandbox.portalBaseUrl }),
    ),
  );
  const departures = join(directory, 'departures');
  await writeFile(departures, '');
  const noting = notingDepartures(departures);
  const env = {
    ...noting.env,
    TEMPORAL_ADDRESS: temporal.address,
    SCREENING_CONFIG: policies,
    SCREENING_API_KEY: API_KEY,
    SCREENING_MAX_RPS: '100',
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    EVENTS_URL: receiver.url,
    EVENTS_SECRETS: EVENTS_SECRET,
    API_PORT: String(ports.api),
    ...cardStash?.env,
  };
  const complaints: string[] = [];
  const listenTo = (who: string, one: SpawnedProcess): void => {
    void one.ended.then(() => complaints.push(...complaintsIn(who, one.output())));
  };

  const workers: (SpawnedProcess | undefined)[] = [];
  const expected = new Set<number>();
  const startWorker = async (which: number): Promise<void> => {
    // The last one forgets orders again and again, and has to replay them before their next task.
    const script = which === workerCount - 1 ? 'test/chaos/forgetful-worker.ts' : 'src/worker.ts';
    const worker = await spawnProcess(script, {
      env: { ...env, METRICS_PORT: String(metricsPorts[which] ?? 0) },
      nodeArgs: noting.nodeArgs,
      readyWhen: /worker is ready/,
      readyWithinMs: 120_000,
    });
    workers[which] = worker;
    listenTo('worker', worker);
    void worker.ended.then(async () => {
      if (stopping || expected.delete(worker.pid)) return;
      deaths['worker ended by itself'] += 1;
      await again(() => startWorker(which));
    });
  };
  /** As a supervisor does: until it is up, or the run is over. */
  const again = async (start: () => Promise<void>): Promise<void> => {
    while (!stopping) {
      try {
        await start();
        return;
      } catch (error) {
        complaints.push(`start failed: ${String(error).slice(0, 500)}`);
      }
    }
  };
  let api: SpawnedProcess | undefined;
  let apiRuns: ApiRuns = 'with a worker';
  const startApi = async (): Promise<void> => {
    const started = await (apiRuns === 'alone'
      ? spawnProcess('src/api.ts', { env, readyWhen: /listening/i })
      : spawnProcess('src/serve.ts', {
          env: { ...env, METRICS_PORT: String(metricsPorts[workerCount] ?? 0) },
          nodeArgs: noting.nodeArgs,
          readyWhen: /API and worker are ready/,
          readyWithinMs: 120_000,
        }));
    api = started;
    listenTo('api', started);
    void started.ended.then(async () => {
      if (stopping || expected.delete(started.pid)) return;
      deaths['API ended by itself'] += 1;
      await again(startApi);
    });
  };
  parts.push(async () => {
    stopping = true;
    await Promise.all([...workers, api].map(async (one) => one?.stop()));
  });
  await Promise.all(Array.from({ length: workerCount }, (_, which) => startWorker(which)));
  await startApi();

  const connection = Connection.lazy({ address: temporal.address });
  parts.push(() => connection.close());
  return {
    apiUrl: `http://127.0.0.1:${ports.api}`,
    webhookUrl,
    temporal: new Client({ connection, namespace: temporal.namespace }),
    sandbox,
    receiver,
    departures: (ledger) => readDepartures(departures, ledger),
    cards: cardStash,
    deaths,
    outages,
    killWorker: async (which) => {
      const victim = workers[which % workerCount];
      if (victim === undefined || stopping) return;
      const outage: Outage = { what: 'worker', from: Date.now() };
      outages.push(outage);
      workers[which % workerCount] = undefined;
      expected.add(victim.pid);
      victim.kill('SIGKILL');
      deaths['worker SIGKILL'] += 1;
      await victim.ended;
      await again(() => startWorker(which % workerCount));
      outage.until = Date.now();
    },
    get apiRuns() {
      return apiRuns;
    },
    restartApi: async (signal, next) => {
      if (api === undefined || stopping) return;
      const which = apiRuns === 'alone' ? 'API' : 'API with worker';
      const outage: Outage = { what: which, from: Date.now() };
      outages.push(outage);
      expected.add(api.pid);
      api.kill(signal);
      deaths[`${which} ${signal}` as const] += 1;
      await api.ended;
      apiRuns = next;
      await again(startApi);
      outage.until = Date.now();
    },
    restartTemporal: async (awayMs) => {
      const outage: Outage = { what: 'Temporal', from: Date.now() };
      outages.push(outage);
      temporalExpected = true;
      temporal.kill('SIGKILL');
      deaths['Temporal SIGKILL'] += 1;
      await temporal.ended;
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      await again(async () => {
        temporal = await startTemporal();
      });
      temporalExpected = false;
      watchTemporal(temporal);
      outage.until = Date.now();
    },
    complaints: () => [
      ...complaints,
      ...[...workers, api].flatMap((one) => (one === undefined ? [] : complaintsIn('running', one.output()))),
    ],
    stop,
  };
}

const WARN = 40;

/** Lines of our own log from a warning up; anything that isn't a log line is a complaint too. */
function complaintsIn(who: string, output: string): string[] {
  return output.split('\n').flatMap((line) => {
    if (line === '') return [];
    const level = /^\{.*?"level":(\d+|"\w+")/.exec(line)?.[1];
    if (level !== undefined && (Number(level) < WARN || /info|debug|trace/.test(level))) return [];
    return [`${who}: ${line.slice(0, 1_000)}`];
  });
}
