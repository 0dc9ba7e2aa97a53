/** Attempts of an activity ("tries" in the code): how the server retries a failure, and what an attempt learns from earlier ones. */
import { activityInfo, Context, cancellationDetails } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { FIRST_TASK_EVENTS, type RunFacts } from '../contract/activity-contract.ts';
import { type Instant, laterBy } from '../contract/words.ts';
import { defined } from '../order/defined.ts';
import { fieldsOf } from '../order/messages/shapes.ts';
import { ScreeningError } from '../screening-service/index.ts';

/** Whether the workflow requested cancellation. A worker that shuts down also cancels its activities; those are retried elsewhere. */
export function askedToStop(): boolean {
  return cancellationDetails()?.cancelRequested === true;
}

/** Pause before retrying with a rejected API key. It is long because an operator has to fix the key. */
export const WRONG_KEY_PAUSE_MS = 60_000;

/** Rule «ten seconds' floor». Assumption «late create»: how long a create with an unknown outcome may still take to arrive. */
export const UNDER_WAY_MS = 10_000;

/**
 * Timeout of a create, in milliseconds. Ten seconds later the create has either arrived or never will, and no other attempt sends one
 * before then: the server times out an attempt no earlier than 15 s after its start, an attempt sends its create within 9 s of its start,
 * and the next attempt waits `UNDER_WAY_MS` before its lookup.
 */
export const CREATE_WITHIN_MS = 8_000;

/** Rule «five seconds to send»: an attempt sends its create within this time of its lookup or, without a lookup, of its start. */
export const SEND_WITHIN_MS = 5_000;
/** An attempt older than this sends no create: the server may have timed it out and started the next one. */
export const GIVEN_UP_AFTER_MS = 9_000;

/** The pauses that the retry policies of most activities have, too. */
const FIRST_GROWN_MS = 2_000;
const LONGEST_GROWN_MS = 300_000;

/** Limits of a pause, also of a Retry-After: 0 would flood the screening service, and weeks are a mistake. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;

export function isForbidden(error: unknown): boolean {
  return error instanceof ScreeningError && error.reason === 'forbidden';
}

/** @returns the screening service's message if it definitely refused the request, otherwise undefined */
export function refusalWords(error: unknown): string | undefined {
  if (!(error instanceof ScreeningError) || error.outcome !== 'refused') return undefined;
  return error.words?.join('; ') ?? error.reason;
}

/** @returns the least pause, from the Retry-After header, in milliseconds, within limits; undefined without the header */
export function askedPauseMs(
  { retryAfterMs }: { retryAfterMs?: number | undefined },
  longestMs = LONGEST_PAUSE_MS,
): number | undefined {
  return retryAfterMs === undefined
    ? undefined
    : Math.min(Math.max(retryAfterMs, SHORTEST_PAUSE_MS), longestMs);
}

/** @returns the exponential backoff after this attempt in milliseconds: `firstMs` after the first, then `factor` times as long each time */
export function grownPauseMs(firstMs = FIRST_GROWN_MS, longestMs = LONGEST_GROWN_MS, factor = 2): number {
  return Math.min(firstMs * factor ** (activityInfo().attempt - 1), longestMs);
}

/** Rule «back-off»: @returns the pause in milliseconds: the grown one, or the one of the Retry-After header if that is longer */
export function pauseAfter(error: { retryAfterMs?: number | undefined }, grownMs = grownPauseMs()): number {
  return Math.max(grownMs, askedPauseMs(error) ?? 0);
}

/** Rule «window not wasted»: @returns the pause, or half of the time that is left if that is shorter */
export function halfOfWhatIsLeft(pauseMs: number, leftMs: number): number {
  return leftMs > 0 ? Math.round(Math.min(pauseMs, Math.max(SHORTEST_PAUSE_MS, leftMs / 2))) : pauseMs;
}

/**
 * Returns a failure that the server retries: after the given pause, else, without an answer of the screening service, after `pauseAfter`,
 * else by the activity's retry policy. Its message is our own or the client error's, which contain no key, address or card data. Messages of
 * other errors may contain them, so they are left out.
 */
export function retryLater(error: unknown, nextRetryDelay?: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) {
    if (nextRetryDelay === undefined) return error;
    return tryAgain(error.type ?? 'unexpected', error.message, nextRetryDelay);
  }
  if (!(error instanceof ScreeningError)) {
    const what = error instanceof Error ? error.name : 'error';
    return tryAgain('unexpected', `unexpected ${what} in order-screening`, nextRetryDelay);
  }
  return tryAgain(error.reason, error.message, nextRetryDelay ?? pauseAfter(error));
}

/** Returns a failure that the server retries: after the delay if given, else by the activity's retry policy. */
export function tryAgain(type: string, message: string, nextRetryDelay?: number): ApplicationFailure {
  return ApplicationFailure.create({ type, message, ...defined({ nextRetryDelay }) });
}

/** Returns the failure of a repeated key rejection: retried slowly, and benign because the first one was already reported. */
export function retryWrongKey(pauseMs = WRONG_KEY_PAUSE_MS): ApplicationFailure {
  return waitLonger('forbidden', 'the screening service still rejects the API key', pauseMs);
}

/** Returns a benign failure for "nothing new yet": the server retries after the delay, and metrics count no failure. */
export function waitLonger(type: string, message: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}

// Heartbeats let the server notice within seconds that the worker of a background activity has died, before the activity times out.

/** Several heartbeats fit in the `heartbeatTimeout` of the background activities. A shorter call sends none. */
const EVERY_MS = 4_000;

/**
 * Heartbeat details: what an attempt of an activity passes to the next one, with the type of each. Details of another type are dropped, such
 * as plain ones that PAYLOADS_REQUIRED refuses. A try whose worker lacks their key fails before it begins.
 */
const DETAILS = {
  /** Number of the last attempt that reported its end, see `thisTry`. A later attempt may have sent a request before its worker died or it timed out. */
  reported: 'number',
  /** When an attempt last reported its end or was about to send a create. */
  at: 'string',
  /** The earliest time at which an unresolved create (one whose transaction was never seen) may have been sent. */
  unseenSince: 'string',
  /** Until when that create may still arrive. The next attempt may start before: the server starts it sooner if the end of this one is lost. */
  arrivesBy: 'string',
  /** The sequence of the last event that was delivered. */
  arrived: 'number',
  /** Number of the attempt that asked to be rescheduled to measure the server's time, and its delay by the worker's clock. */
  asked: 'number',
  late: 'number',
  /** How many attempts in a row, up to that one, only measured the time. */
  measured: 'number',
  /** Since when the screening service has answered no attempt of a read. */
  unansweredSince: 'string',
  /** 1 after a reset of the activity: the attempts before it count as one that reported nothing. */
  forgotten: 'number',
} as const;
type Details = typeof DETAILS;
export type HeartbeatDetails = {
  [Name in keyof Details]?: Details[Name] extends 'number' ? number : Instant;
};

const lastDetails = new WeakMap<Context, HeartbeatDetails>();

/** Sends a heartbeat with the details. The next attempt reads them with `earlierHeartbeat`. */
export function sendHeartbeat(details: HeartbeatDetails): void {
  const context = Context.current();
  const { forgotten } = earlierHeartbeat();
  const sent = { ...details, ...defined({ forgotten }) };
  lastDetails.set(context, sent);
  context.heartbeat(sent);
}

/** Returns the details of earlier attempts. After a reset of the activity, the numbers of attempts in them mean nothing. */
export function earlierHeartbeat(): HeartbeatDetails {
  const details = detailsIn(activityInfo().heartbeatDetails);
  if (!isCountedAgain()) return details;
  const { reported: _, asked: _asked, late: _late, measured: _measured, ...known } = details;
  return { ...known, forgotten: 1 };
}

/**
 * Whether this is the first attempt after an operator reset the activity, as the Temporal UI offers: the server counts from 1 again. It
 * keeps the heartbeat details unless told otherwise. An *Unpause* of an activity that never began looks the same, and counts as a reset.
 */
function isCountedAgain(): boolean {
  const { attempt, heartbeatDetails, scheduledTimestampMs, currentAttemptScheduledTimestampMs } =
    activityInfo();
  return (
    attempt === 1 &&
    (heartbeatDetails !== undefined || currentAttemptScheduledTimestampMs > scheduledTimestampMs)
  );
}

/** Whether this is the activity's first attempt of all. */
export function isFirstTry(): boolean {
  return activityInfo().attempt === 1 && !isCountedAgain();
}

/** Returns the valid ones of decoded heartbeat details. */
export function detailsIn(details: unknown): HeartbeatDetails {
  const types = new Map<string, string>(Object.entries(DETAILS));
  return Object.fromEntries(
    Object.entries(fieldsOf(details)).filter(([name, value]) => typeof value === types.get(name)),
  );
}

/** Tells the sweep whether the screening service answers the attempts of a read. Costs a heartbeat only where that changes. */
export function noteAnswered(isAnswered: boolean, now: Instant): void {
  const { unansweredSince, ...details } = earlierHeartbeat();
  if (isAnswered === (unansweredSince === undefined)) return;
  sendHeartbeat(isAnswered ? details : { ...details, unansweredSince: now });
}

/** Interceptor that sends heartbeats for background activities. The server keeps only the last details, so each heartbeat repeats them. */
export const withHeartbeats: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    async execute(input, next) {
      const beats = setInterval(
        () => context.heartbeat(lastDetails.get(context) ?? context.info.heartbeatDetails),
        EVERY_MS,
      );
      try {
        // If this attempt is lost, the next one must not take an old report for this one's.
        if (isCountedAgain()) sendHeartbeat(earlierHeartbeat());
        return await next(input);
      } finally {
        clearInterval(beats);
      }
    },
  },
});

/**
 * Whether an earlier attempt may have succeeded: its reply was lost, or its worker died. Assumes so unless every earlier attempt
 * reported that it did nothing; see `reportNothingDone`.
 */
export function earlierTryMayBeDone(): boolean {
  const last = lastTry();
  return last > 0 && earlierHeartbeat().reported !== last;
}

/** Returns the number of the last earlier attempt, leaving out those that only measured the server's time; 0 without one. */
export function lastTry(): number {
  return thisTry() - 1 - measuredBefore();
}

/** Returns the number of this attempt, by which it reports its end. */
export function thisTry(): number {
  return activityInfo().attempt + (earlierHeartbeat().forgotten ?? 0);
}

/** Returns how many attempts right before this one only measured the server's time. */
export function measuredBefore(): number {
  const { asked, measured = 1 } = earlierHeartbeat();
  return asked === activityInfo().attempt - 1 ? measured : 0;
}

/** Reports to the next attempt that this one and all earlier ones did nothing. */
export function reportNothingDone(): void {
  if (!earlierTryMayBeDone()) sendHeartbeat({ reported: thisTry() });
}

/**
 * Whether the work of an activity may already be done: by the workflow run before a reset, or by a lost workflow task. Only activities
 * may branch on this, because a replay of the workflow would not see the same answer.
 */
const factsOf = new WeakMap<Context, RunFacts>();

export function noteRun(run: RunFacts | undefined): void {
  if (run !== undefined) factsOf.set(Context.current(), run);
}

/** @returns whether the run before a reset scheduled this activity, and the new run took it over with its input */
export function wasCalledBeforeReset(): boolean {
  const run = factsOf.get(Context.current());
  return run !== undefined && run.runId !== activityInfo().workflowExecution?.runId;
}

/** @returns whether an operator reset the workflow. The previous run may have done work that isn't in this run's history */
export function isAfterReset(): boolean {
  return factsOf.get(Context.current())?.wasReset === true || wasCalledBeforeReset();
}

/** @returns whether the order knows already that the API key is rejected, so that the call is retried until it is accepted */
export function isForbiddenKnown(): boolean {
  return factsOf.get(Context.current())?.forbiddenKnown === true;
}

/** @returns whether this checkout may have run before, in a lost workflow task or in the run before a reset */
export function mayHaveRun(): boolean {
  const run = factsOf.get(Context.current());
  if (run === undefined) return false;
  return isAfterReset() || run.isReplaying || run.historyLength > FIRST_TASK_EVENTS;
}

/**
 * Returns when an earlier create has arrived or never will, if it may be under way at the given time. After a reset, an attempt of the
 * previous run may still be about to send its create, or be waiting for the reply.
 */
export function arrivalAfter(at: Instant): Instant {
  return laterBy(isAfterReset() ? SEND_WITHIN_MS + CREATE_WITHIN_MS + UNDER_WAY_MS : UNDER_WAY_MS, at);
}
