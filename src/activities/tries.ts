/** The tries of an activity: what the server does after a failure, and what a try knows of those before it. */
import { activityInfo, Context, cancellationDetails } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Instant } from '../contract/words.ts';
import { defined } from '../orders/defined.ts';
import { ScreeningError } from '../screening/index.ts';

/** A worker that shuts down cancels its activities, too: then the next try goes on. */
export function askedToStop(): boolean {
  return cancellationDetails()?.cancelRequested === true;
}

/** How often a wrong key is tried again: slowly, it takes an operator to mend it. */
export const WRONG_KEY_PAUSE_MS = 60_000;

/** Rule «ten seconds' floor»: how long a create whose outcome isn't known may still take to arrive. */
export const UNDER_WAY_MS = 10_000;

/**
 * How long a try waits for the answer to its create, in milliseconds. Ten seconds after that the create has arrived or never will, and no
 * other try sends one before then: the server gives up a try at the earliest 15 s after it began, a try sends its create within 9 s of
 * its beginning, and the next try waits for `UNDER_WAY_MS` before it looks.
 */
export const CREATE_WITHIN_MS = 8_000;

/** Rule «five seconds to send»: a try sends its create within that time of its lookup, or of its own start. */
export const SEND_WITHIN_MS = 5_000;
/** A try that was handed out this long ago may have been given up by the server, which begins another one: it sends no create. */
export const GIVEN_UP_AFTER_MS = 9_000;

/** The longest pause of our own between two tries of a call. */
const LONGEST_GROWN_MS = 300_000;

/** A Retry-After is obeyed within these: 0 would be a flood, and nobody means weeks. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** @returns whether the service said that it doesn't know our key */
export function isForbidden(error: unknown): boolean {
  return error instanceof ScreeningError && error.reason === 'forbidden';
}

/** @returns the service's words of a definite refusal, or undefined: it was none */
export function refusalWords(error: unknown): string | undefined {
  if (!(error instanceof ScreeningError) || error.outcome !== 'refused') return undefined;
  return error.words?.join('; ') ?? error.reason;
}

/** @returns milliseconds to wait as the service asked by Retry-After, or undefined: it didn't ask */
export function askedPauseMs(error: { retryAfterMs?: number }): number | undefined {
  const { retryAfterMs } = error;
  return retryAfterMs === undefined
    ? undefined
    : Math.min(Math.max(retryAfterMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** @returns milliseconds to wait after this try of the activity: `firstMs` after the first, then twice as long each time */
export function grownPauseMs(firstMs: number): number {
  return Math.min(firstMs * 2 ** (activityInfo().attempt - 1), LONGEST_GROWN_MS);
}

/**
 * A failure that the server tries again: after the given pause, else the service's own Retry-After, else by the
 * activity's retry policy. Its words are the client error's, which hold no key, no address and no card data; those of
 * any other error may, so they are left out.
 */
export function retryLater(error: unknown, nextRetryDelay?: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (!(error instanceof ScreeningError)) {
    const what = error instanceof Error ? error.name : 'error';
    return tryAgain('unexpected', `an unexpected ${what} in our own code`, nextRetryDelay);
  }
  return tryAgain(error.reason, error.message, nextRetryDelay ?? askedPauseMs(error));
}

/** A failure that the server tries again: after the delay, else by the activity's retry policy. */
export function tryAgain(type: string, message: string, nextRetryDelay?: number): ApplicationFailure {
  return ApplicationFailure.create({ type, message, ...defined({ nextRetryDelay }) });
}

/** The same failure, tried again after so many milliseconds. */
export function putOff(error: unknown, pauseMs: number): ApplicationFailure {
  const { type, message } = retryLater(error);
  return tryAgain(type ?? 'unexpected', message, pauseMs);
}

/** The wrong key again: slow, and nothing to alert on twice. */
export function retryWrongKey(pauseMs = WRONG_KEY_PAUSE_MS): ApplicationFailure {
  return waitLonger('forbidden', 'the service still does not accept the API key', pauseMs);
}

/** Nothing new yet: the server calls again after the delay, and counts no failure. */
export function waitLonger(type: string, message: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}

// Lets the server notice within seconds that the worker of a background activity has died, not only when
// its time is up.

/** A few within the `heartbeatTimeout` of the background activities. A call that is quicker sends none. */
const EVERY_MS = 4_000;

/** What a try of an activity tells the next one. */
export interface Told {
  /** The last try that reported its end. A later one may have sent something: its worker died, or it was given up. */
  reported?: number;
  /** When a try last reported, or was about to send a create. */
  at?: Instant;
  /** The earliest time at which a create may have been sent whose transaction nobody has seen. */
  unseenSince?: Instant;
  /** The sequence of the last event that arrived. */
  arrived?: number;
  /** The try that asked the server for its time, and how late it began by the worker's clock. */
  asked?: number;
  late?: number;
}

/** The type of each: a worker of another key may have written something that can't be read. */
const TOLD = new Map<string, string>([
  ['reported', 'number'],
  ['at', 'string'],
  ['unseenSince', 'string'],
  ['arrived', 'number'],
  ['asked', 'number'],
  ['late', 'number'],
]);

/** What the running activities last told the next try. */
const lastTold = new WeakMap<Context, Told>();

/** Tells the next try of the activity how far this one has come: it finds it as its `heartbeatDetails`. */
export function tellNextTry(details: Told): void {
  const context = Context.current();
  lastTold.set(context, details);
  context.heartbeat(details);
}

/** Returns what the tries before this one told it. */
export function told(): Told {
  const details: unknown = activityInfo().heartbeatDetails;
  if (typeof details !== 'object' || details === null) return {};
  const known = Object.entries(details).filter(([name, value]) => typeof value === TOLD.get(name));
  return Object.fromEntries(known);
}

/** An interceptor for the workers of background activities. The server keeps what the last heartbeat said, so each says it again. */
export const withHeartbeats: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    async execute(input, next) {
      const beats = setInterval(
        () => context.heartbeat(lastTold.get(context) ?? context.info.heartbeatDetails),
        EVERY_MS,
      );
      try {
        return await next(input);
      } finally {
        clearInterval(beats);
      }
    },
  },
});

// What is known of the tries before this one.

/**
 * A try that isn't known to have done nothing may have been done: its answer was lost, or its worker died. A try says
 * that nothing was done by telling the next one its number.
 */
export function earlierTryMayBeDone(): boolean {
  const last = lastTry();
  return last > 0 && told().reported !== last;
}

/** Returns the number of the last try before this one that did more than ask the server for its time; 0: there is none. */
export function lastTry(): number {
  const { attempt } = activityInfo();
  return told().asked === attempt - 1 ? attempt - 2 : attempt - 1;
}

/** Tells the next try that this one, and those before it, did nothing. */
export function tellNothingWasDone(): void {
  if (!earlierTryMayBeDone()) tellNextTry({ reported: activityInfo().attempt });
}
