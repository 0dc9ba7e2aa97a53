/** What the activities stand on, put together by the worker, and what they are to a worker. */
import { activityInfo, asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CardStash } from '../cards/index.ts';
import type {
  BackgroundActivities,
  CheckedOut,
  CheckoutActivities,
  CheckoutRequest,
  Moment,
  PollActivities,
  ReadActivities,
  RunFacts,
  Timed,
} from '../contract/activity-contract.ts';
import type { FieldError, Refusal } from '../contract/errors.ts';
import type { OrderEvent } from '../contract/messages.ts';
import type { FindIntegration, Integration } from '../contract/policy.ts';
import type { LostStatus, SweepActivities } from '../contract/sweep.ts';
import { type Instant, instant, millis, type Phase } from '../contract/words.ts';
import {
  createScreeningClient,
  type Machine,
  MOST_ERRORS,
  type ScreeningClient,
  type ScreeningError,
} from '../screening/index.ts';
import { noteRun } from './earlier-run.ts';
import type { Beginning, ServerClock } from './server-clock.ts';

export interface ActivityWorld {
  machine: Machine;
  findIntegration: FindIntegration;
  cards: CardStash;
  /** Absent: nobody wants events. */
  events?: EventSenders;
  /** Absent where no sweep runs. */
  orders?: OrderDirectory;
  /** Aborted when the worker is told to stop: what goes on for long ends then. */
  stopping?: AbortSignal;
  /** Absent where no caller waits in the same process. */
  beforeRecord?: BeforeRecord;
}

/** What a worker hands in: the machine is the one of its process unless given. */
export type WorldParts = Omit<ActivityWorld, 'machine'> & Partial<Pick<ActivityWorld, 'machine'>>;

/**
 * @returns the integration; one that is gone from the settings is an operator's mistake
 * @throws a failure that the server retries, so that the order goes on when the settings are right again
 */
export function integrationOf(world: ActivityWorld, name: string): Integration {
  const integration = world.findIntegration(name);
  if (integration !== undefined) return integration;
  throw ApplicationFailure.retryable(`no integration «${name}» is configured`, 'unknown-integration');
}

/**
 * @returns a client for the integration, with its address and key as they are now
 * @throws a failure that the server retries when there is no key: an operator's mistake, too
 */
export function clientOf({ machine }: ActivityWorld, integration: Integration): ScreeningClient {
  const { name } = integration;
  const apiKey = integration.apiKey();
  if (!apiKey) throw ApplicationFailure.retryable(`integration «${name}» has no API key`, 'no-api-key');
  const onFailure = (error: ScreeningError, host: string): void => sayWhy(name, error, host);
  return createScreeningClient({ ...integration, apiKey, machine, onFailure });
}

/** What the service refuses in its own words is the order's matter, and on its record. */
function sayWhy(integration: string, error: ScreeningError, address: string): void {
  const { operation: call, outcome, reason, status } = error;
  const fields = { integration, call, reason, address, ...(status !== undefined && { status }) };
  // A client may be used outside of an activity, too, where nobody logs.
  const log = asyncLocalStorage.getStore()?.log;
  if (log === undefined) return;
  if (reason === 'forbidden') log.error('the screening service does not accept our API key', fields);
  else if (outcome === 'refused') return;
  else if (status === undefined) log.warn('the screening service does not answer', fields);
  else log.warn('the screening service answers with an error', fields);
}

/** @returns the errors in one line, without any value that was sent. It goes into history: the first say enough */
export function fieldErrorWords(fieldErrors: readonly FieldError[]): string {
  const shown = fieldErrors.slice(0, MOST_ERRORS).map(({ path, message }) => `${path} ${message}`.trim());
  const more = fieldErrors.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

export function invalidRequest(fieldErrors: readonly FieldError[], words: string): Refusal {
  const errors = fieldErrors.slice(0, MOST_ERRORS);
  return { code: 'invalid-request', message: `${words}: ${fieldErrorWords(fieldErrors)}.`, errors };
}

/** Lets a caller in the same process hear how a checkout's screening ended before that is recorded. */
export interface BeforeRecord {
  /** @param checkedOut absent when the screening failed */
  tell(
    execution: { workflowId: string; runId: string },
    request: CheckoutRequest,
    checkedOut: CheckedOut | undefined,
  ): void;
}

type Screen = CheckoutActivities['screenAtCheckout'];

export function tellingBeforeRecord(beforeRecord: BeforeRecord | undefined, screen: Screen): Screen {
  if (beforeRecord === undefined) return screen;
  return async (request, run) => {
    const { workflowExecution } = activityInfo();
    let first: CheckedOut | undefined;
    try {
      first = await screen(request, run);
      return first;
    } finally {
      if (workflowExecution !== undefined) beforeRecord.tell(workflowExecution, request, first);
    }
  };
}

// When an activity learned its result, by the server's clock: no worker's own clock matters.

/**
 * @param time returns the server's time now
 * @param beginning when the try began
 */
type Activity<Request, Result> = (
  request: Request,
  time: () => Instant,
  beginning: Beginning,
) => Promise<Result>;

type Called<Request, Result> = (request: Request, run?: RunFacts) => Promise<Result>;

/** How a try learns when it began, in server time. */
type Began<Request> = (clock: ServerClock, request: Request) => Beginning | Promise<Beginning>;

/** When the server scheduled the try, which may have waited for a worker since. */
const asScheduled = (clock: ServerClock): Promise<Beginning> => clock.began(false);

/** Also where a worker was not there for hours, or its clock is wrong. */
export const exactly = (clock: ServerClock): Promise<Beginning> => clock.began(true);

/** The server schedules no try of a local activity: its request says when its workflow task was started. */
export const asRequested = (clock: ServerClock, { begun }: { begun: Instant }): Beginning =>
  clock.beganIn(begun);

/** Returns the activity as the workflow calls it: its result also says when it was learned. */
export function withMoment<Request, Result extends object>(
  clock: ServerClock,
  activity: Activity<Request, Result>,
  begin: Began<Request> = asScheduled,
): Called<Request, Result & Moment> {
  return async (request, run) => {
    noteRun(run);
    const beginning = await begin(clock, request);
    const { began, elapsed } = beginning;
    // A wall clock may be set in between; the monotonic one only goes on.
    const time = () => instant(millis(began) + Math.floor(clock.machine.elapsed() - elapsed));
    const result = await activity(request, time, beginning);
    return { ...result, began, at: time() };
  };
}

/** As `withMoment`, for an activity that returns its outcome alone. */
export function timed<Request, Outcome>(
  clock: ServerClock,
  activity: Activity<Request, Outcome>,
  begin?: Began<Request>,
): Called<Request, Timed<Outcome>> {
  const outcomeOf: Activity<Request, { outcome: Outcome }> = async (...given) => ({
    outcome: await activity(...given),
  });
  return withMoment(clock, outcomeOf, begin);
}

/** Delivers one event. @throws when the receiver doesn't answer 2xx; the words hold no address and no content */
export type EventSender = (event: OrderEvent, timeoutMs: number) => Promise<void>;

/** Those of integrations that have a receiver of their own, and that of all others. */
export interface EventSenders {
  own: ReadonlyMap<string, EventSender>;
  common?: EventSender;
}

/** @returns who sends the integration's events, as the settings are now; undefined: nobody wants them */
export function senderOf({ events }: ActivityWorld, integration: string): EventSender | undefined {
  return events?.own.get(integration) ?? events?.common;
}

/** The open orders, from outside. */
export interface OrderDirectory {
  /** Open orders, a page at a time, from the newest on. */
  open(pageSize: number, cursor?: string): Promise<{ workflowIds: string[]; cursor?: string }>;
  /** Open orders that should have closed when their cancel window did. */
  overdue(limit: number): Promise<{ workflowId: string; since: Instant }[]>;
  /** Orders that ended too early inside their cancel window. */
  lost(limit: number): Promise<{ workflowId: string; since: Instant; status: LostStatus }[]>;
  countByPhase(): Promise<Map<Phase, number>>;
  /** How many open orders need a person. */
  countAttention(): Promise<number>;
  /** Has an event sent once, by a workflow that goes by the event's id; again only if that one failed. */
  announce(event: OrderEvent): Promise<void>;
  /** The orders that have the transaction, open or closed. */
  withTransaction(transactionId: string): Promise<string[]>;
  /**
   * The order's current workflow task: how often it was begun, and since when it is due. `heldSince`: an operator paused an activity of the
   * order then, or pinned the order.
   */
  pendingTask(
    workflowId: string,
  ): Promise<{ tries: number; since: Instant; heldSince?: Instant } | undefined>;
}

export interface ActivitiesByQueue {
  checkout: CheckoutActivities;
  background: BackgroundActivities & SweepActivities;
  reads: ReadActivities;
  polls: PollActivities;
}
