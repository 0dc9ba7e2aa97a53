/** Watches what is sent: a second create needs a look that may be believed, a cancel must be in time. */
import type { Entry } from './service.ts';

/** A create whose outcome nobody knows has arrived by then, or never will. */
const BELIEVED_AFTER_MS = 10_000;

export class Watch {
  readonly #fault: (words: string) => void;

  constructor(fault: (words: string) => void) {
    this.#fault = fault;
  }

  /** A create is sent: the last entry of the ledger. */
  creates(ledger: readonly Entry[]): void {
    const last = ledger.at(-1);
    for (const one of ledger) {
      const isCreate = one.operation === 'create-transaction' && one.fault !== 'outage';
      if (one === last || !isCreate || one.attempt !== last?.attempt) continue;
      const why = whyNot(one, ledger);
      if (why !== undefined) this.#fault(why);
    }
  }

  /** A cancel is sent. @param last the last moment for it, by the service's own clock */
  cancels(at: number, last: number): void {
    if (at > last) this.#fault(`a cancel was sent ${at - last} ms after the last call`);
  }
}

/** @returns why there may be no create after this one */
function whyNot({ invoice, heard, endedAt }: Entry, ledger: readonly Entry[]): string | undefined {
  if (heard !== undefined && heard !== 'unknown' && heard !== 'unreadable') return undefined;
  if (endedAt === undefined) return `a create of ${invoice} is sent beside another one`;
  const believed = ledger.some(
    (one) =>
      one.operation === 'status-by-invoice' &&
      one.invoice === invoice &&
      (one.heard === 'transaction' || (one.heard === 'not-found' && one.at >= endedAt + BELIEVED_AFTER_MS)),
  );
  return believed ? undefined : `a second create of ${invoice} without a look that may be believed`;
}
