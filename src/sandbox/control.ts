/** The control plane of the sandbox: decisions, faults, clock, settings, ledger. */
import { z } from 'zod';
import type { FaultPlan, FaultPlanInput } from './fault-plan.ts';
import type { Ledger, LedgerFilter } from './ledger.ts';
import { type Decision, portalSettingsSchema, screeningSettingsSchema } from './model.ts';
import type { Keys } from './service/gate.ts';
import type { SandboxState } from './state.ts';
import { type WebhookSender, webhookConfigSchema } from './webhook-sender.ts';

/** About 1,000 years. A date far beyond has no ISO form, so every later request would fail. */
const MOST_MS = 3e13;
const milliseconds = z.number().int().min(-MOST_MS).max(MOST_MS);

/** What the setters take. The settings that are not given stay as they are. */
export const controlInputs = {
  clock: z.union([
    z.strictObject({ advanceMs: milliseconds }),
    z.strictObject({ now: z.union([milliseconds, z.iso.datetime({ offset: true })]) }),
  ]),
  keys: z.strictObject({ test: z.string().min(1), live: z.string().min(1) }).partial(),
  webhooks: webhookConfigSchema.partial(),
  portal: portalSettingsSchema.partial().strict(),
  screening: screeningSettingsSchema.partial().strict(),
};
type Input<Name extends keyof typeof controlInputs> = z.output<(typeof controlInputs)[Name]>;

interface ControlParts {
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
export function createControl({ state, ledger, faults, webhooks, keys, onChange }: ControlParts) {
  const initialKeys = { ...keys };
  const initialWebhooks = webhooks.config;

  /** The sandbox's clock: `now` in ISO 8601, and its offset from the wall clock in milliseconds (positive: ahead). */
  const clock = () => ({ now: state.nowIso(), offsetMs: state.clockOffsetMs });

  return {
    /**
     * Sets an analyst's decision, and sends a webhook if it is a change. Applies to all matching transactions in `review`, or to the
     * newest match if none is in review. Returns these transactions; empty if none matches.
     */
    decide(idOrInvoice: string, decision: Decision) {
      const found = state.all(idOrInvoice);
      const inReview = found.filter((transaction) => transaction.decision === 'review');
      const decided = inReview.length > 0 ? inReview : found.slice(-1);
      for (const transaction of decided.filter((one) => one.decision !== decision)) {
        transaction.decision = decision;
        transaction.decisions.push({ decision, at: state.nowIso(), by: 'analyst' });
        ledger.addEvent('decision-change', transaction);
        webhooks.announce(transaction);
      }
      onChange();
      return structuredClone(decided);
    },
    /** Sets whether these transactions are covered by chargeback protection. */
    cover(idOrInvoice: string, covered: boolean) {
      const found = state.all(idOrInvoice);
      for (const transaction of found) transaction.covered = covered;
      onChange();
      return structuredClone(found);
    },
    /** Returns all transactions, or those with this id or invoice number, oldest first. */
    transactions: (idOrInvoice?: string) => structuredClone(state.all(idOrInvoice)),
    customerCodes: () => structuredClone(state.customerCodes),
    ledger: (filter?: LedgerFilter) => ledger.read(filter),
    clock,
    setClock(to: Input<'clock'>) {
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
    setKeys(changed: Input<'keys'>) {
      Object.assign(keys, changed);
    },
    setWebhooks(changed: Input<'webhooks'>) {
      webhooks.config = Object.assign({}, webhooks.config, changed);
    },
    portal: () => ({ ...state.portal }),
    setPortal(changed: Input<'portal'>) {
      state.portal = Object.assign({}, state.portal, changed);
      onChange();
      return { ...state.portal };
    },
    setScreening(changed: Input<'screening'>) {
      state.screening = Object.assign({}, state.screening, changed);
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
