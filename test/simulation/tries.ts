/** What one try of an activity stands in, and how it may end. */

import type { Moment } from '../../src/orders/activity-contract.ts';
import type { End } from '../../src/orders/order.ts';
import { instant } from '../../src/orders/words.ts';
import type { Agenda } from './agenda.ts';
import type { Life } from './life.ts';
import type { Code } from './process.ts';
import type { Receiver } from './receiver.ts';
import type { Heard } from './wire.ts';

/** How a try ends: with the effect's end, or to be tried again, after a pause of its own or the server's. */
export type TryEnd = { end: End } | { again: string; pauseMs?: number };
export type Try = Code<TryEnd>;

export interface Stash {
  /** When each card is gone. */
  readonly until: Map<string, number>;
}

/** What a try knows: of its activity, of the tries before it, and what time it is. */
export interface Context {
  readonly life: Life;
  readonly agenda: Agenda;
  readonly receiver: Receiver;
  readonly stash: Stash;
  /** The run that has the activity now. */
  readonly runId: string;
  /** Counts the tries from 1. */
  readonly attempt: number;
  /** When the server scheduled the try, and when a worker began it. */
  readonly scheduledAt: number;
  readonly startedAt: number;
  /** How far the worker's wall clock is off. */
  readonly skewMs: number;
  /** The run that asked was made by a reset, or another run has the activity since. */
  readonly afterReset: boolean;
  /** Its own code fails. */
  readonly breaksDown: boolean;
  /** What the try before told this one. */
  readonly told: number | undefined;
  tellNext(details: number): void;
  askedToStop(): boolean;
  /** A number of the life's own, another each time. */
  chance(): number;
}

/** How long a create whose outcome isn't known may take to arrive. */
export const UNDER_WAY_MS = 10_000;
/** For how long a look that found none is ground enough for a create. */
export const LOOK_COUNTS_MS = 5_000;
export const PATIENT_MS = 30_000;
export const WRONG_KEY_PAUSE_MS = 60_000;

/** @returns when the try began and what time it is, in the server's time as far as a worker can tell */
export function moment({ agenda, scheduledAt, startedAt, afterReset }: Context): Moment {
  const at = instant(scheduledAt + agenda.now - startedAt);
  return { began: instant(scheduledAt), at, ...(afterReset && { afterReset }) };
}

export function wallClock({ agenda, skewMs }: Context): number {
  return agenda.now + skewMs;
}

/** @returns growing pauses: `firstMs` after the first try, then twice as long each time */
export function grownPauseMs({ attempt }: Context, firstMs: number): number {
  return Math.min(firstMs * 2 ** (attempt - 1), 300_000);
}

/** @returns how long the service asked to wait, within bounds */
export function askedPauseMs(heard: { retryAfterMs?: number }): number | undefined {
  const { retryAfterMs } = heard;
  return retryAfterMs === undefined ? undefined : Math.min(Math.max(retryAfterMs, 1_000), 3_600_000);
}

export function retryWrongKey(pauseMs = WRONG_KEY_PAUSE_MS): TryEnd {
  return { again: 'forbidden', pauseMs };
}

/** After a reset a try of the run before may be at work still. */
export function underWayMs({ afterReset }: Context): number {
  return afterReset ? LOOK_COUNTS_MS + UNDER_WAY_MS : UNDER_WAY_MS;
}

/** A try before this one isn't known to have done nothing. */
export function earlierTryMayBeDone({ attempt, told }: Context): boolean {
  return attempt > 1 && told !== attempt - 1;
}

/** The scheduler gives every request an answer. */
export function answered(heard: Heard | undefined): Heard {
  if (heard === undefined) throw new TypeError('a request ended without an answer');
  return heard;
}
