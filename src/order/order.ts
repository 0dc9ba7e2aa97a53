/** The state of an order and its inputs: results of effects, requests and signals. Plain data, so that it can continue as new. */
import type {
  CheckoutAnswer,
  GatewayResultAnswer,
  HandlingAnswer,
  OverrideAnswer,
  PortalAnswer,
} from '../contract/answers.ts';
import type { Call, CallResult } from '../contract/calls.ts';
import type { Refusal } from '../contract/errors.ts';
import type {
  AcknowledgeRequest,
  AdoptRequest,
  Attributed,
  DecisionRequest,
  GatewayResultRequest,
  HandlingRequests,
  IdempotencyKey,
  OverrideRequest,
  PortalFields,
  RetryRequest,
  ScreenOrderInput,
  WithdrawRequest,
} from '../contract/messages.ts';
import type { AttentionCause, KeptEvent, OrderState } from '../contract/order/state.ts';
import type { Action, Instant, JournalEntry, OrderEventType, ReadingSource } from '../contract/words.ts';

export type { Refusal } from '../contract/errors.ts';

export interface Order {
  /** The version of the workflow code that the order runs. The starter sets it. */
  version: number;
  /** The public part. */
  state: OrderState;
  /** The latest time of an input. */
  now: Instant;
  /** What the callers requested. `transaction` and `answerBy` are of the newest attempt. */
  asked: Pick<ScreenOrderInput, 'transaction' | 'workflow' | 'answerBy'>;
  /** The policy is the fallback: the checkout failed before it could read the policy. */
  policyMissing?: true;
  outbox: KeptEvent[];
  /** The arguments of pending portal actions, by action number. */
  fields: Record<number, PortalFields>;
  /** Those pending once the order is canceled or has ended are made by the workflow `readAfterEnd`. */
  reads: PendingRead[];
  readsRequested: number;
  /** When the next read may begin, and the spacing between reads. */
  spacing: { ms: number; until?: Instant };
  /** When the newest decision was read. Older readings are ignored. */
  readAt?: Instant;
  signals: number;
  /** Retries that arrived before the previous attempt was answered, and gateway results of their attempts. They are applied after it. */
  earlyRetries: RequestInput[];
  used?: Record<string, Used>;
  /** Callers that wait for a portal action, and until when. */
  replies: { action: number; until: Instant }[];
  /** Keys of effects that failed permanently, and when each restarts. */
  retryAt: Record<string, Instant>;
  /** The screening service asked the last checkout not to call it before this time. */
  notBefore?: Instant;
  /** Running effects, in the order in which they started. */
  running: Running[];
  /** The number of effects started so far. */
  started: number;
  /** The history is long: the run continues as new as soon as possible. */
  continues?: true;
  /** Only event deliveries are left. */
  over?: true;
}

/** A read of the status that a signal or a deadline requested. */
export interface PendingRead {
  /** Counts the order's reads from 1. */
  number: number;
  source: Extract<ReadingSource, 'webhook' | 'operator' | 'recheck'>;
}

/** An activity or a timer that an order requires now. */
export interface Effect {
  /** Contains every argument that can change. */
  key: string;
  /** The name of the concern that requires it. */
  concern: string;
  /** Effects with the same resource never run at the same time. */
  resource?: string;
  /** Reads and timers are dropped. Writes are canceled, and their outcome is awaited. */
  whenObsolete: 'drop' | 'cancel-and-await';
  /** The cause of attention if the call is refused. */
  cause?: AttentionCause;
  /** Its wrong API key was already reported: the activity keeps retrying. */
  forbiddenKnown: boolean;
  call: Call;
}

export type RequiredEffect = Omit<Effect, 'concern' | 'forbiddenKnown'>;

export function isWrite({ whenObsolete }: Effect): boolean {
  return whenObsolete === 'cancel-and-await';
}

/** Returns whether a write other than a delivery runs: it keeps the order open, and can take a day. */
export function isWriting({ running }: Pick<Order, 'running'>): boolean {
  return running.some(({ effect }) => effect.call.kind !== 'deliver' && isWrite(effect));
}

export interface Running {
  /** Counts the order's effects from 1. */
  id: number;
  effect: Effect;
  since: Instant;
  canceled?: true;
}

export type Outcome =
  | { status: 'completed'; result: CallResult }
  /** Failed permanently: a bug, or a limit of the Temporal server. `byHand`: an operator ended the activity in Temporal. */
  | { status: 'failed'; byHand?: true }
  /** Canceled before it had an outcome. */
  | { status: 'canceled' };

/** The requests that callers send by update, by kind; each gets a reply. */
export type Requests = {
  decision: DecisionRequest;
  adopt: Attributed<AdoptRequest>;
  retry: RetryRequest;
  'gateway-result': GatewayResultRequest;
  portal: Attributed<{ fields: PortalFields }>;
  withdraw: Attributed<WithdrawRequest>;
  override: Attributed<OverrideRequest>;
  acknowledge: Attributed<AcknowledgeRequest>;
} & { [Kind in keyof HandlingRequests]: Attributed<HandlingRequests[Kind]> };
export type Request<Among extends keyof Requests = keyof Requests> = {
  [Kind in Among]: { kind: Kind; request: Requests[Kind] };
}[Among];

/** The result of accepting a request, on which its reply depends. */
export type Taken =
  | { refusal: Refusal }
  /** The reply is the attempt's answer. */
  | { attempt: number }
  /** The reply is the portal action's result, or `requested` after `until`. `withdraws`: the caller withdraws the action. */
  | { action: number; until: Instant; withdraws?: true }
  | { overridden: Pick<OverrideAnswer, 'number' | 'notCanceled'> }
  | Reply;

export interface Accepted {
  taken: Taken;
  events?: OrderEventType[];
  entry?: Omit<JournalEntry, 'at' | 'by' | 'because'> & { because?: string | undefined };
}

export type Reply =
  | { refusal: Refusal }
  | { checkout: CheckoutAnswer }
  | { gateway: GatewayResultAnswer }
  | { portal: PortalAnswer }
  | { override: OverrideAnswer }
  | { handling: HandlingAnswer }
  | { cleared: number };

/** How the order treats one kind of request. */
export interface Handler<Kind extends keyof Requests> {
  /** The request is judged by the policy, so it waits for one that the checkout could not read. */
  needsPolicy?: true;
  /** Returns why the order refuses the request in its current state, or undefined: it accepts it. */
  refusal?(order: Order, request: Requests[Kind], at: Instant): Refusal | undefined;
  apply(order: Order, request: Requests[Kind], at: Instant): Accepted;
}
export type Handlers<Among extends keyof Requests = keyof Requests> = { [Kind in Among]: Handler<Kind> };

/** A signal. `unread`: why its payload could not be read; `sentAt`: when an operator sent a recheck. */
export type Signal = { kind: 'review-hint' | 'recheck' | 'cancellation'; unread?: string; sentAt?: Instant };

/** An input of an order. A signal has no time of its own. */
export type Input =
  | { kind: 'effect-ended'; id: number; outcome: Outcome }
  /** `repeated`: the order has accepted the same message before. */
  | { kind: 'request'; request: Request; at: Instant; sent?: Sent; taken?: Taken; repeated?: true }
  | { kind: 'signal'; signal: Signal };

export interface Sent {
  updateId: string;
  key?: IdempotencyKey;
  ifAction?: Action;
}

/** An accepted request: the fingerprint with its idempotency key, and its result. */
export interface Used {
  fingerprint?: string;
  taken: Taken;
}

export type RequestInput = Extract<Input, { kind: 'request' }>;

/** A command of the kernel to the workflow. */
export type Command =
  | { do: 'start'; running: Running }
  /** The outcome is awaited. */
  | { do: 'cancel'; id: number }
  /** The outcome is ignored. */
  | { do: 'drop'; id: number }
  /** Records the number of signals at the end of the task, so that it has a command. `nothingElse`: the signal changed nothing else. */
  | { do: 'count-signals'; nothingElse?: true };

/** The input of a run of an order's workflow. Only continue-as-new sets `resume`, never a caller. */
export type OrderRun = ScreenOrderInput & { resume?: Order; wasReset?: boolean };

export interface Concern {
  name: string;
  /** Whether the order stays open while this concern requires an effect or one of its writes runs. */
  keepsOpen: boolean;
  desired(order: Order): RequiredEffect[];
  started?(order: Order, effect: Effect): void;
  /** Applies an effect's outcome. Returns the events to send, or that the effect restarts after a pause. */
  ended?(order: Order, running: Running, outcome: Outcome): OrderEventType[] | 'retry-later';
  /** Handles a signal. Returns the events to send; undefined if nothing changed. */
  signaled?(order: Order, signal: Signal): OrderEventType[] | undefined;
  /** Applies consequences of the state that need no input. Returns the events to send. */
  followUp?(order: Order): OrderEventType[];
  /** Applies deadlines up to that moment, each at its own time. Returns whether there were any. */
  passTime?(order: Order, until: Instant): boolean;
}
