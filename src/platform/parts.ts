/** Starting and stopping the parts of a process. */
import { ConfigError } from '../config/index.ts';
import { showError } from './log.ts';

/** Parts that are stopped together, the last one first. */
export class StartedParts {
  readonly #stops: (() => Promise<unknown>)[] = [];

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /**
   * Stops all parts. A second call does nothing.
   *
   * @throws the first error, after all parts
   */
  readonly stop = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (const stop of this.#stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };

  /** Stops all parts after an error. Errors while stopping are ignored in favor of the first one. */
  readonly giveUp = (): Promise<void> => this.stop().catch(() => undefined);
}

/**
 * Waits until all runs have ended, because they share resources that the caller closes afterwards.
 *
 * @param stopAll stops the others when one fails
 * @throws the first failure
 */
export async function allEnded(runs: readonly Promise<void>[], stopAll: () => void): Promise<void> {
  const stopping = runs.map((run) =>
    run.catch((error: unknown) => {
      stopAll();
      throw error;
    }),
  );
  await Promise.all(stopping).finally(() => Promise.allSettled(stopping));
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ends the process immediately on SIGTERM, SIGINT or an uncaught error while it starts. Otherwise process 1 of a container would ignore
 * the signals, and Node would print the error's message.
 *
 * @returns a function to call when the process has started and handles signals and errors itself
 */
export function endOnSignalOrError(): () => void {
  const end = (): never => process.exit(0);
  const fail = (error: unknown): never => {
    process.stderr.write(`${errorText(error)}\n`);
    process.exit(1);
  };
  for (const signal of STOP_SIGNALS) process.once(signal, end);
  process.once('uncaughtException', fail);
  return () => {
    for (const signal of STOP_SIGNALS) process.off(signal, end);
    process.off('uncaughtException', fail);
  };
}

/** Returns the text to print for an error. Only messages about settings are shown, since others may quote their input. */
export function errorText(error: unknown): string {
  return error instanceof ConfigError ? error.message : JSON.stringify(showError(error));
}
