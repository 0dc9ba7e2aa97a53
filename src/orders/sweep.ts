/** The sweep: looks over open orders from outside, since an order that is stuck can't say so itself. */
import type { Instant } from './words.ts';

export interface SweepActivities {
  sweep(): Promise<void>;
}

/** Why an order needs a person, seen from outside. */
export type SweepFinding = {
  workflowId: string;
  /** `stuck`: its workflow task fails again and again. `overdue`: its cancel window is over and it didn't close. */
  kind: 'stuck' | 'overdue';
  /** When the incident began: when the task was first due, or the window's end. */
  since: Instant;
};

export const SWEEP_ORDERS = 'sweepOrders';
/** The workflow's id: there is one. */
export const SWEEP_ID = 'order-screening-sweep';

/** A workflow task that has failed this often isn't a passing fault. */
export const STUCK_AFTER_TRIES = 5;

/** How long after `cancelBy` an order that should have closed is called overdue. */
export const OVERDUE_AFTER_MS = 5 * 60_000;

/** @returns the reason in words */
export function sweepWords({ kind }: SweepFinding): string {
  return kind === 'stuck'
    ? 'The order’s workflow task fails again and again: look at the error in the Temporal UI.'
    : 'The order’s cancel window is over and the order has not closed: look at it in the Temporal UI.';
}
