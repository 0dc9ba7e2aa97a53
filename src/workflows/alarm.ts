/** One timer that follows the order's next deadline: kept while the deadline stays, so that a wake-up costs no timer. */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Deadline } from '../orders/deadlines.ts';
import { describeDeadline } from '../orders/describe.ts';
import { millis } from '../orders/words.ts';

export class Alarm {
  #set: Deadline | undefined;
  #rung: Deadline | undefined;
  #scope: CancellationScope | undefined;

  /** Follows the next deadline. */
  set(deadline: Deadline | undefined): void {
    if (this.#set?.kind === deadline?.kind && this.#set?.at === deadline?.at) return;
    this.#scope?.cancel();
    this.#set = deadline;
    this.#rung = undefined;
    if (deadline === undefined) return;
    const left = millis(deadline.at) - Date.now();
    if (left <= 0) {
      this.#rung = deadline;
      return;
    }
    this.#scope = new CancellationScope();
    this.#scope
      .run(() => sleep(left, { summary: describeDeadline(deadline.kind) }))
      .then(() => {
        if (this.#set === deadline) this.#rung = deadline;
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
  }

  /** Whether the deadline has passed. */
  get rung(): boolean {
    return this.#rung !== undefined;
  }

  /** Takes the deadline that passed. */
  take(): Deadline | undefined {
    const rung = this.#rung;
    if (rung !== undefined) {
      this.#rung = undefined;
      this.#set = undefined;
    }
    return rung;
  }
}
