/** The event outbox: events leave in order, one batch at a time. Design section 5, "Events out". */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { OrderEvent } from '../orders/messages.ts';
import { events, local } from './world.ts';

export class Outbox {
  readonly waiting: OrderEvent[];
  readonly #answering: () => boolean;
  readonly #delivered: (count: number, inTime: boolean) => void;
  #delivering = false;
  /** What waits is left to the retried activity: nothing else waits for that one. */
  #patient = false;
  #paused = false;
  #scope: CancellationScope | undefined;

  /**
   * @param answering tells whether this workflow task answers a checkout, which must not wait for the receiver
   * @param delivered is told how many events left, and whether within their three days
   */
  constructor(
    waiting: OrderEvent[],
    answering: () => boolean,
    delivered: (count: number, inTime: boolean) => void,
  ) {
    this.waiting = waiting;
    this.#answering = answering;
    this.#delivered = delivered;
  }

  /** Whether all events have left. */
  get empty(): boolean {
    return this.waiting.length === 0;
  }

  /** Whether `tryNow` has something to do. */
  get due(): boolean {
    return !this.empty && !this.#delivering && !this.#patient;
  }

  /**
   * Tries what waits inside the workflow task, which costs the least history. The order's life calls it between its
   * steps, so that no two local activities run at once: which of them ends first is not in the history.
   */
  async tryNow(): Promise<void> {
    if (!this.due) return;
    this.#patient = this.#answering() || !(await this.#deliver((batch) => local.deliverEventsNow(batch)));
  }

  /** Stops delivering: the order continues as new and takes what waits along. */
  async pause(): Promise<void> {
    this.#paused = true;
    this.#scope?.cancel();
    await condition(() => !this.#delivering);
  }

  /** Delivers, as long as the order lives, what could not leave at once. */
  async run(): Promise<void> {
    for (;;) {
      await condition(() => (this.#patient && !this.empty && !this.#delivering) || this.#paused);
      if (this.#paused) return;
      const scope = new CancellationScope();
      this.#scope = scope;
      const tried = this.waiting.length;
      const inTime = await this.#deliver((batch) => scope.run(() => events.deliverEvents(batch)));
      if (this.#paused) return;
      if (!inTime) this.#gone(tried, false);
      if (this.empty) this.#patient = false;
    }
  }

  /** @returns whether all that waited when it was called has left */
  async #deliver(send: (batch: OrderEvent[]) => Promise<void>): Promise<boolean> {
    const batch = [...this.waiting];
    this.#delivering = true;
    const sent = await succeeds(send(batch));
    this.#delivering = false;
    if (sent) this.#gone(batch.length, true);
    return sent;
  }

  #gone(count: number, inTime: boolean): void {
    this.waiting.splice(0, count);
    this.#delivered(count, inTime);
  }
}

async function succeeds(delivery: Promise<void>): Promise<boolean> {
  try {
    await delivery;
    return true;
  } catch {
    return false;
  }
}
