/** The worker process. Checkouts (workflows and screenings), background work, reads and polls each have a task queue. */
import { fileURLToPath } from 'node:url';
import { Client, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter, WorkerDeploymentVersion } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import {
  createActivities,
  createEventSender,
  createOrderDirectory,
  type EventSenders,
  type WorldParts,
  withHeartbeats,
  withMetrics,
} from './activities/index.ts';
import { createCardStash } from './card-stash/index.ts';
import { grpcCode } from './client/temporal-errors.ts';
import { createDataConverter } from './codec/index.ts';
import {
  type Config,
  ConfigError,
  type EventsReceiver,
  loadConfig,
  type TemporalSettings,
  unreachableTemporal,
} from './config/index.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, READS_TASK_QUEUE, TASK_QUEUE } from './contract/ids.ts';
import { MEMO_BYTES } from './order/view/bounded-record.ts';
import { createLog, type Log } from './platform/log.ts';
import { missingSearchAttributes } from './platform/namespace.ts';
import { allEnded, endOnSignalOrError, errorText } from './platform/parts.ts';
import { installRuntime, untilEndedOrLost, watchQueues } from './platform/runtime.ts';
import { workflowBundle } from './platform/workflow-bundle.ts';

/** A checkout holds a workflow task and a local activity while the screening service answers, so slots count screenings, not CPU. */
const CONCURRENT_SCREENINGS = 500;
/**
 * Workflow tasks that a worker always accepts; it accepts more only while the CPU has capacity. A task times out after 10 s, so
 * an overloaded worker would keep losing tasks. docs/performance.md, «A burst».
 */
const TASKS_AT_LEAST = 50;
const SPARE_CPU = { targetCpuUsage: 0.8, targetMemoryUsage: 1 };
/**
 * The minimum: a cached order takes 0.26 MB, and V8 scans all of them during garbage collection. With fewer than the concurrent
 * screenings, some would wait for a slot in the cache. docs/performance.md, «Memory».
 */
const CACHED_ORDERS = CONCURRENT_SCREENINGS;
/** How long an order's next task waits for the worker that has the order in its cache. That worker may have died. */
const WAIT_FOR_ITS_WORKER = '5 seconds';
const CONCURRENT_BACKGROUND = 200;
const CONCURRENT_READS = 50;
const CONCURRENT_POLLS = 50;

/** Longer than any request to the screening service that a customer waits for. */
const SHUTDOWN_GRACE_MS = 9_000;

export interface WorkerSettings {
  connection: NativeConnection;
  namespace: string;
  /** From `createDataConverter`; the same for all clients and workers of the deployment. */
  dataConverter: DataConverter;
  /** Maximum activities per second, over all workers of the reads queue, and of the polls queue. */
  maxRps: number;
  /** Absent: the workers are unversioned, and get tasks immediately. */
  version?: WorkerDeploymentVersion;
}

export interface OrderWorkers {
  /** Resolves when all have stopped. Rejects if one failed or an order was lost; the process must then end. */
  readonly stopped: Promise<void>;
  /** Waits for running tasks, then stops. */
  stop(): Promise<void>;
}

/**
 * Starts the workers of a process.
 * @throws ConfigError when the namespace isn't set up
 */
export async function startWorkers(settings: WorkerSettings, world: WorldParts): Promise<OrderWorkers> {
  const { connection, namespace, dataConverter } = settings;
  await requireNamespace(connection, namespace);
  const client = new Client({ connection, namespace, dataConverter });
  const stopping = new AbortController();
  const activities = createActivities({
    orders: createOrderDirectory(client),
    stopping: stopping.signal,
    ...world,
  });
  const common = {
    connection,
    namespace,
    dataConverter,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    interceptors: { activity: [withMetrics] },
    ...(settings.version !== undefined && { workerDeploymentOptions: versioned(settings.version) }),
  };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUE,
      workflowBundle: await workflowBundle(dataConverter),
      activities: { ...activities.checkout },
      tuner: {
        workflowTaskSlotSupplier: {
          type: 'resource-based',
          minimumSlots: TASKS_AT_LEAST,
          maximumSlots: CONCURRENT_SCREENINGS,
          tunerOptions: SPARE_CPU,
        },
        localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: CONCURRENT_SCREENINGS },
        activityTaskSlotSupplier: { type: 'fixed-size', numSlots: CONCURRENT_SCREENINGS },
        nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
      },
      maxCachedWorkflows: CACHED_ORDERS,
      stickyQueueScheduleToStartTimeout: WAIT_FOR_ITS_WORKER,
    }),
    Worker.create({
      ...common,
      taskQueue: BACKGROUND_TASK_QUEUE,
      activities: { ...activities.background },
      interceptors: { activity: [withMetrics, withHeartbeats] },
      maxConcurrentActivityTaskExecutions: CONCURRENT_BACKGROUND,
    }),
    Worker.create({
      ...common,
      taskQueue: READS_TASK_QUEUE,
      activities: { ...activities.reads },
      interceptors: { activity: [withMetrics, withHeartbeats] },
      maxConcurrentActivityTaskExecutions: CONCURRENT_READS,
      maxTaskQueueActivitiesPerSecond: settings.maxRps,
    }),
    Worker.create({
      ...common,
      taskQueue: POLLS_TASK_QUEUE,
      activities: { ...activities.polls },
      interceptors: { activity: [withMetrics, withHeartbeats] },
      maxConcurrentActivityTaskExecutions: CONCURRENT_POLLS,
      maxTaskQueueActivitiesPerSecond: settings.maxRps,
    }),
  ]);
  const watch = watchQueues(client);
  const runs = workers.map((worker) => worker.run());
  const stopAll = (): void => {
    stopping.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const ended = allEnded(runs, stopAll).finally(() => watch.stop());
  const stopped = untilEndedOrLost(ended, {
    stop: stopAll,
    stopping: stopping.signal,
    graceMs: SHUTDOWN_GRACE_MS,
  });
  return {
    stopped,
    stop: () => {
      stopAll();
      return stopped;
    },
  };
}

/** Without the search attributes, every order's first task would keep failing. */
async function requireNamespace(connection: NativeConnection, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace).catch((error: unknown) => {
    if (isGrpcServiceError(error) && error.code === grpcCode.notFound) return undefined;
    throw error;
  });
  if (missing?.length === 0) return;
  const what = missing === undefined ? 'does not exist' : `lacks the search attributes ${missing.join(', ')}`;
  const message = `the namespace ${namespace} ${what}: run npm run setup:temporal`;
  throw new ConfigError([{ path: 'TEMPORAL_NAMESPACE', message }]);
}

/** Open orders run for days, so they upgrade to the current version. */
function versioned(version: WorkerDeploymentVersion) {
  return {
    version,
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'AUTO_UPGRADE',
  } as const;
}

/**
 * Connects a worker process to Temporal.
 * @throws ConfigError when Temporal is unreachable or refuses the connection. The SDK's message is dropped: it may quote credentials
 */
export async function connectWorker({ connection }: TemporalSettings): Promise<NativeConnection> {
  try {
    // The SDK warns about each larger memo.
    return await NativeConnection.connect({ ...connection, payloadLimits: { memoWarnSize: MEMO_BYTES } });
  } catch (error) {
    if (/NativeCertsNotFound/.test(String(error))) {
      const message =
        'this machine has no CA certificates: install ca-certificates, or set TEMPORAL_TLS_SERVER_CA_CERT_PATH';
      throw new ConfigError([{ path: 'TEMPORAL_TLS', message }]);
    }
    throw new ConfigError([{ path: 'TEMPORAL_ADDRESS', message: unreachableTemporal(connection) }]);
  }
}

/** @returns the settings of a process's workers */
export function workerSettings(config: Config, connection: NativeConnection, log?: Log): WorkerSettings {
  const { maxRps, workerVersion: version } = config;
  return {
    connection,
    namespace: config.temporal.namespace,
    dataConverter: createDataConverter(config.payloadKeys, {
      required: config.payloadsRequired,
      refused: 'marked',
      report: (err) => log?.foreign('warn', { err }, 'a payload can not be read and is refused'),
    }),
    maxRps,
    ...(version !== undefined && { version }),
  };
}

/** @returns the dependencies of the activities, created from the settings */
export function worldOf(config: Config): WorldParts {
  return {
    findIntegration: config.findIntegration,
    cards: createCardStash(config.cardStash.url, config.cardStash.keys),
    events: sendersTo(config.events),
  };
}

function sendersTo({ own, common }: Config['events']): EventSenders {
  const sender = ({ url, secrets }: EventsReceiver) => createEventSender(url, secrets);
  const senders = new Map([...own].map(([name, receiver]) => [name, sender(receiver)]));
  return { own: senders, ...(common && { common: sender(common) }) };
}

async function main(): Promise<void> {
  const started = endOnSignalOrError();
  const config = loadConfig(process.env, 'worker');
  const log = createLog('worker', config.logLevel);
  installRuntime(config, log);
  const { address } = config.temporal.connection;
  const { namespace } = config.temporal;
  const connection = await connectWorker(config.temporal);
  const world = worldOf(config);
  const settings = workerSettings(config, connection, log);
  const workers = await startWorkers(settings, world);
  log.info({ address, namespace, ...settings.version }, 'worker is ready');
  const stop = (): void => {
    log.info('worker is stopping: waiting for running tasks');
    workers.stop().catch(() => undefined);
  };
  started();
  // Node would print the error's message.
  process.once('uncaughtException', (err) => {
    log.error({ err }, 'stopping after an error');
    process.exit(1);
  });
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  try {
    await workers.stopped;
  } finally {
    await world.cards.close();
    // Failed workers may still use the connection.
    await connection.close().catch(() => undefined);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    process.stderr.write(`The worker cannot run: ${errorText(error)}\n`);
    // The SDK's threads would keep the process and its metrics alive.
    process.exit(1);
  });
}
