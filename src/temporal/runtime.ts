/** The SDK's runtime of a process: its log lines go to our log, its metrics and ours to one address, the queues' too. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type Logger, Runtime } from '@temporalio/worker';
import { msOf } from '../client/describe-order.ts';
import { type Config, ConfigError } from '../config/index.ts';
import { orderOfWorkflowId, POLLED_QUEUES, TASK_QUEUE_TYPE } from '../contract/ids.ts';
import { gaugeOf, histogramBounds } from '../orders/metrics.ts';
import { type Log, TEMPORAL_UNREACHABLE } from '../process/log.ts';

/** The SDK's own histograms are in milliseconds; a checkout has up to 7.5 s. */
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
 * Sets up the SDK's log and metrics. Once a process, before anything else of it.
 * @throws ConfigError when the metrics have no port
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
        // The core would write its lines to the console itself, and quote the failures of workflows in them.
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      },
      shutdownSignals: [],
    });
  } catch (error) {
    if (!(error instanceof Error) || !/metrics exporter/.test(error.message)) throw error;
    const message = `metrics can't be served on port ${port} of ${host}: free it, or set another`;
    throw new ConfigError([{ path: 'METRICS_PORT', message }]);
  }
}

/**
 * What the core (1.24.0) says when it drops what it should have given to an order: a query and a task for an order that isn't in
 * the full cache were kept until there was room, and one of them had to fetch the history first. It waits for the order's answer for ever,
 * and buffers each later task of it, which the server takes for lost after 10 s.
 */
export const ORDER_LOST = 'Extra buffered run should not have produced an activation';

/** Of this process, as the SDK's runtime is. */
const orderLost = new AbortController();

/** Orders mostly get lost several at a time, and one new process takes up all of them. */
const LOST_TOGETHER_MS = 60_000;

/** The core of the SDK has lost an order, which only another process can take up. */
export class LostOrderError extends Error {
  override readonly name = 'LostOrderError';
  constructor() {
    super("Temporal's SDK has lost an order in this process: start it again.");
  }
}

/**
 * Waits until the workers have ended; in a process that has lost an order they never would.
 * @param ended of all workers
 * @param stop lets what runs finish, which may take `graceMs`; `stopping`: it was called
 * @throws LostOrderError when the process is to end, so that a new one is started
 */
export async function untilEndedOrLost(
  ended: Promise<void>,
  { stop, stopping, graceMs }: { stop: () => void; stopping: AbortSignal; graceMs: number },
  { lost, togetherMs } = { lost: orderLost.signal, togetherMs: LOST_TOGETHER_MS },
): Promise<void> {
  if (!lost.aborted) await Promise.race([ended, once(lost, 'abort')]);
  if (!lost.aborted) return;
  // Others that are lost in the same moment are waited for, unless somebody wants the process to end.
  await Promise.race([ended, sleep(togetherMs, undefined, { signal: stopping }).catch(() => undefined)]);
  stop();
  await Promise.race([ended, sleep(graceMs)]);
  throw new LostOrderError();
}

/** How the core begins the report of a failed heartbeat. The error follows. */
const HEARTBEAT = 'Error when recording heartbeat: ';

/** How the core reports a failed call, which it retries by itself. */
const RETRIED = /^gRPC call (\w{1,64}) retried (\d{1,9}) times$/;
const UNREACHABLE = /^Status \{ code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown),/;

/** Messages of the SDK, by how they begin, that would confuse a reader or quote an input, and the words for them. */
const WORDS: readonly [begin: string, words: string][] = [
  ['Failing workflow task', 'this build can not run an order, its task is tried again'],
  [ORDER_LOST, 'an order is lost to this process, which stops in a minute and has to be started again'],
  [HEARTBEAT, 'Temporal was not told that an activity goes on, it is told again'],
  // Waiting for its completion counts too: Temporal is unreachable or the machine is busy.
  ['[TMPRL1104] ', 'a step of an order took over five seconds'],
];

/** The SDK calls a workflow failed also when its code threw an error, which fails only the task. */
function wordsOf(message: string, error: unknown): string {
  if (RETRIED.test(message)) {
    return UNREACHABLE.test(String(error))
      ? TEMPORAL_UNREACHABLE
      : 'Temporal refuses a call, it is tried again';
  }
  // The error is of the workflow's own realm, where Error is another class.
  const { name } = (error ?? {}) as { name?: unknown };
  if (message === 'Workflow failed' && !String(name).endsWith('Failure')) {
    return 'the code of an order threw an error, its task is tried again';
  }
  return WORDS.find(([begin]) => message.startsWith(begin))?.[1] ?? message;
}

/**
 * Sends the SDK's log lines to our log, with the order that each is about.
 *
 * @param version of this process's workers, absent where they are unversioned
 * @param onOrderLost called when the core reports that it has lost an order
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

/** Why a task failed, in the core's text, which also quotes the error's message. */
const FORCED_BY = /, force_cause: (\w{1,64}) \}$/;
const UNKNOWN_VERSION = /^Failure \{ failure: Some\(Failure \{ message: "This worker does not run version /;
const THROWN = /\\n\\n((?:Type|Range|Reference|Syntax|Eval|URI)?Error)\b/;

function whyFailing(failure: string): string {
  const [, cause = 'Unspecified'] = FORCED_BY.exec(failure) ?? [];
  if (cause !== 'Unspecified') return cause;
  if (UNKNOWN_VERSION.test(failure)) return 'unknown-version';
  return THROWN.exec(failure)?.[1] ?? 'unknown';
}

// Shows how far behind each task queue is. Asked of the server, so that it shows also when nobody works on
// a queue.

const EVERY_MS = 15_000;
const ANSWER_WITHIN_MS = 10_000;

/** Begins to look at the queues; what can't be asked now is asked at the next look. */
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
