/** The event outbox: events leave in order, one batch at a time. Design section 5, "Events out". */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { OrderEvent } from '../orders/messages.ts';
import { events } from './world.ts';

/**
 * An event leaves only by an activity of its own, which the server begins when what it tells is in the history. Sent from
 * inside a workflow task it could tell what then never happened: a task that is lost is run again, at another time and
 * with what came meanwhile, and another event has its `webhook-id` then.
 */
export class Outbox {
  readonly waiting: OrderEvent[];
  readonly #delivered: (count: number, inTime: boolean) => void;
  #delivering = false;
  #paused = false;
  #scope: CancellationScope | undefined;

  /** @param delivered is told how many events left, and whether within their three days */
  constructor(waiting: OrderEvent[], delivered: (count: number, inTime: boolean) => void) {
    this.waiting = waiting;
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

  /** Delivers as long as the order lives; nothing else waits for it. */
  async run(): Promise<void> {
    for (;;) {
      await condition(() => this.waiting.length > 0 || this.#paused);
      if (this.#paused) return;
      const batch = [...this.waiting];
      const scope = new CancellationScope();
      this.#scope = scope;
      this.#delivering = true;
      const inTime = await succeeds(scope.run(() => events.deliverEvents(batch)));
      this.#delivering = false;
      if (this.#paused && !inTime) return;
      this.waiting.splice(0, batch.length);
      this.#delivered(batch.length, inTime);
    }
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
