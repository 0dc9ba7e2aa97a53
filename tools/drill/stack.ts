/** A stack of its own for a drill: Temporal, the sandbox, a receiver of events, a worker and an API, each on a port of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { z } from 'zod';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { freePort } from '../../src/dev/guarded-child.ts';
import { StartedParts } from '../../src/process/parts.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { makeCurrent } from '../../src/temporal/current-version.ts';
import { withoutSettings } from './environment.ts';
import type { LogLine } from './log-lines.ts';
import { type LoggingProcess, startProcess } from './processes.ts';

const DEPLOYMENT = 'drill';
/** Soon enough for a person who waits. */
const POLL = { first: '2s', factor: 1, max: '2s' };

/** Everything that a drill breaks and mends. */
export interface Stack {
  readonly apiUrl: string;
  /** Of the order service. */
  readonly apiKey: string;
  /** What no log may show, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The screening service. While it is stopped nobody listens at its address. */
  readonly service: { stop(): Promise<void>; start(): Promise<void>; takeKey(key: string): void };
  readonly temporal: { stop(): Promise<void>; start(): Promise<void> };
  readonly receiver: { stop(): Promise<void>; start(): Promise<void>; taken(orderId: string): string[] };
  /** The workers by their build, and where each serves its metrics. */
  readonly workers: ReadonlyMap<string, { metricsUrl: string }>;
  /** Starts a worker of a build beside the others. */
  startWorker(build: Build): Promise<void>;
  /** Stops the worker of a build and starts it anew, as a rollout does. */
  restartWorker(build: Build): Promise<void>;
  /** What `npm run setup:temporal` does: all orders go to the workers of the build. */
  makeCurrent(build: string): Promise<void>;
  stop(): Promise<void>;
}

/** A build of the worker. */
export interface Build {
  id: string;
  /** Unless given the worker as it is. */
  script?: string;
  /** Of the service; unless given the one that it was started with. */
  serviceKey?: string;
}

export interface StackOptions {
  env: NodeJS.ProcessEnv;
  onLine: (line: LogLine) => void;
}

/** Starts it, with one worker: the build `v1`, which is current. */
export async function startStack({ env: outer, onLine }: StackOptions): Promise<Stack> {
  const parts = new StartedParts();
  try {
    const directory = await mkdtemp(join(tmpdir(), 'order-screening-drill-'));
    parts.add(() => rm(directory, { recursive: true, force: true }));
    const secrets = {
      'API key': randomBytes(18).toString('base64url'),
      'service key': randomBytes(18).toString('base64url'),
      'payload key': randomBytes(32).toString('base64'),
      'codec token': randomBytes(24).toString('base64url'),
      'webhook secret': randomBytes(18).toString('base64url'),
      'events secret': randomBytes(32).toString('base64'),
    };
    const apiPort = await freePort();

    console.error('Starting Temporal …');
    const temporal = await temporalIn(join(directory, 'temporal'));
    parts.add(() => temporal.server().stop());
    const service = await serviceIn(directory, secrets['service key']);
    parts.add(() => service.stop());
    const receiver = await startReceiver();
    parts.add(() => receiver.stop());

    console.error('Starting the worker and the API …');
    const files = await writeSettings(directory, service.sandbox());
    const env = {
      ...withoutSettings(outer),
      ...files,
      LOG_LEVEL: 'trace',
      TEMPORAL_ADDRESS: temporal.server().address,
      SCREENING_API_KEY: secrets['service key'],
      PAYLOAD_KEYS: `drill:${secrets['payload key']}`,
      CODEC_TOKEN: secrets['codec token'],
      WEBHOOK_SECRETS: secrets['webhook secret'],
      EVENTS_URL: receiver.url,
      EVENTS_SECRETS: `whsec_${secrets['events secret']}`,
      API_KEYS: `drill:${secrets['API key']}`,
      API_PORT: String(apiPort),
    };
    const connection = await Connection.connect({ address: temporal.server().address });
    parts.add(() => connection.close());
    const workers = new Map<string, { metricsUrl: string; process: LoggingProcess }>();
    parts.add(() => Promise.all([...workers.values()].map((worker) => worker.process.stop())));
    const startWorker = async ({ id, script = 'src/worker.ts', serviceKey }: Build): Promise<void> => {
      const metricsPort = await freePort();
      const process = await startProcess({
        name: `worker ${id}`,
        script,
        env: {
          ...env,
          METRICS_PORT: String(metricsPort),
          WORKER_DEPLOYMENT_NAME: DEPLOYMENT,
          WORKER_BUILD_ID: id,
          ...(serviceKey !== undefined && { SCREENING_API_KEY: serviceKey }),
        },
        logFile: join(directory, `worker-${id}.log`),
        readyWhen: /worker is ready/,
        onLine,
      });
      workers.set(id, { metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`, process });
    };
    const { namespace } = temporal.server();
    const current = async (buildId: string): Promise<void> => {
      await makeCurrent(connection, namespace, { deploymentName: DEPLOYMENT, buildId });
    };
    await startWorker({ id: 'v1' });
    await current('v1');
    const api = await startProcess({
      name: 'API',
      script: 'src/api.ts',
      env,
      logFile: join(directory, 'api.log'),
      readyWhen: /Server listening/,
      onLine,
    });
    parts.add(() => api.stop());
    return {
      apiUrl: `http://127.0.0.1:${apiPort}`,
      apiKey: secrets['API key'],
      secrets,
      service,
      temporal,
      receiver,
      workers,
      startWorker,
      restartWorker: async (build) => {
        await workers.get(build.id)?.process.stop();
        await startWorker(build);
      },
      makeCurrent: current,
      stop: parts.stop,
    };
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}

/** Temporal's state is in a file, so that it goes on with the same orders at the same address. */
async function temporalIn(dataDir: string) {
  const port = await freePort();
  let server: EmbeddedTemporal = await startEmbeddedTemporal({ port, dataDir });
  return {
    server: () => server,
    stop: async () => {
      server.kill('SIGKILL');
      await server.ended;
    },
    start: async () => {
      server = await startEmbeddedTemporal({ port, dataDir });
    },
  };
}

async function serviceIn(directory: string, key: string) {
  const port = await freePort();
  let apiKeys = { test: key, live: `${key}-live` };
  const start = () => createSandbox({ port, dataFile: join(directory, 'sandbox.json'), apiKeys });
  let sandbox: Sandbox = await start();
  let up = true;
  return {
    sandbox: () => sandbox,
    stop: async () => {
      if (up) await sandbox.close();
      up = false;
    },
    start: async () => {
      sandbox = await start();
      up = true;
    },
    takeKey: (test: string) => {
      apiKeys = { ...apiKeys, test };
      sandbox.control.setKeys(apiKeys);
    },
  };
}

/** A policy file; and a file of Temporal's settings without any, lest it takes those of this user. */
async function writeSettings(
  directory: string,
  { testBaseUrl: baseUrl, portalBaseUrl }: Sandbox,
): Promise<NodeJS.ProcessEnv> {
  const [policy, profile] = [join(directory, 'policy.json'), join(directory, 'temporal.toml')];
  const integration = { baseUrl, portalBaseUrl, checkoutBudget: '3s', poll: POLL, events: 'all' };
  await writeFile(policy, JSON.stringify({ integrations: { default: integration } }));
  await writeFile(profile, '[profile.default]\n');
  return { SCREENING_CONFIG: policy, TEMPORAL_CONFIG_FILE: profile };
}

const event = z.object({ orderId: z.string(), type: z.string() });

/** Takes events, and keeps their types by order. */
async function startReceiver() {
  const taken = new Map<string, string[]>();
  const port = await freePort();
  let server: Server | undefined;
  const start = async (): Promise<void> => {
    const next = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { orderId, type } = event.parse(JSON.parse(Buffer.concat(chunks).toString()));
        taken.set(orderId, [...(taken.get(orderId) ?? []), type]);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => next.listen(port, '127.0.0.1', resolve));
    server = next;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/events`,
    taken: (orderId: string) => taken.get(orderId) ?? [],
    start,
    stop: async (): Promise<void> => {
      const before = server;
      server = undefined;
      if (before === undefined) return;
      before.closeAllConnections();
      await new Promise((resolve) => before.close(resolve));
    },
  };
}
