/** Says of what an activity brings back when it was learned, by the server's clock: no worker's own clock matters for it. */
import { activityInfo, sleep } from '@temporalio/activity';
import { type Instant, instant, millis } from '../orders/words.ts';
import type { Moment, Timed } from '../orders/world.ts';
import { UNDER_WAY_MS } from './retry-later.ts';

type Activity<Request, Result> = (request: Request) => Promise<Result>;

/** When a try began, in the server's time. */
type Began<Request> = (request: Request) => Instant | Promise<Instant>;

/**
 * A server that was restarted may hand a try out before the pause after the last one is over. Such a try waits for as long as a
 * create may take to arrive, since whoever looks after a pause must find what was sent before it; and it began when it did, not
 * when it should have. Only the worker's own clock can tell.
 */
async function whenScheduled(): Promise<Instant> {
  const { attempt, currentAttemptScheduledTimestampMs: scheduledMs } = activityInfo();
  const earlyMs = scheduledMs - Date.now();
  if (attempt === 1 || earlyMs <= 0) return instant(scheduledMs);
  await sleep(Math.min(earlyMs, UNDER_WAY_MS));
  return instant(Math.min(scheduledMs, Date.now()));
}

/** The server schedules no try of a local activity, so its request says when it was begun. */
export const asRequested = ({ begun }: { begun: Instant }): Instant => begun;

/** @returns the activity, whose result is its outcome and when that was learned */
export function timed<Request, Outcome>(
  activity: Activity<Request, Outcome>,
  began: Began<Request> = whenScheduled,
): Activity<Request, Timed<Outcome>> {
  return async (request) => {
    const moment = watchFrom(await began(request));
    const outcome = await activity(request);
    return { ...moment(), outcome };
  };
}

/** @returns the activity, whose result also tells when it was learned */
export function withMoment<Request, Result extends object>(
  activity: Activity<Request, Result>,
  began: Began<Request> = whenScheduled,
): Activity<Request, Result & Moment> {
  return async (request) => {
    const moment = watchFrom(await began(request));
    const result = await activity(request);
    return { ...result, ...moment() };
  };
}

/** @returns the activity, whose result is when it was done */
export function momentOf<Request>(activity: Activity<Request, void>): Activity<Request, Moment> {
  return async (request) => {
    const moment = watchFrom(await whenScheduled());
    await activity(request);
    return moment();
  };
}

/** A wall clock may be set in between; the monotonic one only goes on. */
function watchFrom(began: Instant): () => Moment {
  const since = performance.now();
  return () => ({ began, at: instant(millis(began) + Math.floor(performance.now() - since)) });
}
