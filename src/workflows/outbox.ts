/** The event outbox: events leave in order, one batch at a time, and nothing else waits for them. Design section 5. */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { OrderEvent } from '../orders/messages.ts';
import { events, local } from './world.ts';

export class Outbox {
  readonly waiting: OrderEvent[];
  readonly #answering: () => boolean;
  readonly #delivered: (count: number, inTime: boolean) => void;
  #delivering = false;
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

  /** Stops delivering: the order continues as new and takes what waits along. */
  async pause(): Promise<void> {
    this.#paused = true;
    this.#scope?.cancel();
    await condition(() => !this.#delivering);
  }

  /** Delivers as long as the order lives. */
  async run(): Promise<void> {
    for (;;) {
      await condition(() => this.waiting.length > 0 || this.#paused);
      if (this.#paused) return;
      const batch = [...this.waiting];
      this.#delivering = true;
      const inTime = await this.#deliver(batch);
      this.#delivering = false;
      if (this.#paused) return;
      this.waiting.splice(0, batch.length);
      this.#delivered(batch.length, inTime);
    }
  }

  /** Tried inside the workflow task first, which costs the least history, unless a customer waits for that task. */
  async #deliver(batch: OrderEvent[]): Promise<boolean> {
    if (!this.#answering() && (await succeeds(local.deliverEventsNow(batch)))) return true;
    this.#scope = new CancellationScope();
    return succeeds(this.#scope.run(() => events.deliverEvents(batch)));
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
