/** The sandbox's books: transactions, settings, the ledger of requests, and the file that keeps them. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  customerCodeSchema,
  type Decision,
  type LedgerEntry,
  type LedgerOperation,
  ledgerEntrySchema,
  type Mode,
  type PortalSettings,
  portalSettingsSchema,
  type Subject,
  type TransactionRecord,
  transactionRecordSchema,
} from './model.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_PORTAL: PortalSettings = { codeType: 'number', covered: true, cancelWindowMs: 5 * DAY_MS };

const stateSnapshotSchema = z.object({
  clockOffsetMs: z.number(),
  portal: portalSettingsSchema,
  transactions: z.array(transactionRecordSchema),
  customerCodes: z.array(customerCodeSchema),
});
/** What of the state survives a restart. */
type StateSnapshot = z.infer<typeof stateSnapshotSchema>;

/** Removes the leading `#` that invoice numbers are shown with. */
export function bareInvoiceNumber(invoiceNumber: string): string {
  return invoiceNumber.startsWith('#') ? invoiceNumber.slice(1) : invoiceNumber;
}

/** The service's books: its clock, its transactions, its settings. Every change is one synchronous step. */
export class SandboxState {
  clockOffsetMs = 0;
  portal: PortalSettings = { ...DEFAULT_PORTAL };
  customerCodes: StateSnapshot['customerCodes'] = [];
  private readonly byId = new Map<string, TransactionRecord>();
  private readonly byInvoice = new Map<string, TransactionRecord[]>();

  /** Milliseconds since 1970 on the sandbox's clock. */
  now(): number {
    return Date.now() + this.clockOffsetMs;
  }

  /** The sandbox's clock, ISO 8601. */
  nowIso(): string {
    return new Date(this.now()).toISOString();
  }

  add(transaction: TransactionRecord): void {
    this.byId.set(transaction.id, transaction);
    if (transaction.invoiceNumber === null) return;
    const sameInvoice = this.byInvoice.get(transaction.invoiceNumber);
    if (sameInvoice) sameInvoice.push(transaction);
    else this.byInvoice.set(transaction.invoiceNumber, [transaction]);
  }

  /** The transaction with this id, if a key of this mode may see it. */
  findById(mode: Mode, id: string): TransactionRecord | undefined {
    const found = this.byId.get(id.toLowerCase());
    return found?.mode === mode ? found : undefined;
  }

  /** The first transaction with this invoice number; later ones can't be found. */
  findByInvoice(mode: Mode, invoiceNumber: string): TransactionRecord | undefined {
    return this.byInvoice.get(invoiceNumber)?.find((transaction) => transaction.mode === mode);
  }

  /** Every transaction with this id or invoice number, oldest first. */
  all(idOrInvoice?: string): TransactionRecord[] {
    if (idOrInvoice === undefined) return [...this.byId.values()];
    const byId = this.byId.get(idOrInvoice.toLowerCase());
    return byId ? [byId] : [...(this.byInvoice.get(bareInvoiceNumber(idOrInvoice)) ?? [])];
  }

  /** What a request that names only a transaction id is about. */
  subjectOf(id: string | null): Subject {
    const invoiceNumber = id === null ? null : (this.byId.get(id.toLowerCase())?.invoiceNumber ?? null);
    return { transactionId: id, invoiceNumber };
  }

  /** An analyst's decision. Returns false when it is the decision the transaction has already. */
  decide(transaction: TransactionRecord, decision: Decision): boolean {
    if (transaction.decision === decision) return false;
    transaction.decision = decision;
    transaction.decisions.push({ decision, at: this.nowIso(), by: 'analyst' });
    return true;
  }

  clear(): void {
    this.restore({ clockOffsetMs: 0, portal: { ...DEFAULT_PORTAL }, transactions: [], customerCodes: [] });
  }

  snapshot(): StateSnapshot {
    const { clockOffsetMs, portal, customerCodes } = this;
    return { clockOffsetMs, portal, transactions: this.all(), customerCodes };
  }

  restore(snapshot: StateSnapshot): void {
    this.byId.clear();
    this.byInvoice.clear();
    for (const transaction of snapshot.transactions) this.add(transaction);
    this.clockOffsetMs = snapshot.clockOffsetMs;
    this.portal = snapshot.portal;
    this.customerCodes = snapshot.customerCodes;
  }
}

const stateFileSchema = z.object({ state: stateSnapshotSchema, ledger: z.array(ledgerEntrySchema) });
type SavedState = z.infer<typeof stateFileSchema>;

/** A file is rewritten as a whole: at most so often, and never for more than a twentieth of the time. */
const MIN_PAUSE_MS = 250;
const PAUSE_PER_WRITE = 20;

/** Keeps the sandbox's state in one JSON file, so that a restart goes on. Each write replaces it at once. */
export class StateFile {
  private readonly path: string;
  private readonly snapshot: () => SavedState;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private pauseMs = MIN_PAUSE_MS;

  constructor(path: string, snapshot: () => SavedState) {
    this.path = path;
    this.snapshot = snapshot;
  }

  /** What was saved, or undefined when there is no file yet. Throws, naming the file, when it can't be read. */
  async load(): Promise<SavedState | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return stateFileSchema.parse(JSON.parse(text));
    } catch {
      throw new Error(`The sandbox's state file can't be read; move it away to begin anew: ${this.path}`);
    }
  }

  /** Asks for a write soon; many changes make one write. */
  changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.writing = this.writing
        .then(() => this.write())
        .catch((error: unknown) => console.error('sandbox: the state was not saved:', error));
    }, this.pauseMs);
  }

  /** Writes what is unsaved, now. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.writing;
    await this.write();
  }

  private async write(): Promise<void> {
    const began = performance.now();
    const beside = `${this.path}.new`;
    await mkdir(dirname(this.path), { recursive: true });
    await writeFile(beside, JSON.stringify(this.snapshot()));
    await rename(beside, this.path);
    this.pauseMs = Math.max(MIN_PAUSE_MS, (performance.now() - began) * PAUSE_PER_WRITE);
  }
}

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
      callerPort: null,
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

/** @returns the code of a system call's error, such as `ENOENT`; undefined when it has none */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
