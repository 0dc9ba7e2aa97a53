import { z } from 'zod';
import {
  customerCodeSchema,
  type Decision,
  type Mode,
  type PortalSettings,
  portalSettingsSchema,
  type Subject,
  type TransactionRecord,
  transactionRecordSchema,
} from './model.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_PORTAL: PortalSettings = { codeType: 'number', covered: true, cancelWindowMs: 5 * DAY_MS };

export const stateSnapshotSchema = z.object({
  clockOffsetMs: z.number(),
  portal: portalSettingsSchema,
  transactions: z.array(transactionRecordSchema),
  customerCodes: z.array(customerCodeSchema),
});
/** What of the state survives a restart. */
export type StateSnapshot = z.infer<typeof stateSnapshotSchema>;

/** Removes the leading `#` that invoice numbers are shown with (interface document, "Rules for lookups"). */
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

  /** The first transaction with this invoice number; later ones can't be found (lookup rule 2). */
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
