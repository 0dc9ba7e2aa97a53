/** What an order asks of activities and timers, and what it gets. */
import type {
  BackgroundActivities,
  CheckoutActivities,
  PollActivities,
  PortalRequest,
  ReadActivities,
} from './activity-contract.ts';
import type { Instant } from './words.ts';

export type OrderActivities = CheckoutActivities & BackgroundActivities & ReadActivities & PollActivities;

export const ACTIVITY_OF = {
  'retry-screening': 'screenRetry',
  'catch-up': 'catchUp',
  read: 'readStatus',
  poll: 'pollStatus',
  'last-read': 'readStatusLast',
  'look-up': 'lookUp',
  gateway: 'sendGatewayResponse',
  portal: 'performPortalAction',
  deliver: 'deliverEvents',
  'forget-card': 'forgetCard',
} as const satisfies Record<string, keyof OrderActivities>;

type Requested = { [Kind in keyof typeof ACTIVITY_OF]: OrderActivities[(typeof ACTIVITY_OF)[Kind]] };
type Kind = keyof Requested;

export type Call =
  | { [K in Kind]: { kind: K; request: Parameters<Requested[K]>[0] } }[Exclude<Kind, 'portal'>]
  | { kind: 'portal'; request: PortalRequest & { action: number } }
  /** Fires at `at`, and no sooner than `leastMs` after its start. */
  | { kind: 'timer'; at: Instant; summary: string; leastMs?: number };

export type CallResult =
  | { [K in Kind]: { kind: K } & Awaited<ReturnType<Requested[K]>> }[Kind]
  | { kind: 'timer'; at: Instant };
