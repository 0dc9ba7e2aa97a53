/** The ledger of the sandbox: what was asked of it and what it answered. Tests check against it. */
import { z } from 'zod';
import {
  LEDGER_OPERATIONS,
  type LedgerEntry,
  type LedgerOperation,
  type Subject,
  type TransactionRecord,
} from './model.ts';

const NOBODY: Subject = { transactionId: null, invoiceNumber: null };

/** How many of the newest entries are kept: enough for a chaos run of tens of thousands of orders. */
const KEPT_ENTRIES = 200_000;

/** Which entries to read; `since` is a sequence number, and only later ones are returned. */
export const ledgerFilter = z
  .strictObject({
    operation: z.enum(LEDGER_OPERATIONS),
    invoice: z.string(),
    since: z.coerce.number().int().nonnegative(),
  })
  .partial();
export type LedgerFilter = z.output<typeof ledgerFilter>;

export type Ledger = ReturnType<typeof createLedger>;

/**
 * Records every request in order of arrival.
 * @param clockOffsetMs how far the sandbox's clock is ahead of the wall clock
 */
export function createLedger(clockOffsetMs: () => number) {
  let entries: LedgerEntry[] = [];
  let lastSequence = 0;

  /** Adds an entry at arrival. The code that commits sets `outcome` and `committed` in the same step. */
  function open(operation: LedgerOperation, base: LedgerEntry['base'], subject = NOBODY): LedgerEntry {
    lastSequence += 1;
    const wallMs = Date.now();
    const entry: LedgerEntry = {
      sequence: lastSequence,
      at: new Date(wallMs + clockOffsetMs()).toISOString(),
      wallAt: new Date(wallMs).toISOString(),
      operation,
      base,
      ...subject,
      outcome: { status: null, code: null, decision: null },
      callerPort: null,
      committed: false,
      fault: null,
    };
    entries.push(entry);
    // Trim rarely and by many entries, to spread the cost over many requests.
    if (entries.length > KEPT_ENTRIES * 1.1) entries = entries.slice(-KEPT_ENTRIES);
    return entry;
  }

  return {
    open,
    /** Adds something that the screening service does by itself. */
    addEvent(
      operation: 'alert' | 'decision-change',
      { id, invoiceNumber, decision }: TransactionRecord,
    ): void {
      const entry = open(operation, 'service', { transactionId: id, invoiceNumber });
      entry.committed = true;
      entry.outcome.decision = decision;
    },
    read({ operation, invoice, since = 0 }: LedgerFilter = {}): LedgerEntry[] {
      const found = entries.filter(
        (entry) =>
          entry.sequence > since &&
          (operation === undefined || entry.operation === operation) &&
          (invoice === undefined || entry.invoiceNumber === invoice),
      );
      return structuredClone(found);
    },
    clear(): void {
      entries = [];
      lastSequence = 0;
    },
  };
}
