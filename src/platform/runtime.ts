/** Installs the SDK's runtime: its lines go to our log, and its metrics, ours and the task queues' to one address. */
import { Runtime } from '@temporalio/worker';
import { type Config, ConfigError } from '../config/index.ts';
import { histogramBounds } from '../order/view/metrics.ts';
import type { Log } from './log.ts';
import { temporalLogger } from './temporal-logger.ts';
import { orderLost } from './workers-end.ts';

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
