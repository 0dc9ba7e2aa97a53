import { condition } from '@temporalio/workflow';

/**
 * How the order's life waits, and whose turn it is: the other strands begin something only while it rests. When a worker
 * has died, Temporal may bring together what comes apart in the replay, so the order of commands must not depend on which
 * strand wakes first.
 */
export class Rest {
  #wakes: (() => boolean) | undefined;
  #over = false;

  /** Whether it waits, or is about to go on. */
  get waits(): boolean {
    return this.#wakes !== undefined;
  }

  /** Whether it waits with nothing to do, or is over. */
  get undisturbed(): boolean {
    return this.#over || (this.#wakes !== undefined && !this.#wakes());
  }

  async until(wakes: () => boolean): Promise<void> {
    this.#wakes = wakes;
    await condition(wakes);
    this.#wakes = undefined;
  }

  end(): void {
    this.#over = true;
  }
}
