/** Turns an error of the screening client into what the server does about it. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ScreeningError } from '../screening/index.ts';

/** How often a wrong key is tried again: slowly, it takes an operator to mend it. */
export const WRONG_KEY_PAUSE_MS = 60_000;

/** How long a create whose outcome isn't known may still take to arrive: none to be found before that proves nothing. */
export const UNDER_WAY_MS = 10_000;

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
  return ApplicationFailure.create({
    type,
    message,
    ...(nextRetryDelay !== undefined && { nextRetryDelay }),
  });
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
