/** What `npm run worker`, `npm run api` and `npm run serve` have in common: settings, a log, and how the process ends. */
import closeWithGrace from 'close-with-grace';
import { type Config, ConfigError, loadConfig } from '../config/index.ts';
import { createLog, type Log } from './log.ts';
import { showError } from './show-error.ts';

export interface Running {
  /** Rejects when the process can't continue. */
  readonly stopped?: Promise<void>;
  /** Finishes what runs, then stops. */
  stop(): Promise<void>;
}

type ProcessName = 'worker' | 'api' | 'serve';
type Start = (config: Config, log: Log) => Promise<Running>;

interface ProcessOptions {
  /** The longest that stopping may take. */
  stopWithinMs: number;
  /** Logged when a signal stops the process. */
  stopping?: 'stopping: waiting for running tasks' | 'worker is stopping: waiting for running tasks';
  /** Written before the error that ends the process. */
  cannotRun?: string;
}

/** npm passes on SIGINT and SIGTERM, which its process group gets anyway: a repeat within this time is the same signal. */
const SAME_SIGNAL_MS = 1_000;
const PASSED_ON = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs a process until a signal or an uncaught error. A signal while it starts ends it at once: otherwise process 1 of a container
 * would ignore the signal. Node would print the message of an uncaught error.
 */
export function runProcess(name: ProcessName, options: ProcessOptions, start: Start): void {
  untilEnded(name, options, start).catch((error: unknown) => {
    process.stderr.write(`${options.cannotRun ?? ''}${errorText(error)}\n`);
    // The SDK's threads would keep the process and its metrics alive.
    process.exit(1);
  });
}

async function untilEnded(name: ProcessName, options: ProcessOptions, start: Start): Promise<void> {
  const config = loadConfig(process.env, name);
  const log = createLog(name, config.logLevel);
  let running: Running | undefined;
  // With a file of keys, SIGHUP makes the API read it again.
  const skip = [...PASSED_ON, ...(config.api.keysFile === undefined ? [] : (['SIGHUP'] as const))];
  let stoppingSince: number | undefined;
  const { close } = closeWithGrace({ delay: options.stopWithinMs, logger: false, skip }, async ({ err }) => {
    stoppingSince = performance.now();
    if (err) log.error({ err }, 'stopping after an error');
    else if (running && options.stopping) log.info(options.stopping);
    await running?.stop();
  });
  const stop = (): void => {
    if (stoppingSince === undefined) void close();
    else if (performance.now() - stoppingSince >= SAME_SIGNAL_MS) process.exit(1);
  };
  for (const signal of PASSED_ON) process.on(signal, stop);
  running = await start(config, log);
  try {
    await running.stopped;
  } catch (error) {
    await running.stop().catch(() => undefined);
    throw error;
  }
}

/** Returns the text to print for an error. Only messages about settings are shown, since others may quote their input. */
function errorText(error: unknown): string {
  return error instanceof ConfigError ? error.message : JSON.stringify(showError(error));
}
