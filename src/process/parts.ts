/** What a process has started and is to stop. */

/** What was started together and is stopped together: what was started last is stopped first. */
export class StartedParts {
  readonly #stops: (() => Promise<unknown>)[] = [];

  /** @param stop stops a part that has started */
  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  /**
   * Stops all parts; called again, it has nothing left to stop.
   * @throws the first error, after every part was told to stop
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

  /** Stops all parts after something went wrong, which is what must be told, and not what goes wrong now. */
  readonly giveUp = (): Promise<void> => this.stop().catch(() => undefined);
}

/**
 * Waits until all runs have ended: what they share is closed after that.
 * @param stopAll lets the others finish when one breaks down
 * @throws what broke down first
 */
export async function allEnded(runs: readonly Promise<void>[], stopAll: () => void): Promise<void> {
  const faults: unknown[] = [];
  await Promise.all(
    runs.map((run) =>
      run.catch((error: unknown) => {
        faults.push(error);
        stopAll();
      }),
    ),
  );
  if (faults.length > 0) throw faults[0];
}

const STOPS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Has a signal to stop end this process at once while it starts, when nothing is under way: as process 1 of a container it would not
 * be heard.
 * @returns what is called once it has started, and heeds such a signal itself
 */
export function endedBySignals(): () => void {
  const end = (): never => process.exit(0);
  for (const signal of STOPS) process.once(signal, end);
  return () => {
    for (const signal of STOPS) process.off(signal, end);
  };
}
