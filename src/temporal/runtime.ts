/** The SDK's runtime of a process: its log lines go to our log, its metrics and ours to one address, the queues' too. */
import type { Client } from '@temporalio/client';
import { DefaultLogger, type Logger, Runtime } from '@temporalio/worker';
import { msOf } from '../client/read-orders.ts';
import { type Config, ConfigError } from '../config/index.ts';
import { orderOfWorkflowId, POLLED_QUEUES, TASK_QUEUE_TYPE } from '../orders/ids.ts';
import { gaugeOf, histogramBounds } from '../orders/metrics.ts';
import type { Log } from '../process/log.ts';

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
      logger: temporalLogger(log),
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

/** @returns what sends the SDK's log lines to ours, with the order that each is about, and the fields that may be logged */
export function temporalLogger(log: Log): Logger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    const {
      workflowId,
      workflowType,
      activityType,
      attempt: tries,
      orderAttempt,
      taskQueue,
      error,
    } = { ...meta };
    const { job, action, reason, integration } = { ...meta };
    const [, call, retries] = RETRIED.exec(message) ?? [];
    const expected = message.startsWith('No workflows registered');
    const severity = level === 'ERROR' ? 'error' : level === 'WARN' && !expected ? 'warn' : 'debug';
    const fields = {
      workflowId,
      workflowType,
      activityType,
      attempt: orderAttempt,
      tries: retries === undefined ? tries : Number(retries),
      call,
      taskQueue,
      job,
      action,
      reason,
      err: error,
    };
    const words = call === undefined ? message : NOBODY_THERE.test(String(error)) ? UNREACHABLE : REFUSED;
    log.foreign(severity, { integration, ...orderOfWorkflowId(String(workflowId)), ...fields }, words);
  });
}

/** How the core says that a call failed; it goes on by itself. */
const RETRIED = /^gRPC call (\w{1,64}) retried (\d{1,9}) times$/;
const NOBODY_THERE = /^Status \{ code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown),/;
const UNREACHABLE = 'Temporal can not be reached, the call is tried again';
const REFUSED = 'Temporal refuses a call, it is tried again';

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
