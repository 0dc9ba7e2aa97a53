/** The state of an order, and what changes it: results of effects, requests and signals. Plain data that continues as new. */
import type { Call, CallResult } from '../contract/activity-contract.ts';
import type {
  CheckoutAnswer,
  GatewayResultAnswer,
  OverrideAnswer,
  PortalAnswer,
} from '../contract/answers.ts';
import type { Refusal } from '../contract/errors.ts';
import type {
  AdoptRequest,
  Attributed,
  DecisionRequest,
  GatewayResultRequest,
  OverrideRequest,
  PortalFields,
  RetryRequest,
  ScreenOrderInput,
  TransactionJson,
  WithdrawRequest,
} from '../contract/messages.ts';
import type { KeptEvent, OrderState } from '../contract/state.ts';
import type { By, Instant, JournalEntry, OrderEventType, ReadingSource } from '../contract/words.ts';

export type { Refusal } from '../contract/errors.ts';

export interface Order {
  /** Which version of the workflow code the order runs; the starter chooses it. */
  version: number;
  /** The part that readers see. */
  state: OrderState;
  /** The newest moment that an input told. */
  now: Instant;
  /** What the caller of the workflow asked for, besides the transaction. */
  asked: Pick<ScreenOrderInput, 'workflow' | 'answerBy'>;
  /** The policy is the fallback, since the checkout failed before it could read the policy. */
  policyMissing?: true;
  /** The newest attempt's transaction, by its number: needed to screen again. */
  transactions: Record<number, TransactionJson>;
  /** Events to deliver, oldest first. */
  outbox: KeptEvent[];
  /** What the portal actions that are under way send, by their number. */
  fields: Record<number, PortalFields>;
  /** Reads of the status that are pending, oldest first. */
  reads: PendingRead[];
  /** How many reads were requested. */
  readsRequested: number;
  /** When the next read may begin, and how far apart reads are. */
  spacing: { ms: number; until?: Instant };
  /** When the newest decision was read: an older reading changes nothing. */
  readAt?: Instant;
  /** A read was requested that did not end before the order did: the workflow `readAfterEnd` makes it. */
  readsAfterEnd?: true;
  /** How many signals the order received. */
  signals: number;
  /** Retries that came before the attempt before them was answered: they are taken in after it. */
  earlyRetries: Extract<Input, { kind: 'request' }>[];
  /** Callers that wait for a portal action, and until when. */
  replies: { action: number; until: Instant }[];
  /** Keys of effects that failed for good, and when each starts again. */
  retryAt: Record<string, Instant>;
  /** Effects that run, in the order in which they started. */
  running: Running[];
  /** The number of effects that were started. */
  started: number;
  /** The history is long: the run ends as soon as it may. */
  continues?: true;
  /** Nothing is left to do but to deliver events. */
  over?: true;
}

/** A read of the status that a signal or a deadline asked for. */
export interface PendingRead {
  /** Counts the order's reads from 1. */
  number: number;
  source: Extract<ReadingSource, 'webhook' | 'operator' | 'recheck'>;
}

/** What an order requires at the moment: an activity or a timer. */
export interface Effect {
  /** Names every argument that can change. */
  key: string;
  /** The concern that wants it. */
  concern: string;
  /** No two effects run on one resource; without it nothing is shared. */
  resource?: string;
  /** Reads and timers are dropped; a write is canceled, and its outcome is awaited. */
  whenObsolete: 'drop' | 'cancel-and-await';
  call: Call;
}

/** An effect that was started. */
export interface Running {
  /** Counts the order's effects from 1. */
  id: number;
  effect: Effect;
  /** The order's moment when it was started. */
  since: Instant;
  canceled?: true;
}

export type Outcome =
  | { status: 'completed'; result: CallResult }
  /** For good: by a bug of ours, or a limit of the server's. `byHand`: a person ended the activity in Temporal. */
  | { status: 'failed'; byHand?: true }
  /** It was canceled before it had an outcome of its own. */
  | { status: 'canceled' };

/** What callers ask by update; each gets a reply. */
export type Request =
  | { kind: 'decision'; request: DecisionRequest }
  | { kind: 'adopt'; request: Attributed<AdoptRequest> }
  | { kind: 'retry'; request: RetryRequest }
  | { kind: 'gateway-result'; request: GatewayResultRequest }
  | { kind: 'portal'; fields: PortalFields; by?: By }
  | { kind: 'withdraw'; request: Attributed<WithdrawRequest> }
  | { kind: 'override'; request: Attributed<OverrideRequest> }
  | { kind: 'acknowledge'; request: Attributed<{ reason: string }> };

/** What became of a request when the order took it in: what its reply is about. */
export type Taken =
  | { refusal: Refusal }
  /** The reply is the attempt's answer. */
  | { attempt: number }
  /** The reply is the portal action's end, or `requested` at that time. `withdraws`: the caller takes the action back. */
  | { action: number; until: Instant; withdraws?: true }
  | { overridden: Pick<OverrideAnswer, 'number' | 'notCanceled'> }
  | Reply;

/** How an order took a request in. */
export interface TakenIn {
  taken: Taken;
  events?: OrderEventType[];
  /** Events that tell a person's decision. */
  decided?: OrderEventType[];
  /** What somebody did, for the journal. */
  entry?: Omit<JournalEntry, 'at' | 'by' | 'because'> & { because?: string | undefined };
}

/** The reply to a request. */
export type Reply =
  | { refusal: Refusal }
  | { checkout: CheckoutAnswer }
  | { gateway: GatewayResultAnswer }
  | { portal: PortalAnswer }
  | { override: OverrideAnswer }
  | { cleared: number };

/** A signal. `unread`: why its payload could not be read. */
export type Signal = { kind: 'review-hint' | 'recheck' | 'cancellation'; unread?: string };

/** What happens to an order. A signal has no time of its own. */
export type Input =
  | { kind: 'effect-ended'; id: number; outcome: Outcome }
  | { kind: 'request'; request: Request; at: Instant; taken?: Taken }
  | { kind: 'signal'; signal: Signal };

/** What the workflow does for an order. */
export type Command =
  | { do: 'start'; running: Running }
  /** The outcome is awaited. */
  | { do: 'cancel'; id: number }
  /** The outcome is ignored. */
  | { do: 'drop'; id: number }
  /** Records how many signals came, so that the task of a signal leaves a command. */
  /** `nothingElse`: the signal changed nothing else. */
  | { do: 'count-signals'; signals: number; nothingElse?: true };

/** What a run of an order's workflow begins with; `resume` is set when the order continues as new, never by a caller. */
export type OrderRun = ScreenOrderInput & { resume?: Order; wasReset?: boolean };
