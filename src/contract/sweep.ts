/** The sweep checks orders from outside, since a stuck or terminated order can't report itself. */
import type { Instant } from './words.ts';

export interface SweepActivities {
  sweep(): Promise<void>;
}

/** Workflow statuses of orders that ended without a record. */
export const LOST_STATUSES = ['Terminated', 'TimedOut', 'Failed', 'Canceled'] as const;
export type LostStatus = (typeof LOST_STATUSES)[number];

/**
 * Why an activity of an open order doesn't run, or gets no answer. An operator paused it, or pinned the order to a version. Or for
 * `LATE_AFTER_MS` it has been due (no worker polls its task queue, or the queue is that slow), or the screening service has
 * answered none of its reads.
 */
export const HELD_REASONS = ['paused', 'pinned', 'late', 'unanswered'] as const;
export interface Held {
  reason: (typeof HELD_REASONS)[number];
  /** When an operator paused the activity, when the pinned order began, when the activity was due, or the first read without an answer. */
  since: Instant;
}

/** Reasons with one cause for many orders. */
export const HELD_TOGETHER: readonly Held['reason'][] = ['late', 'unanswered'];

/** Why an order needs a person, as found by the sweep. */
export type SweepFinding = {
  workflowId: string;
  /**
   * `stuck`: its workflow task keeps failing. `overdue`: its cancel window is over and it has not closed. `lost`: it ended without
   * a record inside its cancel window. `held`: one of its activities doesn't run, or gets no answer.
   */
  kind: 'stuck' | 'overdue' | 'lost' | 'held';
  /** When the incident began: when the task was first due, the window's end, when the workflow was closed, or `Held.since`. */
  since: Instant;
  status?: LostStatus;
  reason?: Held['reason'];
};

export const SWEEP_ORDERS = 'sweepOrders';
/** The id of the only sweep workflow. */
export const SWEEP_ID = 'order-screening-sweep';

/** Attempts after which a failing workflow task counts as stuck. */
export const STUCK_AFTER_TRIES = 5;

/** Time after `cancelBy` at which an open order counts as overdue. */
export const OVERDUE_AFTER_MS = 5 * 60_000;

/** Longer than a queue that keeps up lets a due activity wait, such as the polls, which share a rate. */
export const LATE_AFTER_MS = 15 * 60_000;

/** Assumed cancel window of an order that ended before its first answer and so has none. */
export const LOST_WITHIN_MS = 5 * 24 * 3_600_000;

export function sweepWords({ kind, status, reason }: SweepFinding): string {
  switch (kind) {
    case 'stuck':
      return 'The order’s workflow task fails again and again: run order-screening repair, or look at the error in the Temporal UI.';
    case 'overdue':
      return 'The order’s cancel window is over and the order has not closed: look at it in the Temporal UI.';
    case 'lost':
      return `The order’s workflow ended too early (${status}), and its cancel window is open: reset it or adopt its transaction.`;
    case 'held':
      // Orders of `HELD_TOGETHER` are only counted.
      return reason === 'pinned'
        ? 'An operator pinned the order to a version: unpin it in the Temporal UI.'
        : 'An operator paused an activity of the order: unpause it in the Temporal UI.';
  }
}
