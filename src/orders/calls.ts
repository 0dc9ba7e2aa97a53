/** What an order asks of the world: each effect as the call that the workflow makes, with its request. */
import type { OrderEvent } from './messages.ts';
import type { Instant } from './words.ts';
import type {
  CatchUpRequest,
  CheckoutRequest,
  DurableReadRequest,
  GatewayResponseRequest,
  LookRequest,
  LookUpRequest,
  PollRequest,
  PortalRequest,
  RetryCheckoutRequest,
  ScreenRequest,
} from './world.ts';

/** A call without what only the run of the workflow knows: which run it is, its time, whether it is a replay. */
export type Call =
  | { kind: 'first-screening'; request: Omit<CheckoutRequest, 'lookFirst' | 'begun'> }
  | { kind: 'policy'; request: ScreenRequest }
  | { kind: 'retry-screening'; request: Omit<RetryCheckoutRequest, 'runId'> }
  | { kind: 'catch-up'; request: Omit<CatchUpRequest, 'runId'> }
  | { kind: 'look'; request: Omit<LookRequest, 'begun'> }
  | { kind: 'read'; request: DurableReadRequest }
  | { kind: 'poll'; request: PollRequest }
  | { kind: 'look-up'; request: LookUpRequest }
  | { kind: 'gateway'; request: GatewayResponseRequest }
  | { kind: 'portal'; request: Omit<PortalRequest, 'runId'> }
  | { kind: 'deliver'; events: OrderEvent[] }
  | { kind: 'forget-card'; request: { cardRef: string; attempt: number } }
  | { kind: 'timer'; at: Instant; summary: string }
  | { kind: 'pause'; ms: number; summary: string };

/** What the workflow does: begin a call, or stop one that was begun. What may write is waited for: its end still is an input. */
export type Command =
  | { do: 'begin'; number: number; call: Call }
  | { do: 'stop'; number: number; waits: boolean };
