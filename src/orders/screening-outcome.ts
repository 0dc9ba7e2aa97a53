/** What the screening activity brings back from one try at a decision. Plain data: it is recorded in history. */
import type { Policy } from './policy.ts';
import type { Insights } from './state.ts';
import type { Decision } from './words.ts';

export type ScreeningOutcome =
  | {
      kind: 'answered';
      transactionId: string;
      decision: Decision;
      message?: string;
      insights?: Insights;
      /** Found by looking, not made by this try. */
      adopted: boolean;
    }
  /** Policy says that this order isn't screened; `rule` counts the skip rules from 0. */
  | { kind: 'skipped'; rule: number }
  /** A definite no: it won't be tried again. */
  | { kind: 'refused'; reason: string; words?: string }
  /** The service answered something that is neither a decision nor a refusal. */
  | { kind: 'unreadable'; reason: string; transactionId?: string }
  /** No answer. `maybeSent`: a create may have reached the service. */
  | { kind: 'unanswered'; reason: string; maybeSent: boolean }
  /** The service doesn't know our key: an operator's mistake. */
  | { kind: 'forbidden' };

/** What decides an order's life: its policy, and the number of the rules it lives by. */
export interface InForce {
  policy: Policy;
  /** Written by the worker that screened the order first; see `rules-number.ts`. */
  rules: number;
}

/** The first screening's result: the outcome with what it found in force. */
export interface FirstScreening extends InForce {
  outcome: ScreeningOutcome;
}
