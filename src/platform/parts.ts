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

/** Starts parts that are stopped together. If one can't be started, those before it are stopped. */
export async function startParts<Started extends object>(
  start: (parts: StartedParts) => Promise<Started>,
): Promise<Started & { stop: () => Promise<void> }> {
  const parts = new StartedParts();
  try {
    return { ...(await start(parts)), stop: parts.stop };
  } catch (error) {
    await parts.giveUp();
    throw error;
  }
}
