/** Steering the sandbox from a test: decisions, faults, its clock, its books. */
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

/** The sandbox's clock: `now` in ISO 8601, and how many milliseconds it is ahead of the wall clock. */
export interface ClockReading {
  readonly now: string;
  readonly offsetMs: number;
}

/** What is absent, or undefined, stays as it is. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

function withChanges<T extends object>(settings: T, changes: Changes<T>): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(given) };
}

/** The control plane, for a caller in the same process. The HTTP routes under `/_sandbox/` do the same. */
export interface SandboxControl {
  /**
   * An analyst's decision, told by webhook if it is a change. By invoice number it goes to the transactions in
   * `review`, or to the newest when none is. Returns the transactions it went to; none: there is no such.
   */
  decide(idOrInvoice: string, decision: Decision): TransactionRecord[];
  /** Whether these transactions are covered by chargeback protection. */
  cover(idOrInvoice: string, covered: boolean): TransactionRecord[];
  /** Every transaction, or all with this id or invoice number, oldest first. */
  transactions(idOrInvoice?: string): TransactionRecord[];
  customerCodes(): CustomerCode[];
  ledger(filter?: LedgerFilter): LedgerEntry[];
  clock(): ClockReading;
  setClock(to: z.input<typeof clockInput>): ClockReading;
  /** Replaces the plan; throws a ZodError for a plan that can't be played. */
  setFaults(plan: FaultPlanInput): FaultReport;
  faults(): FaultReport;
  /** Ends every fault; the counts of what was played stay until `reset`. */
  clearFaults(): FaultReport;
  /** Switches the valid keys. */
  setKeys(keys: Changes<Keys>): void;
  setWebhooks(config: Changes<WebhookConfig>): void;
  portal(): PortalSettings;
  setPortal(settings: Changes<PortalSettings>): PortalSettings;
  /** Back to an empty sandbox as it was configured when it started. */
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

/** Builds the control plane on the sandbox's parts; `keys` is changed in place. */
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
