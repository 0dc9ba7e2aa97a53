/** What an order asks of activities and timers, and what it gets. */
import type {
  BackgroundActivities,
  CatchUpRequest,
  CheckoutActivities,
  ForgetCardRequest,
  GatewayResponseRequest,
  LastReadRequest,
  LookUpRequest,
  Moment,
  PollActivities,
  PollRequest,
  PortalRequest,
  ReadActivities,
  ReadRequest,
  RetryCheckoutRequest,
} from './activity-contract.ts';
import type { OrderEvent } from './messages.ts';
import type { Instant } from './words.ts';

/** The calls of an order. */
export type Call =
  | { kind: 'retry-screening'; request: RetryCheckoutRequest }
  | { kind: 'catch-up'; request: CatchUpRequest }
  | { kind: 'read'; request: ReadRequest }
  | { kind: 'poll'; request: PollRequest }
  | { kind: 'last-read'; request: LastReadRequest }
  | { kind: 'look-up'; request: LookUpRequest }
  | { kind: 'gateway'; request: GatewayResponseRequest }
  | { kind: 'portal'; request: PortalRequest & { action: number } }
  | { kind: 'deliver'; events: OrderEvent[] }
  | { kind: 'forget-card'; request: ForgetCardRequest }
  /** Fires at `at`, and no sooner than `leastMs` after its start. */
  | { kind: 'timer'; at: Instant; summary: string; leastMs?: number };

type ResultOf<Called extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<Called>>;

/** The result of each kind of call. */
export type CallResult =
  | ({ kind: 'retry-screening' } & ResultOf<CheckoutActivities['screenRetry']>)
  | ({ kind: 'catch-up' } & ResultOf<BackgroundActivities['catchUp']>)
  | ({ kind: 'read' } & ResultOf<ReadActivities['readStatus']>)
  | ({ kind: 'poll' | 'last-read' } & ResultOf<PollActivities['pollStatus']>)
  | ({ kind: 'look-up' } & ResultOf<BackgroundActivities['lookUp']>)
  | ({ kind: 'gateway' } & ResultOf<BackgroundActivities['sendGatewayResponse']>)
  | ({ kind: 'portal' } & ResultOf<BackgroundActivities['performPortalAction']>)
  | ({ kind: 'deliver' | 'forget-card' } & Moment)
  | { kind: 'timer'; at: Instant };
