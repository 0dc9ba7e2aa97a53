/** The screening service's analysts: they decide reviews, and change their minds, as each order's plan says. */
import type { Decision } from '../../../src/contract/words.ts';
import type { Sandbox } from '../../../src/sandbox/create-sandbox.ts';
import { type OrderPlan, orderOfInvoice } from '../plan/plan.ts';

const LOOK_EVERY_MS = 500;
const LATER_REVIEW: OrderPlan['analysts'] = [{ afterMs: 3_000, decision: 'pass' }];
const AFTER_A_REPORT: OrderPlan['analysts'] = [{ afterMs: 1_500, decision: 'fraudulent' }];

/** Decides about each new transaction and each fraud report in time. */
export function startAnalysts({ control }: Sandbox, plans: ReadonlyMap<string, OrderPlan>) {
  const timers = new Set<NodeJS.Timeout>();
  const taken = new Set<string>();
  /** Carries the script out, once for each case. */
  const take = (kase: string, transactionId: string, script: OrderPlan['analysts']): void => {
    if (taken.has(kase)) return;
    taken.add(kase);
    for (const { afterMs, decision } of script) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        control.decide(transactionId, decision);
      }, afterMs);
      timers.add(timer);
    }
  };
  const ticker = setInterval(() => {
    for (const { id, invoiceNumber, decisions, fraudReports } of control.transactions()) {
      const plan = plans.get(orderOfInvoice(invoiceNumber ?? '') ?? '');
      if (plan === undefined) continue;
      take(id, id, scriptFor(plan, decisions[0]?.decision));
      if (plan.confirmsFraud && fraudReports.length > 0) take(`report of ${id}`, id, AFTER_A_REPORT);
    }
  }, LOOK_EVERY_MS);
  return {
    /** How many decisions they have still to make. */
    pending: () => timers.size,
    stop: () => {
      clearInterval(ticker);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function scriptFor({ attempts, analysts }: OrderPlan, first: Decision | undefined): OrderPlan['analysts'] {
  if (first === attempts[0]?.decision) return analysts;
  return first === 'review' ? LATER_REVIEW : [];
}
