/** Dependencies of the activities, supplied by the worker, and the activities of each task queue. */
import { activityInfo, asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CardStash } from '../card-stash/index.ts';
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
import type { SweepActivities } from '../contract/sweep.ts';
import { type Instant, instant, millis } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import { counterOf } from '../order/view/metrics.ts';
import {
  createScreeningClient,
  type Machine,
  type ScreeningClient,
  type ScreeningError,
} from '../screening-service/index.ts';
import type { Beginning, Clock, ServerClock } from './server-clock.ts';
import type { OrderDirectory } from './sweep/order-directory.ts';
import { noteRun, retryLater } from './tries.ts';

export interface ActivityWorld {
  machine: Machine;
  findIntegration: FindIntegration;
  cards: CardStash;
  /** Absent if no events receiver is configured. */
  events?: EventSenders;
  /** The other orders of the namespace, and earlier runs. Absent where no activity asks about them, as in tests. */
  orders?: OrderDirectory;
  /** Aborted when the worker shuts down, so that long-running activities end. */
  stopping?: AbortSignal;
  /** Absent if the process has no callers that wait for an order. */
  beforeRecord?: BeforeRecord;
  /** Integrations already reported because the account's mode doesn't match theirs. Each worker reports one once. */
  otherModes: Set<string>;
}

type Own = 'machine' | 'otherModes';
/** The dependencies that a worker supplies. `machine` defaults to that of the process. */
export type WorldParts = Omit<ActivityWorld, Own> & Partial<Pick<ActivityWorld, Own>>;

/**
 * @returns the configured integration
 * @throws a failure that the server retries, so that the order continues once an operator has restored the settings
 */
export function integrationOf(world: ActivityWorld, name: string): Integration {
  const integration = world.findIntegration(name);
  if (integration !== undefined) return integration;
  throw ApplicationFailure.retryable(`no integration «${name}» is configured`, 'unknown-integration');
}

/**
 * @returns a client for the integration, with its current address and key
 * @throws a failure that the server retries if no key is configured
 */
export function clientOf({ machine }: ActivityWorld, integration: Integration): ScreeningClient {
  const { name } = integration;
  const apiKey = integration.apiKey();
  if (!apiKey) throw ApplicationFailure.retryable(`integration «${name}» has no API key`, 'no-api-key');
  const onFailure = (error: ScreeningError, host: string): void => logFailure(name, error, host);
  return createScreeningClient({ ...integration, apiKey, machine, onFailure });
}

/** @throws a failure that is retried, after `pauseMs` if given, until an operator has configured the integration and its key */
export function clientFor(world: ActivityWorld, integration: string, pauseMs?: number): ScreeningClient {
  try {
    return clientOf(world, integrationOf(world, integration));
  } catch (error) {
    throw retryLater(error, pauseMs);
  }
}

/** Logs a failed call, and counts one with a wrong API key. Refusals aren't logged: they are on the order's record. */
function logFailure(integration: string, error: ScreeningError, address: string): void {
  const { operation: call, outcome, reason, status } = error;
  const fields = { integration, call, reason, address, ...defined({ status }) };
  // Outside of an activity there is no logger.
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return;
  const { log, metricMeter } = context;
  if (reason === 'forbidden') {
    counterOf(metricMeter, 'order_screening_wrong_key_total').add(1, { integration, operation: call });
    log.error('the screening service does not accept our API key', fields);
  } else if (outcome === 'refused') return;
  else if (status === undefined) log.warn('the screening service does not answer', fields);
  else log.warn('the screening service answers with an error', fields);
}

/** @returns the errors in one line, without any submitted value. It goes into workflow history: the checks list at most 100 errors */
export function fieldErrorWords(fieldErrors: readonly FieldError[]): string {
  return fieldErrors.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
}

export function invalidRequest(fieldErrors: readonly FieldError[], words: string): Refusal {
  const message = `${words}: ${fieldErrorWords(fieldErrors)}.`;
  return { code: 'invalid-request', message, errors: [...fieldErrors] };
}

/** Gives a caller in the same process the result of a checkout's screening before Temporal records it. */
interface BeforeRecord {
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

// Timestamps of activity results, in server time, so that a wrong worker clock does no harm.

type Activity<Request, Result> = (request: Request, clock: Clock) => Promise<Result>;

type Called<Request, Result> = (request: Request, run?: RunFacts) => Promise<Result>;

/** Determines when an attempt began, in server time. */
type Began<Request> = (clock: ServerClock, request: Request) => Beginning | Promise<Beginning>;

/** Accepts the time at which the server scheduled the attempt, although the attempt may have waited for a worker since. */
const asScheduled = (clock: ServerClock): Promise<Beginning> => clock.began(false);

/** Exact even if no worker ran for hours, or the worker's clock is wrong. */
export const exactly = (clock: ServerClock): Promise<Beginning> => clock.began(true);

/** For a local activity, which the server doesn't schedule: the request says when its workflow task was started. */
export const asRequested = (clock: ServerClock, { begun }: { begun: Instant }): Beginning =>
  clock.beganIn(begun);

/** Wraps an activity so that its result also has the server times at which it began and ended. */
export function withMoment<Request, Result extends object>(
  clock: ServerClock,
  activity: Activity<Request, Result>,
  begin: Began<Request> = asScheduled,
): Called<Request, Result & Moment> {
  return async (request, run) => {
    noteRun(run);
    const beginning = await begin(clock, request);
    const { began, elapsed } = beginning;
    // The wall clock may be adjusted in between, so elapsed time is measured by the monotonic clock.
    const time = () => instant(millis(began) + Math.floor(clock.machine.elapsed() - elapsed));
    const result = await activity(request, { ...beginning, time });
    return { ...result, began, at: time() };
  };
}

/** Like `withMoment`, for an activity that returns only an outcome. */
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

/** Delivers one event, signed with that time. @throws if the receiver doesn't answer 2xx; the error contains no address and no content */
export type EventSender = (event: OrderEvent, timeoutMs: number, now: Instant) => Promise<void>;

/** Senders by integration (`own`), and one for all other integrations (`common`). */
export interface EventSenders {
  own: ReadonlyMap<string, EventSender>;
  common?: EventSender;
}

/**
 * @param integration empty: an event about a workflow that is no order
 * @returns the sender of the integration's events by the current settings; undefined if no receiver is configured. An integration that
 *   isn't configured may have a receiver of its own, so it has none here
 */
export function senderOf(
  { events, findIntegration }: ActivityWorld,
  integration: string,
): EventSender | undefined {
  if (integration !== '' && findIntegration(integration) === undefined) return undefined;
  return events?.own.get(integration) ?? events?.common;
}

export interface ActivitiesByQueue {
  checkout: CheckoutActivities;
  background: BackgroundActivities & SweepActivities;
  reads: ReadActivities;
  polls: PollActivities;
}
