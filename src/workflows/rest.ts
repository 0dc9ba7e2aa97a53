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

  /** Goes on when all that came together is there: a message may wake it before a job's end that came with it is known. */
  async until(wakes: () => boolean): Promise<void> {
    this.#wakes = wakes;
    await condition(wakes);
    await allThatCame();
    this.#wakes = undefined;
  }

  end(): void {
    this.#over = true;
  }
}

/** Conditions are looked at again when everything that Temporal brought has been taken in, and not before. */
async function allThatCame(): Promise<void> {
  let asked = false;
  await condition(() => {
    const before = asked;
    asked = true;
    return before;
  });
}
