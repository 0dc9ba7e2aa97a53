/** Watches what is sent: a second create needs a look that may be believed, a cancel must be in time. */
import type { Entry, HeardWord } from './service.ts';

/** A create whose outcome nobody knows has arrived by then, or never will. */
const BELIEVED_AFTER_MS = 10_000;

export class Watch {
  readonly #fault: (words: string) => void;
  /** What looks by invoice heard, those of tries that nobody hears of as well. */
  readonly #looks: { entry: Entry; heard: HeardWord }[] = [];

  constructor(fault: (words: string) => void) {
    this.#fault = fault;
  }

  heard(entry: Entry, heard: HeardWord): void {
    if (entry.operation === 'status-by-invoice') this.#looks.push({ entry, heard });
  }

  /** A create is sent: the last entry of the ledger. */
  creates(ledger: readonly Entry[]): void {
    const last = ledger.at(-1);
    for (const one of ledger) {
      const isCreate = one.operation === 'create-transaction' && one.fault !== 'outage';
      if (one === last || !isCreate || one.attempt !== last?.attempt) continue;
      const why = this.#whyNot(one);
      if (why !== undefined) this.#fault(why);
    }
  }

  /** A cancel is sent. @param last the last moment for it, by the service's own clock */
  cancels(at: number, last: number): void {
    if (at > last) this.#fault(`a cancel was sent ${at - last} ms after the last call`);
  }

  /** @returns why there may be no create after this one */
  #whyNot({ invoice, heard, endedAt }: Entry): string | undefined {
    if (heard !== undefined && heard !== 'unknown' && heard !== 'unreadable') return undefined;
    if (endedAt === undefined) return `a create of ${invoice} is sent beside another one`;
    const believed = this.#looks.some(
      (look) =>
        look.entry.invoice === invoice &&
        (look.heard === 'transaction' ||
          (look.heard === 'not-found' && look.entry.at >= endedAt + BELIEVED_AFTER_MS)),
    );
    return believed ? undefined : `a second create of ${invoice} without a look that may be believed`;
  }
}
