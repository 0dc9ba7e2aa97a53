/** Everything that decides an order's life, and what goes in and out of it. All of it is plain data, so that it can continue as new. */

import type {
  Fingerprinted,
  FirstScreening,
  GatewayOutcome,
  InForce,
  LookUpOutcome,
  Moment,
  PortalOutcome,
  ScreeningOutcome,
  StatusOutcome,
  Timed,
} from './activity-contract.ts';
import type { OrderErrorCode, OrderErrorDetails } from './errors.ts';
import type {
  AdoptRequest,
  Attributed,
  DecisionRequest,
  GatewayResultAnswer,
  GatewayResultRequest,
  OverrideAnswer,
  OverrideRequest,
  PortalAnswer,
  PortalFields,
  RetryRequest,
  ReviewHint,
  ScreenOrderInput,
  TransactionJson,
  WithdrawRequest,
} from './messages.ts';
import type { CheckoutAnswer, KeptEvent, OrderState } from './state.ts';
import type { By, DeadlineKind, GatewayResult, Instant, ReadingSource } from './words.ts';

/** What a run of the workflow knows and hands on to the next; its `state` is what readers see. */
export interface Order {
  /** The number of the rules that the order lives by; 0 until the first answer. */
  rules: number;
  /** The part that is for readers: what the `order` query shows and the workflow returns. */
  state: OrderState;
  /** The latest moment that an input brought. */
  now: Instant;
  /** What the caller of the workflow asked for, besides the transaction. */
  asked: Pick<ScreenOrderInput, 'workflow' | 'answerBy'>;
  /** An operator had the order begin anew: what this run knows nothing of may have been done by the one before it. */
  wasReset: boolean;
  /** The newest attempt's transaction, by its number: needed to screen again. */
  transactions: Record<number, TransactionJson>;
  /** Events that wait to be delivered, oldest first; what the screening service said is added when they are sent. */
  outbox: KeptEvent[];
  /** What the portal actions that are under way send, by their number. */
  fields: Record<number, PortalFields>;
  /** What the next look at the status is for. `signal`: one came, and is to leave its trace. */
  look: {
    signal?: boolean;
    recheck?: boolean;
    cancellation?: boolean;
    /** A signal was refused, and why. */
    refused?: string;
    because?: ReadingSource;
  };
  /** On whose behalf a read goes on until the service answers. */
  readAgain?: ReadingSource;
  /** When a decision was read last. */
  readAt?: Instant;
  /** Who waits for an answer. */
  tickets: Ticket[];
  /** What was asked and can't be judged yet. */
  held: Asked[];
  /** What was begun and hasn't ended, in the order in which it was begun. */
  effects: Running[];
  /** How many effects were begun. */
  begun: number;
  /** The last input was the end of a local activity. */
  afterLocal?: true;
  /** Keys of effects that failed for good: each is begun again after a pause. */
  paused: string[];
  /** The first screening's own code failed. */
  brokeDown?: boolean;
  /** The order can't be screened at all. */
  refused?: Refusal;
  /** `order.closed` was announced. */
  closedTold?: boolean;
}

/** A message that isn't taken: code for programs, words for people, details such as faults with their paths. */
export interface Refusal extends OrderErrorDetails {
  code: OrderErrorCode;
  message: string;
}

/** Somebody waits for the answer to an attempt, or for the end of a portal action. */
export type Ticket = { number: number } & (
  | { attempt: number }
  /** `withdraws`: asked to take the action back. `until`: told `requested` then. */
  | { action: number; withdraws?: true; until: Instant }
);

/** What an effect is for. Its key names every argument that can change. */
export type Effect = { key: string } & (
  | { kind: 'first-screening' | 'policy' | 'look' }
  | { kind: 'retry-screening' | 'poll' | 'look-up' | 'forget-card'; attempt: number }
  | { kind: 'catch-up'; attempt: number; rescreen: boolean }
  | { kind: 'read'; attempt: number; source: ReadingSource }
  | { kind: 'gateway'; attempt: number; result: GatewayResult; transactionId: string }
  | { kind: 'portal'; action: number }
  | { kind: 'deliver'; upTo: number }
  /** Rings at a moment. */
  | { kind: 'timer'; deadline: DeadlineKind; at: Instant }
  /** Rings after the pause of an effect that failed for good. */
  | { kind: 'pause'; paused: string }
);
export type EffectKind = Effect['kind'];

/** An effect that was begun. */
export interface Running {
  /** Counts the order's effects from 1. */
  number: number;
  effect: Effect;
  /** The order's moment when it was begun. */
  since: Instant;
  /** For a read: the transaction that is read. */
  transactionId?: string;
  /** It may write, isn't wanted any more, and its end is waited for. */
  stopping?: true;
}

/** What is asked of an order by update; each is answered. */
export type Ask =
  | { kind: 'decision'; request: DecisionRequest }
  | { kind: 'adopt'; request: Attributed<AdoptRequest> }
  | { kind: 'retry'; request: RetryRequest }
  | { kind: 'gateway-result'; request: GatewayResultRequest }
  | { kind: 'portal'; fields: PortalFields; by?: By }
  | { kind: 'withdraw'; request: Attributed<WithdrawRequest> }
  | { kind: 'override'; request: Attributed<OverrideRequest> }
  | { kind: 'acknowledge'; request: Attributed<{ reason: string }> };

export interface Asked {
  ticket: number;
  at: Instant;
  ask: Ask;
}

/** How an effect ended. */
export type End =
  | { how: 'done'; result: EffectResult }
  /** For good: by a fault of ours or a limit of the server's. `refused`: it said why, which is the order's end while it isn't screened yet. `byHand`: a person ended it in Temporal. */
  | { how: 'failed'; refused?: Refusal; byHand?: true }
  /** It was stopped before it had an end of its own. */
  | { how: 'cut-off' };

/** What the effects of each kind bring. A timer brings nothing. */
export type EffectResult =
  | ({ kind: 'first-screening' } & FirstScreening & Moment)
  | ({ kind: 'policy' } & InForce & Moment)
  | ({ kind: 'retry-screening' | 'catch-up' } & Timed<ScreeningOutcome & Fingerprinted>)
  | ({ kind: 'look' } & Timed<StatusOutcome | undefined>)
  | ({ kind: 'read' | 'poll' } & Timed<StatusOutcome>)
  | ({ kind: 'look-up' } & Timed<LookUpOutcome>)
  | ({ kind: 'gateway' } & Timed<GatewayOutcome>)
  | ({ kind: 'portal' } & Timed<PortalOutcome>)
  | ({ kind: 'deliver' | 'forget-card' } & Moment)
  | { kind: 'timer' | 'pause' };

/** What happens to an order. Each has its own time, but for signals and cancellation requests, which set flags. */
export type Input =
  | { kind: 'end'; number: number; end: End }
  | ({ kind: 'ask' } & Asked)
  | { kind: 'signal'; signal: 'review-hint'; hint: ReviewHint }
  /** `unread`: why what came with it could not be read. */
  | { kind: 'signal'; signal: 'recheck' | 'cancellation'; unread?: string };

/** The answer to what was asked under this ticket. */
export type Reply = { ticket: number } & (
  | { refusal: Refusal }
  | { checkout: CheckoutAnswer }
  | { gateway: GatewayResultAnswer }
  | { portal: PortalAnswer }
  | { override: OverrideAnswer }
  | { cleared: number }
);

// Which version of the rules an order lives by. It is part of the order's first answer, so it costs no
// event, and `step` and `wanted` branch on it. A release reads a number one release before it writes it:
// then going back one release is always possible.

/** The numbers that this release can live by. */
export const RULES_READ: readonly number[] = [1];

/** The number that a new order gets. */
export const RULES_WRITTEN = 1;

/** What a run of an order's workflow begins with; `resume` is set when the order continues as new, never by a caller. */
export type OrderRun = ScreenOrderInput & { resume?: Order };
