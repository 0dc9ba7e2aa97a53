/** What an order asks of activities and timers, and what it gets. */
import type {
  BackgroundActivities,
  CheckoutActivities,
  Moment,
  PollActivities,
  PortalRequest,
  ReadActivities,
} from './activity-contract.ts';
import type { OrderEvent } from './messages.ts';
import type { Instant } from './words.ts';

/** The activity of each kind of call that has a request. */
interface Requested {
  'retry-screening': CheckoutActivities['screenRetry'];
  'catch-up': BackgroundActivities['catchUp'];
  read: ReadActivities['readStatus'];
  poll: PollActivities['pollStatus'];
  'last-read': PollActivities['readStatusLast'];
  'look-up': BackgroundActivities['lookUp'];
  gateway: BackgroundActivities['sendGatewayResponse'];
  portal: BackgroundActivities['performPortalAction'];
  'forget-card': BackgroundActivities['forgetCard'];
}
type Kind = keyof Requested;

export type Call =
  | { [K in Kind]: { kind: K; request: Parameters<Requested[K]>[0] } }[Exclude<Kind, 'portal'>]
  | { kind: 'portal'; request: PortalRequest & { action: number } }
  | { kind: 'deliver'; events: OrderEvent[] }
  /** Fires at `at`, and no sooner than `leastMs` after its start. */
  | { kind: 'timer'; at: Instant; summary: string; leastMs?: number };

export type CallResult =
  | { [K in Kind]: { kind: K } & Awaited<ReturnType<Requested[K]>> }[Kind]
  | ({ kind: 'deliver' } & Moment)
  | { kind: 'timer'; at: Instant };
