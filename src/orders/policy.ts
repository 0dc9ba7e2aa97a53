/**
 * The policy in force for one order, as recorded in its workflow: durations in milliseconds, rules already
 * resolved for this order. Made from the policy file by the screening activity. Source: design section 4.
 */
import type { Action, IntegrationWorkflow } from './words.ts';

export interface Policy {
  workflow: IntegrationWorkflow;
  /** The action of a checkout that gets no decision, resolved for this order. */
  whenUnavailable: UnavailableAction;
  declineMessage: string;
  screeningDeadlineMs: number;
  rescreenOnError: { tries: number; pauseMs: number };
  retryWithinMs: number;
  gatewayResultWithinMs: number;
  reviewBeforeGateway: 'proceed' | 'hold';
  poll: PollPauses;
  reviewLeadTimeMs: number;
  onUnresolvedReview: 'alert' | 'cancel';
  reviewLimitMs: number;
  /** 0 turns the recheck off. */
  recheckLeadTimeMs: number;
  autoCancel: boolean;
  cancelWindowMs: number;
  /** Screen and record, never act. */
  passive: boolean;
  invoicePerAttempt: boolean;
  /** Whether an events receiver is configured: without one no event costs history. */
  events: boolean;
}

export type UnavailableAction = Extract<Action, 'hold' | 'proceed' | 'decline'>;

/** Pauses between polls: the first, then each `factor` times the one before, at most `maxMs`. */
export interface PollPauses {
  firstMs: number;
  factor: number;
  maxMs: number;
}
