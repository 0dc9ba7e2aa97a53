import type { LedgerEntry, LedgerOperation, Subject } from './model.ts';

/** The newest entries are kept: enough for a chaos run of tens of thousands of orders. */
const KEPT_IN_MEMORY = 200_000;
/** A file is rewritten as a whole, so it holds fewer. */
const KEPT_IN_FILE = 10_000;

/** Which entries to read; `since` is a sequence number, and only later ones are returned. */
export interface LedgerFilter {
  readonly operation?: LedgerOperation | undefined;
  readonly invoice?: string | undefined;
  readonly since?: number | undefined;
}

/** Every request in order of arrival: the truth that tests check against. */
export class Ledger {
  private entries: LedgerEntry[] = [];
  private lastSequence = 0;
  private readonly clockOffsetMs: () => number;

  /** `clockOffsetMs` is how far the sandbox's clock is ahead of the wall clock. */
  constructor(clockOffsetMs: () => number) {
    this.clockOffsetMs = clockOffsetMs;
  }

  /** Opens an entry at arrival; whoever commits fills in `outcome` and `committed` in the same step. */
  open(operation: LedgerOperation, base: LedgerEntry['base'], subject: Subject): LedgerEntry {
    this.lastSequence += 1;
    const wallMs = Date.now();
    const entry: LedgerEntry = {
      sequence: this.lastSequence,
      at: new Date(wallMs + this.clockOffsetMs()).toISOString(),
      wallAt: new Date(wallMs).toISOString(),
      operation,
      base,
      transactionId: subject.transactionId,
      invoiceNumber: subject.invoiceNumber,
      outcome: { status: null, code: null, decision: null },
      committed: false,
      fault: null,
    };
    this.entries.push(entry);
    // Trimmed in big steps, so that the cost is spread over many requests.
    if (this.entries.length > KEPT_IN_MEMORY * 1.1) this.entries = this.entries.slice(-KEPT_IN_MEMORY);
    return entry;
  }

  /** Copies of the entries that match, oldest first. */
  read(filter: LedgerFilter = {}): LedgerEntry[] {
    const { operation, invoice, since = 0 } = filter;
    return this.entries
      .filter(
        (entry) =>
          entry.sequence > since &&
          (operation === undefined || entry.operation === operation) &&
          (invoice === undefined || entry.invoiceNumber === invoice),
      )
      .map((entry) => structuredClone(entry));
  }

  clear(): void {
    this.entries = [];
    this.lastSequence = 0;
  }

  snapshot(): LedgerEntry[] {
    return this.entries.slice(-KEPT_IN_FILE);
  }

  restore(entries: LedgerEntry[]): void {
    this.entries = entries;
    this.lastSequence = entries.at(-1)?.sequence ?? 0;
  }
}
