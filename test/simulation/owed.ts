/** Reads that the order owes: somebody said that there is news, and it took that. */
import type { Order } from '../../src/orders/order.ts';
import type { Phase } from '../../src/orders/words.ts';
import type { World } from './world.ts';

/** The longest spacing of hints, and time for a read. */
const WITHIN_MS = 5 * 60_000 + 60_000;

export class Owed {
  readonly #world: World;
  #since: number | undefined;
  #late: string | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** After each step: whether the order has promised a read, and whether it still can make one. */
  after({ state }: Order, hinted: boolean): void {
    if (!isRead(state.phase) || state.ended === true) {
      this.#settle();
      // An order that is over owes nothing any more, unless it was late by then.
      if (state.phase !== 'screening') this.#since = undefined;
    }
    if (hinted) this.#since ??= this.#world.agenda.now;
  }

  /** An operator reset the order: what it took after that task it has not taken, or takes again. */
  reset(): void {
    this.#since = undefined;
  }

  /** @returns why what is owed was not paid, in words */
  unpaid(at: number): string | undefined {
    this.#settle();
    if (this.#late !== undefined) return this.#late;
    return this.#since === undefined ? undefined : this.#lateness(this.#since, at);
  }

  #settle(): void {
    const since = this.#since;
    if (since === undefined) return;
    const read = this.#world.service.ledger.find(
      ({ operation, at }) =>
        at >= since &&
        (operation === 'status' || operation === 'status-by-invoice' || operation === 'create-transaction'),
    );
    if (read === undefined) return;
    this.#late ??= this.#lateness(since, read.at);
    this.#since = undefined;
  }

  /** Nobody reads while no worker is there, or no service, or none that knows the key. */
  #lateness(since: number, at: number): string | undefined {
    const { away, wire } = this.#world;
    const nobody = [...away, ...wire.outages, ...wire.wrongKeys].some(
      (span) => span.from < at && span.until > since,
    );
    if (nobody || at - since < WITHIN_MS) return undefined;
    return `a hint or a recheck of ${new Date(since).toISOString()} was taken, and not read for in time`;
  }
}

function isRead(phase: Phase): boolean {
  return phase === 'review' || phase === 'decided' || phase === 'awaiting-gateway' || phase === 'declined';
}
