/** Installs the SDK's runtime: its lines go to our log, and its metrics, ours and the task queues' to one address. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type Logger, Runtime } from '@temporalio/worker';
import { msOf } from '../client/reading/describe-order.ts';
import { type Config, ConfigError } from '../config/index.ts';
import { orderOfWorkflowId, POLLED_QUEUES, TASK_QUEUE_TYPE } from '../contract/ids.ts';
import { gaugeOf, histogramBounds } from '../order/view/metrics.ts';
import { type Log, TEMPORAL_UNREACHABLE } from './log.ts';

/** Buckets of the SDK's own histograms, in milliseconds. A checkout may take 7.5 s. */
const TASK_BOUNDS = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_000, 4_000, 7_500, 15_000, 60_000, 300_000, 3_600_000,
];
const TASK_HISTOGRAMS = [
  'activity_execution_latency',
  'activity_schedule_to_start_latency',
  'activity_succeed_endtoend_latency',
  'local_activity_execution_latency',
  'local_activity_succeed_endtoend_latency',
  'workflow_task_execution_latency',
  'workflow_task_schedule_to_start_latency',
];

/**
 * Sets up the SDK's log and metrics. Call once per process, before any other use of the SDK.
 * @throws ConfigError when the metrics port is not available
 */
export function installRuntime(config: Config, log: Log): void {
  const { host, port } = config.metrics;
  try {
    Runtime.install({
      logger: temporalLogger(log, config.workerVersion, () => orderLost.abort()),
      telemetryOptions: {
        metrics: {
          prometheus: {
            bindAddress: `${host}:${port}`,
            histogramBucketOverrides: {
              ...Object.fromEntries(TASK_HISTOGRAMS.map((name) => [`temporal_${name}`, TASK_BOUNDS])),
              ...histogramBounds(),
            },
          },
        },
        // Without `forward`, the core writes to the console and quotes workflow failures.
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      },
      shutdownSignals: [],
    });
  } catch (error) {
    if (!(error instanceof Error) || !/metrics exporter/.test(error.message)) throw error;
    const message = `metrics can't be served on port ${port} of ${host}: free the port, or set a different one`;
    throw new ConfigError([{ path: 'METRICS_PORT', message }]);
  }
}

/**
 * The message of the core (1.24.0) when it drops an activation. This happens when the cache is full and the core has buffered a
 * query and a task of an order that isn't cached, and one of them had to fetch the history. The core then waits forever for the
 * order's completion and buffers its later tasks, which the server times out after 10 s.
 */
export const ORDER_LOST = 'Extra buffered run should not have produced an activation';

/** One per process, like the SDK's runtime. */
const orderLost = new AbortController();

/** How long to wait before stopping: several orders are usually lost together, and one restart recovers all of them. */
const LOST_TOGETHER_MS = 60_000;

/** The SDK's core has lost an order. Only a different process can continue it. */
export class LostOrderError extends Error {
  override readonly name = 'LostOrderError';
  constructor() {
    super("Temporal's SDK has lost an order in this process: restart the process.");
  }
}

/**
 * Waits until the workers have ended. After an order was lost they would never end, so the function stops waiting and throws.
 * @param ended resolves when all workers have ended
 * @param stop starts a graceful shutdown of at most `graceMs`; `stopping` is aborted once it was called
 * @throws LostOrderError when the process must be restarted
 */
export async function untilEndedOrLost(
  ended: Promise<void>,
  { stop, stopping, graceMs }: { stop: () => void; stopping: AbortSignal; graceMs: number },
  { lost, togetherMs } = { lost: orderLost.signal, togetherMs: LOST_TOGETHER_MS },
): Promise<void> {
  if (!lost.aborted) await Promise.race([ended, once(lost, 'abort')]);
  if (!lost.aborted) return;
  // Waits for other orders that are lost at the same time, unless the process is already stopping.
  await Promise.race([ended, sleep(togetherMs, undefined, { signal: stopping }).catch(() => undefined)]);
  stop();
  await Promise.race([ended, sleep(graceMs)]);
  throw new LostOrderError();
}

/** Prefix of the core's message about a failed heartbeat. The error follows. */
const HEARTBEAT = 'Error when recording heartbeat: ';

/** The core's message about a failed call, which it retries automatically. */
const RETRIED = /^gRPC call (\w{1,64}) retried (\d{1,9}) times$/;
const UNREACHABLE = /^Status \{ code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown),/;

/** Replacements, by prefix, for SDK messages that are confusing or quote input. */
const WORDS: readonly [begin: string, words: string][] = [
  ['Failing workflow task', 'this build can not run an order, its task is tried again'],
  [ORDER_LOST, 'an order is lost to this process, which stops in a minute and must be restarted'],
  [HEARTBEAT, 'an activity heartbeat failed, it is sent again'],
  // Includes waiting for the completion, so Temporal may be unreachable, or the machine busy.
  ['[TMPRL1104] ', 'a step of an order took over five seconds'],
];

/** Returns the log message. The SDK also reports `Workflow failed` when the code threw an error, which fails only the task. */
function wordsOf(message: string, error: unknown): string {
  if (RETRIED.test(message)) {
    return UNREACHABLE.test(String(error))
      ? TEMPORAL_UNREACHABLE
      : 'Temporal refuses a call, it is tried again';
  }
  // The error comes from the workflow's own realm, so `instanceof Error` doesn't work.
  const { name } = (error ?? {}) as { name?: unknown };
  if (message === 'Workflow failed' && !String(name).endsWith('Failure')) {
    return 'the code of an order threw an error, its task is tried again';
  }
  return WORDS.find(([begin]) => message.startsWith(begin))?.[1] ?? message;
}

/**
 * Sends the SDK's log lines to our log, with the order that each belongs to.
 *
 * @param version of this process's workers; absent for unversioned workers
 * @param onOrderLost called when the core reports a lost order
 */
export function temporalLogger(
  log: Log,
  version?: WorkerDeploymentVersion,
  onOrderLost: () => void = () => undefined,
): Logger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    if (message === ORDER_LOST) onOrderLost();
    const { workflowId, workflowType, activityType, attempt, orderAttempt, taskQueue, error } = { ...meta };
    const { effect, reason, integration, call, status, address, failure } = { ...meta };
    const [, failedCall, retries] = RETRIED.exec(message) ?? [];
    const cannotRun = message === 'Failing workflow task';
    const expected = message.startsWith('No workflows registered');
    const severity = level === 'ERROR' ? 'error' : level === 'WARN' && !expected ? 'warn' : 'debug';
    const fields = {
      integration,
      ...orderOfWorkflowId(String(workflowId)),
      workflowId,
      workflowType,
      activityType,
      attempt: orderAttempt,
      tries: retries === undefined ? attempt : Number(retries),
      call: failedCall ?? call,
      status,
      address,
      taskQueue,
      effect,
      reason: cannotRun ? whyFailing(String(failure)) : reason,
      ...(cannotRun && version),
      err: message.startsWith(HEARTBEAT) ? message.slice(HEARTBEAT.length) : error,
    };
    log.foreign(severity, fields, wordsOf(message, error));
  });
}

/** Patterns that extract why a task failed from the core's text, which also quotes the error's message. */
const FORCED_BY = /, force_cause: (\w{1,64}) \}$/;
const UNKNOWN_VERSION = /^Failure \{ failure: Some\(Failure \{ message: "This worker does not run version /;
const THROWN = /\\n\\n((?:Type|Range|Reference|Syntax|Eval|URI)?Error)\b/;

function whyFailing(failure: string): string {
  const [, cause = 'Unspecified'] = FORCED_BY.exec(failure) ?? [];
  if (cause !== 'Unspecified') return cause;
  if (UNKNOWN_VERSION.test(failure)) return 'unknown-version';
  return THROWN.exec(failure)?.[1] ?? 'unknown';
}

// The backlog of each task queue. It is read from the server, so that queues without workers are included.

const EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

/** Starts updating the backlog metrics. Errors are ignored until the next update. */
export function watchQueues(client: Client): { stop(): void } {
  const { namespace } = client.options;
  const { metricMeter } = Runtime.instance();
  const age = gaugeOf(metricMeter, 'order_screening_queue_backlog_age_seconds', 'float');
  const tasks = gaugeOf(metricMeter, 'order_screening_queue_backlog_tasks');
  const look = async (): Promise<void> => {
    for (const { name, type } of POLLED_QUEUES) {
      const { stats } = await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType: TASK_QUEUE_TYPE[type],
          reportStats: true,
        }),
      );
      const labels = { queue: name, type };
      age.set((msOf(stats?.approximateBacklogAge) ?? 0) / 1_000, labels);
      tasks.set(Number(stats?.approximateBacklogCount ?? 0), labels);
    }
  };
  const lookSafely = (): void => {
    look().catch(() => undefined);
  };
  lookSafely();
  const timer = setInterval(lookSafely, EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
