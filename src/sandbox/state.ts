/** The sandbox's state: clock, transactions and settings, and the file that keeps them across restarts. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  customerCodeSchema,
  type Mode,
  type PortalSettings,
  portalSettingsSchema,
  type ScreeningSettings,
  type Subject,
  screeningSettingsSchema,
  type TransactionRecord,
  transactionRecordSchema,
} from './model.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_PORTAL: PortalSettings = { codeType: 'number', covered: true, cancelWindowMs: 5 * DAY_MS };

const DEFAULT_SCREENING: ScreeningSettings = {
  otherGatewayResults: 'accept',
  withoutCreditCard: 'accept',
};

const stateSnapshotSchema = z.object({
  clockOffsetMs: z.number(),
  portal: portalSettingsSchema,
  screening: screeningSettingsSchema.default(DEFAULT_SCREENING),
  transactions: z.array(transactionRecordSchema),
  customerCodes: z.array(customerCodeSchema),
});
type StateSnapshot = z.infer<typeof stateSnapshotSchema>;

/** Removes the leading `#` of a displayed invoice number. */
export function bareInvoiceNumber(invoiceNumber: string): string {
  return invoiceNumber.startsWith('#') ? invoiceNumber.slice(1) : invoiceNumber;
}

/** The simulated screening service's clock, transactions and settings. Every change is one synchronous step. */
export class SandboxState {
  clockOffsetMs = 0;
  portal: PortalSettings = DEFAULT_PORTAL;
  screening: ScreeningSettings = DEFAULT_SCREENING;
  customerCodes: StateSnapshot['customerCodes'] = [];
  private readonly byId = new Map<string, TransactionRecord>();
  private readonly byInvoice = new Map<string, TransactionRecord[]>();

  /** Milliseconds since 1970 on the sandbox's clock. */
  now(): number {
    return Date.now() + this.clockOffsetMs;
  }

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

  /** The first transaction with this invoice number. Later ones can't be looked up. */
  findByInvoice(mode: Mode, invoiceNumber: string): TransactionRecord | undefined {
    return this.byInvoice.get(invoiceNumber)?.find((transaction) => transaction.mode === mode);
  }

  /** Every transaction with this id or invoice number, oldest first. */
  all(idOrInvoice?: string): TransactionRecord[] {
    if (idOrInvoice === undefined) return [...this.byId.values()];
    const byId = this.byId.get(idOrInvoice.toLowerCase());
    return byId ? [byId] : [...(this.byInvoice.get(bareInvoiceNumber(idOrInvoice)) ?? [])];
  }

  /** The subject of an unvalidated request that should have a transaction id. */
  subjectOf(id: unknown): Subject {
    if (typeof id !== 'string') return { transactionId: null, invoiceNumber: null };
    return { transactionId: id, invoiceNumber: this.byId.get(id.toLowerCase())?.invoiceNumber ?? null };
  }

  clear(): void {
    const settings = { portal: DEFAULT_PORTAL, screening: DEFAULT_SCREENING };
    this.restore({ clockOffsetMs: 0, ...settings, transactions: [], customerCodes: [] });
  }

  snapshot(): StateSnapshot {
    const { clockOffsetMs, portal, screening, customerCodes } = this;
    return { clockOffsetMs, portal, screening, transactions: this.all(), customerCodes };
  }

  restore(snapshot: StateSnapshot): void {
    this.byId.clear();
    this.byInvoice.clear();
    for (const transaction of snapshot.transactions) this.add(transaction);
    this.clockOffsetMs = snapshot.clockOffsetMs;
    this.portal = snapshot.portal;
    this.screening = snapshot.screening;
    this.customerCodes = snapshot.customerCodes;
  }
}

/** The whole file is rewritten at most so often. */
export const WRITE_EVERY_MS = 250;

/** Keeps the sandbox's state in one JSON file across restarts. Each write replaces the file atomically. */
export function createStateFile(path: string, state: SandboxState) {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    const beside = `${path}.new`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(beside, JSON.stringify(state.snapshot()));
    await rename(beside, path);
  }

  return {
    /** Restores the saved state, if there is a file. @throws an error that names the file if it can't be read */
    async load(): Promise<void> {
      try {
        state.restore(stateSnapshotSchema.parse(JSON.parse(await readFile(path, 'utf8'))));
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return;
        throw new Error(
          `Can't read the sandbox's state file ${path}. Move it away to start with an empty state.`,
        );
      }
    },
    /** Schedules a write. Several changes share one write. After `close` nothing is written. */
    changed(): void {
      if (closed) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        writing = writing
          .then(write)
          .catch((error: unknown) => console.error('sandbox: the state was not saved:', error));
      }, WRITE_EVERY_MS);
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await writing;
      await write();
    },
  };
}

/** @returns the code of a system error, such as `ENOENT`; undefined without one */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
