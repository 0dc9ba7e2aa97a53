/** The control plane of the sandbox: decisions, faults, clock, ledger. */
import { z } from 'zod';
import type { FaultPlan, FaultPlanInput, FaultReport } from './fault-plan.ts';
import type { Keys } from './gate.ts';
import {
  type CustomerCode,
  DECISIONS,
  type Decision,
  LEDGER_OPERATIONS,
  type LedgerEntry,
  type PortalSettings,
  portalSettingsSchema,
  type TransactionRecord,
} from './model.ts';
import type { Ledger, LedgerFilter, SandboxState } from './state.ts';
import { type WebhookConfig, type WebhookSender, webhookConfigSchema } from './webhook-sender.ts';

export const decisionInput = z.strictObject({ decision: z.enum(DECISIONS) });
export const coverageInput = z.strictObject({ covered: z.boolean() });
export const clockInput = z.union([
  z.strictObject({ advanceMs: z.number().int() }),
  z.strictObject({ now: z.union([z.number().int(), z.iso.datetime({ offset: true })]) }),
]);
export const keysInput = z.strictObject({
  test: z.string().min(1).optional(),
  live: z.string().min(1).optional(),
});
export const webhooksInput = webhookConfigSchema.partial();
export const portalInput = portalSettingsSchema.partial().strict();
export const ledgerInput = z.strictObject({
  operation: z.enum(LEDGER_OPERATIONS).optional(),
  invoice: z.string().optional(),
  since: z.coerce.number().int().nonnegative().optional(),
});

/** The sandbox's clock: `now` in ISO 8601, and its offset from the wall clock in milliseconds (positive: ahead). */
export interface ClockReading {
  readonly now: string;
  readonly offsetMs: number;
}

/** A partial update: absent and undefined properties stay unchanged. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

function withChanges<T extends object>(settings: T, changes: Changes<T>): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(given) };
}

/** The control plane for callers in the same process. The HTTP routes under `/_sandbox/` offer the same operations. */
export interface SandboxControl {
  /**
   * Sets an analyst's decision, and sends a webhook if it is a change. Applies to all matching transactions in `review`, or to the
   * newest match if none is in review. Returns these transactions; empty if none matches.
   */
  decide(idOrInvoice: string, decision: Decision): TransactionRecord[];
  /** Sets whether these transactions are covered by chargeback protection. */
  cover(idOrInvoice: string, covered: boolean): TransactionRecord[];
  /** Returns all transactions, or those with this id or invoice number, oldest first. */
  transactions(idOrInvoice?: string): TransactionRecord[];
  customerCodes(): CustomerCode[];
  ledger(filter?: LedgerFilter): LedgerEntry[];
  clock(): ClockReading;
  setClock(to: z.input<typeof clockInput>): ClockReading;
  /** Replaces the plan. @throws ZodError for an invalid plan */
  setFaults(plan: FaultPlanInput): FaultReport;
  faults(): FaultReport;
  /** Removes all faults. The counts of injected faults stay until `reset`. */
  clearFaults(): FaultReport;
  /** Replaces valid API keys. */
  setKeys(keys: Changes<Keys>): void;
  setWebhooks(config: Changes<WebhookConfig>): void;
  portal(): PortalSettings;
  setPortal(settings: Changes<PortalSettings>): PortalSettings;
  /** Empties the sandbox and restores its initial configuration. */
  reset(): void;
}

export interface ControlParts {
  readonly state: SandboxState;
  readonly ledger: Ledger;
  readonly faults: FaultPlan;
  readonly webhooks: WebhookSender;
  readonly keys: Keys;
  readonly onChange: () => void;
}

/** Creates the control plane. Changes `keys` in place. */
export function createControl(parts: ControlParts): SandboxControl {
  const { state, ledger, faults, webhooks, keys, onChange } = parts;
  const initialKeys = { ...keys };
  const initialWebhooks = webhooks.config;

  const clock = (): ClockReading => ({ now: state.nowIso(), offsetMs: state.clockOffsetMs });
  const copies = (transactions: TransactionRecord[]) => structuredClone(transactions);

  return {
    decide(idOrInvoice, decision) {
      const found = state.all(idOrInvoice);
      const inReview = found.filter((transaction) => transaction.decision === 'review');
      const decided = inReview.length > 0 ? inReview : found.slice(-1);
      for (const transaction of decided) {
        if (!state.decide(transaction, decision)) continue;
        const { id: transactionId, invoiceNumber } = transaction;
        const entry = ledger.open('decision-change', 'service', { transactionId, invoiceNumber });
        entry.committed = true;
        entry.outcome.decision = decision;
        webhooks.announce(transaction);
      }
      onChange();
      return copies(decided);
    },
    cover(idOrInvoice, covered) {
      const found = state.all(idOrInvoice);
      for (const transaction of found) transaction.covered = covered;
      onChange();
      return copies(found);
    },
    transactions: (idOrInvoice) => copies(state.all(idOrInvoice)),
    customerCodes: () => structuredClone(state.customerCodes),
    ledger: (filter) => ledger.read(filter),
    clock,
    setClock(to) {
      state.clockOffsetMs =
        'now' in to ? new Date(to.now).getTime() - Date.now() : state.clockOffsetMs + to.advanceMs;
      onChange();
      return clock();
    },
    setFaults(plan) {
      faults.set(plan);
      return faults.report();
    },
    faults: () => faults.report(),
    clearFaults() {
      faults.clear();
      return faults.report();
    },
    setKeys(changed) {
      Object.assign(keys, withChanges(keys, changed));
    },
    setWebhooks(changed) {
      webhooks.config = withChanges(webhooks.config, changed);
    },
    portal: () => ({ ...state.portal }),
    setPortal(changed) {
      state.portal = withChanges(state.portal, changed);
      onChange();
      return { ...state.portal };
    },
    reset() {
      state.clear();
      ledger.clear();
      faults.reset();
      Object.assign(keys, initialKeys);
      webhooks.config = initialWebhooks;
      onChange();
    },
  };
}
