/** The event outbox: events leave in order, one batch at a time. Design section 5, "Events out". */
import { CancellationScope, condition } from '@temporalio/workflow';
import type { OrderEvent } from '../orders/messages.ts';
import { events, localEvents } from './world.ts';

/**
 * An event leaves by an activity of its own, which the server begins when what it tells is in the history. Sent from
 * inside a workflow task it could tell what then never happened: a task that is lost is run again, at another time and
 * with what came meanwhile, and another event has its `webhook-id` then. Only the last event of an order at rest may leave
 * from inside the task, since that task can end in no other way: it saves a sixth of the history.
 */
export class Outbox {
  readonly waiting: OrderEvent[];
  readonly #delivered: (count: number, inTime: boolean) => void;
  readonly #others: { readonly rests: boolean };
  #delivering = false;
  #paused = false;
  #scope: CancellationScope | undefined;
  #atOnce = false;

  /**
   * @param others the strands whose turn comes first
   * @param delivered is told how many events left, and whether within their three days
   */
  constructor(
    waiting: OrderEvent[],
    others: { readonly rests: boolean },
    delivered: (count: number, inTime: boolean) => void,
  ) {
    this.waiting = waiting;
    this.#others = others;
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

  /** Tries the next event from inside the workflow task first. The caller knows that a rerun would send the same one. */
  deliverAtOnce(): void {
    this.#atOnce = true;
  }

  /** Delivers as long as the order lives; nothing else waits for it. */
  async run(): Promise<void> {
    for (;;) {
      await condition(() => (this.waiting.length > 0 && this.#others.rests) || this.#paused);
      if (this.#paused) return;
      const batch = [...this.waiting];
      const scope = new CancellationScope();
      this.#scope = scope;
      this.#delivering = true;
      const inTime =
        (await this.#leftAtOnce(batch)) || (await succeeds(scope.run(() => events.deliverEvents(batch))));
      this.#delivering = false;
      if (this.#paused && !inTime) return;
      this.waiting.splice(0, batch.length);
      this.#delivered(batch.length, inTime);
    }
  }

  async #leftAtOnce(batch: OrderEvent[]): Promise<boolean> {
    const [only] = batch;
    return this.#atOnce && only !== undefined && succeeds(localEvents.deliverAtOnce(only));
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
