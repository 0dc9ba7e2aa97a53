/** The sweep: looks over open orders from outside, since an order that is stuck can't say so itself. Design section 8. */
import type { Instant } from './words.ts';

/** Why an order needs a person, seen from outside. */
export type SweepFinding = {
  workflowId: string;
  /** `stuck`: its workflow task fails again and again. `overdue`: its cancel window is over and it didn't close. */
  kind: 'stuck' | 'overdue';
};

/** How a sweep ended; the next one goes on from it, and tells nothing twice. */
export interface SweepResult {
  /** Where it stopped: many open orders are looked over in several sweeps. */
  cursor?: string;
  found: SweepFinding[];
  looked: number;
  at: Instant;
}

export const SWEEP_ORDERS = 'sweepOrders';
export const SWEEP_SCHEDULE_ID = 'order-screening-sweep';

/** A workflow task that has failed this often isn't a passing fault. */
export const STUCK_AFTER_TRIES = 5;

/** How long after `cancelBy` an order that should have closed is called overdue. */
export const OVERDUE_AFTER_MS = 5 * 60_000;

/** @returns the same findings of a sweep that were not told before */
export function newFindings(found: readonly SweepFinding[], known: readonly SweepFinding[]): SweepFinding[] {
  return found.filter(
    (one) => !known.some((old) => old.workflowId === one.workflowId && old.kind === one.kind),
  );
}

/** @returns the reason in words */
export function sweepWords({ kind }: SweepFinding): string {
  return kind === 'stuck'
    ? 'The order’s workflow task fails again and again: look at the error in the Temporal UI.'
    : 'The order’s cancel window is over and the order has not closed: look at it in the Temporal UI.';
}
