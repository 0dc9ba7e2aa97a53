/** The service's analysts: they decide reviews, and change their minds, as each order's plan says. */
import type { Decision } from '../../src/contract/words.ts';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { type OrderPlan, orderOfInvoice } from './plan.ts';

const LOOK_EVERY_MS = 200;

export interface Analysts {
  /** Decisions that are still to be made. */
  readonly pending: () => number;
  readonly decided: () => number;
  stop(): void;
}

/** Watches the sandbox's ledger for new transactions and fraud reports, and decides them in time. */
export function startAnalysts(sandbox: Sandbox, plans: ReadonlyMap<string, OrderPlan>): Analysts {
  const timers = new Set<NodeJS.Timeout>();
  const reported = new Set<string>();
  /** Invoice numbers of creates whose transaction hasn't been seen. */
  const created = new Set<string>();
  let decided = 0;
  let since = 0;
  const later = (afterMs: number, transactionId: string, decision: Decision): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      sandbox.control.decide(transactionId, decision);
      decided += 1;
    }, afterMs);
    timers.add(timer);
  };
  const look = (): void => {
    for (const entry of sandbox.control.ledger({ since })) {
      since = entry.sequence;
      const { operation, invoiceNumber, transactionId } = entry;
      const of = invoiceNumber === null ? undefined : orderOfInvoice(invoiceNumber);
      const plan = of === undefined ? undefined : plans.get(of);
      if (plan === undefined) continue;
      // A create is entered before it is committed: its transaction is looked up by its invoice number.
      if (operation === 'create-transaction' && invoiceNumber !== null) created.add(invoiceNumber);
      if (operation === 'alert' && transactionId !== null && plan.afterReport !== undefined) {
        if (!reported.has(transactionId)) later(1_500, transactionId, plan.afterReport);
        reported.add(transactionId);
      }
    }
    for (const invoice of created) {
      const [transaction] = sandbox.control.transactions(invoice);
      const of = orderOfInvoice(invoice);
      const plan = of === undefined ? undefined : plans.get(of);
      if (transaction === undefined || plan === undefined) continue;
      created.delete(invoice);
      const [first] = transaction.decisions;
      if (first?.decision === 'review' || first?.decision === 'pass') {
        const script =
          first.decision === plan.attempts[0]?.decision ? plan.analysts : ANY_REVIEW[first.decision];
        for (const { afterMs, decision } of script) later(afterMs, transaction.id, decision);
      }
    }
  };
  const ticker = setInterval(look, LOOK_EVERY_MS);
  return {
    pending: () => timers.size,
    decided: () => decided,
    stop: () => {
      clearInterval(ticker);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** A second attempt's review passes; its pass stays. */
const ANY_REVIEW = { review: [{ afterMs: 3_000, decision: 'pass' }], pass: [] } as const;
