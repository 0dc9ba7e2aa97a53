/** Turns an error of the screening client into what the server does about it. */
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { ScreeningError } from '../screening/index.ts';

/** How often a wrong key is tried again: slowly, it takes an operator to mend it. */
export const WRONG_KEY_PAUSE_MS = 60_000;

/** @returns whether the service said that it doesn't know our key */
export function isForbidden(error: unknown): boolean {
  return error instanceof ScreeningError && error.reason === 'forbidden';
}

/** @returns the service's words of a definite refusal, or undefined: it was none */
export function refusalWords(error: unknown): string | undefined {
  if (!(error instanceof ScreeningError) || error.outcome !== 'refused') return undefined;
  return error.words?.join('; ') ?? error.reason;
}

/**
 * A failure that the server tries again: after the service's own Retry-After, else by the activity's retry policy.
 * Its words are the client error's, which hold no key, no address and no card data.
 */
export function retryLater(error: unknown, nextRetryDelay?: number): ApplicationFailure {
  const known = error instanceof ScreeningError ? error : undefined;
  const delay = nextRetryDelay ?? known?.retryAfterMs;
  return ApplicationFailure.create({
    type: known?.reason ?? 'unexpected',
    message: known?.message ?? (error instanceof Error ? error.message : 'unexpected'),
    ...(delay !== undefined && { nextRetryDelay: delay }),
  });
}

/** The wrong key again: slow, and nothing to alert on twice. */
export function retryWrongKey(): ApplicationFailure {
  return waitLonger('forbidden', 'the service still does not accept the API key', WRONG_KEY_PAUSE_MS);
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
