/** The control plane of the sandbox: decisions, faults, clock, ledger. */
import { z } from 'zod';
import type { FaultPlan, FaultPlanInput } from './fault-plan.ts';
import type { Keys } from './gate.ts';
import {
  DECISIONS,
  type Decision,
  LEDGER_OPERATIONS,
  type PortalSettings,
  portalSettingsSchema,
  type ScreeningSettings,
  screeningSettingsSchema,
  type TransactionRecord,
} from './model.ts';
import type { Ledger, LedgerFilter, SandboxState } from './state.ts';
import { type WebhookConfig, type WebhookSender, webhookConfigSchema } from './webhook-sender.ts';

export const decisionInput = z.strictObject({ decision: z.enum(DECISIONS) });
export const coverageInput = z.strictObject({ covered: z.boolean() });
/** About 1,000 years. A date far beyond has no ISO form, so every later request would fail. */
const MOST_MS = 3e13;
const milliseconds = z.number().int().min(-MOST_MS).max(MOST_MS);
export const clockInput = z.union([
  z.strictObject({ advanceMs: milliseconds }),
  z.strictObject({ now: z.union([milliseconds, z.iso.datetime({ offset: true })]) }),
]);
export const keysInput = z.strictObject({
  test: z.string().min(1).optional(),
  live: z.string().min(1).optional(),
});
export const webhooksInput = webhookConfigSchema.partial();
export const portalInput = portalSettingsSchema.partial().strict();
export const screeningInput = screeningSettingsSchema.partial().strict();
export const ledgerInput = z.strictObject({
  operation: z.enum(LEDGER_OPERATIONS).optional(),
  invoice: z.string().optional(),
  since: z.coerce.number().int().nonnegative().optional(),
});

/** A partial update: absent and undefined properties stay unchanged. */
type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

function withChanges<T extends object>(settings: T, changes: Changes<T>): T {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(given) };
}

export interface ControlParts {
  readonly state: SandboxState;
  readonly ledger: Ledger;
  readonly faults: FaultPlan;
  readonly webhooks: WebhookSender;
  readonly keys: Keys;
  readonly onChange: () => void;
}

/** The control plane for callers in the same process. The HTTP routes under `/_sandbox/` offer the same operations. */
export type SandboxControl = ReturnType<typeof createControl>;

/** Creates the control plane. Changes `keys` in place. */
export function createControl(parts: ControlParts) {
  const { state, ledger, faults, webhooks, keys, onChange } = parts;
  const initialKeys = { ...keys };
  const initialWebhooks = webhooks.config;

  /** The sandbox's clock: `now` in ISO 8601, and its offset from the wall clock in milliseconds (positive: ahead). */
  const clock = () => ({ now: state.nowIso(), offsetMs: state.clockOffsetMs });
  const copies = (transactions: TransactionRecord[]) => structuredClone(transactions);

  return {
    /**
     * Sets an analyst's decision, and sends a webhook if it is a change. Applies to all matching transactions in `review`, or to the
     * newest match if none is in review. Returns these transactions; empty if none matches.
     */
    decide(idOrInvoice: string, decision: Decision) {
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
    /** Sets whether these transactions are covered by chargeback protection. */
    cover(idOrInvoice: string, covered: boolean) {
      const found = state.all(idOrInvoice);
      for (const transaction of found) transaction.covered = covered;
      onChange();
      return copies(found);
    },
    /** Returns all transactions, or those with this id or invoice number, oldest first. */
    transactions: (idOrInvoice?: string) => copies(state.all(idOrInvoice)),
    customerCodes: () => structuredClone(state.customerCodes),
    ledger: (filter?: LedgerFilter) => ledger.read(filter),
    clock,
    setClock(to: z.input<typeof clockInput>) {
      state.clockOffsetMs =
        'now' in to ? new Date(to.now).getTime() - Date.now() : state.clockOffsetMs + to.advanceMs;
      onChange();
      return clock();
    },
    /** Replaces the plan. @throws ZodError for an invalid plan */
    setFaults(plan: FaultPlanInput) {
      faults.set(plan);
      return faults.report();
    },
    faults: () => faults.report(),
    /** Removes all faults. The counts of injected faults stay until `reset`. */
    clearFaults() {
      faults.clear();
      return faults.report();
    },
    setKeys(changed: Changes<Keys>) {
      Object.assign(keys, withChanges(keys, changed));
    },
    setWebhooks(changed: Changes<WebhookConfig>) {
      webhooks.config = withChanges(webhooks.config, changed);
    },
    portal: () => ({ ...state.portal }),
    setPortal(changed: Changes<PortalSettings>) {
      state.portal = withChanges(state.portal, changed);
      onChange();
      return { ...state.portal };
    },
    setScreening(changed: Changes<ScreeningSettings>) {
      state.screening = withChanges(state.screening, changed);
      onChange();
      return { ...state.screening };
    },
    /** Empties the sandbox and restores its initial configuration. */
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
