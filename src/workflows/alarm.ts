/** One timer that follows a deadline: kept while its moment stays, so that a wake-up costs no timer. */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Deadline } from '../orders/deadlines.ts';
import { describeDeadline } from '../orders/describe.ts';
import { millis } from '../orders/words.ts';

export class Alarm {
  #deadline: Deadline | undefined;
  #rung = false;
  #scope: CancellationScope | undefined;
  readonly #ringing: (deadline: Deadline) => void;

  /** @param ringing is told in the moment when the timer fires; a deadline that had passed already rings without it */
  constructor(ringing: (deadline: Deadline) => void = () => undefined) {
    this.#ringing = ringing;
  }

  /** Follows a deadline; another one at the same moment takes over the timer. */
  set(deadline: Deadline | undefined): void {
    const sameMoment = this.#deadline?.at === deadline?.at;
    this.#deadline = deadline;
    if (sameMoment) return;
    this.#scope?.cancel();
    this.#rung = false;
    if (deadline === undefined) return;
    const left = millis(deadline.at) - Date.now();
    if (left > 0) this.#wait(left, deadline);
    else this.#rung = true;
  }

  /** Whether the deadline has passed. */
  get rung(): boolean {
    return this.#rung;
  }

  /** Takes the deadline if it has passed. */
  take(): Deadline | undefined {
    if (!this.#rung) return undefined;
    const passed = this.#deadline;
    this.#rung = false;
    this.#deadline = undefined;
    return passed;
  }

  #wait(ms: number, { kind }: Deadline): void {
    const scope = new CancellationScope();
    this.#scope = scope;
    scope
      .run(() => sleep(ms, { summary: describeDeadline(kind) }))
      .then(() => {
        if (this.#scope !== scope) return;
        this.#rung = true;
        if (this.#deadline !== undefined) this.#ringing(this.#deadline);
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
  }
}
