/** The worker process. Checkouts (workflows and screenings), background work, reads and polls each have a task queue. */
import { fileURLToPath } from 'node:url';
import { Client, isGrpcServiceError } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
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
  type TemporalSettings,
  unreachableTemporal,
} from './config/index.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, READS_TASK_QUEUE, TASK_QUEUE } from './contract/ids.ts';
import { MEMO_BYTES } from './order/view/bounded-record.ts';
import type { Log } from './platform/log.ts';
import { missingSearchAttributes } from './platform/namespace.ts';
import { type StartedParts, startParts } from './platform/parts.ts';
import { runProcess } from './platform/process.ts';
import { watchQueues } from './platform/queue-backlog.ts';
import { installRuntime } from './platform/runtime.ts';
import { untilEndedOrLost } from './platform/workers-end.ts';
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
/** Longer than the calls of running tasks, of 30 s at most. */
const STOP_WITHIN_MS = 40_000;

/**
 * Connects to Temporal, and starts the workers of a process. What is started is added to `parts`.
 *
 * @param beforeRecord absent if the process has no callers that wait for an order
 * @returns `stopped` rejects if a worker failed or an order was lost; the process must then end
 * @throws ConfigError when Temporal is unreachable, the namespace isn't set up, or the metrics port is not available
 */
export async function startWorkers(
  config: Config,
  log: Log,
  parts: StartedParts,
  beforeRecord?: NonNullable<WorldParts['beforeRecord']>,
) {
  installRuntime(config, log);
  const { namespace } = config.temporal;
  const connection = await connectWorker(config.temporal);
  parts.add(() => connection.close());
  await requireNamespace(connection, namespace);
  const cards = createCardStash(config.cardStash.url, config.cardStash.keys);
  parts.add(() => cards.close());
  const dataConverter = createDataConverter(config.payloadKeys, {
    required: config.payloadsRequired,
    refused: 'marked',
    report: (err) => log.foreign('warn', { err }, 'a payload can not be read and is refused'),
  });
  const client = new Client({ connection, namespace, dataConverter });
  const stopping = new AbortController();
  const activities = createActivities({
    findIntegration: config.findIntegration,
    cards,
    events: sendersTo(config.events),
    orders: createOrderDirectory(client),
    stopping: stopping.signal,
    ...(beforeRecord && { beforeRecord }),
  });
  const workers = await createWorkers(config, activities, { connection, namespace, dataConverter });
  const watch = watchQueues(client);
  const runs = workers.map((worker) => worker.run());
  const stopAll = (): void => {
    stopping.abort();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const stopped = untilEndedOrLost(runs, {
    stop: stopAll,
    stopping: stopping.signal,
    graceMs: SHUTDOWN_GRACE_MS,
  }).finally(() => watch.stop());
  // It may reject before anything awaits it.
  stopped.catch(() => undefined);
  parts.add(async () => {
    stopAll();
    await stopped.catch(() => undefined);
  });
  return { connection, cards, stopped };
}

function createWorkers(
  { maxRps, workerVersion }: Config,
  activities: ReturnType<typeof createActivities>,
  connected: Required<Pick<WorkerOptions, 'connection' | 'namespace' | 'dataConverter'>>,
): Promise<Worker[]> {
  // Open orders run for days, so they upgrade to the current version.
  const versioned = { useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } as const;
  const common = {
    ...connected,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    ...(workerVersion && { workerDeploymentOptions: { version: workerVersion, ...versioned } }),
  };
  const activityWorker = (taskQueue: string, implementations: object, limits: Partial<WorkerOptions>) =>
    Worker.create({
      ...common,
      taskQueue,
      activities: { ...implementations },
      interceptors: { activity: [withMetrics, withHeartbeats] },
      ...limits,
    });
  const orderWorker = async () =>
    Worker.create({
      ...common,
      taskQueue: TASK_QUEUE,
      workflowBundle: await workflowBundle(connected.dataConverter),
      activities: { ...activities.checkout },
      interceptors: { activity: [withMetrics] },
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
    });
  return Promise.all([
    orderWorker(),
    activityWorker(BACKGROUND_TASK_QUEUE, activities.background, {
      maxConcurrentActivityTaskExecutions: CONCURRENT_BACKGROUND,
    }),
    activityWorker(READS_TASK_QUEUE, activities.reads, {
      maxConcurrentActivityTaskExecutions: CONCURRENT_READS,
      maxTaskQueueActivitiesPerSecond: maxRps,
    }),
    activityWorker(POLLS_TASK_QUEUE, activities.polls, {
      maxConcurrentActivityTaskExecutions: CONCURRENT_POLLS,
      maxTaskQueueActivitiesPerSecond: maxRps,
    }),
  ]);
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

function sendersTo({ own, common }: Config['events']): EventSenders {
  const sender = ({ url, secrets }: EventsReceiver) => createEventSender(url, secrets);
  const senders = new Map([...own].map(([name, receiver]) => [name, sender(receiver)]));
  return { own: senders, ...(common && { common: sender(common) }) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stopping = 'worker is stopping: waiting for running tasks';
  const cannotRun = 'The worker cannot run: ';
  runProcess('worker', { stopWithinMs: STOP_WITHIN_MS, stopping, cannotRun }, (config, log) =>
    startParts(async (parts) => {
      const { stopped } = await startWorkers(config, log, parts);
      const { connection, namespace } = config.temporal;
      log.info({ address: connection.address, namespace, ...config.workerVersion }, 'worker is ready');
      return { stopped };
    }),
  );
}
