/** Says of what an activity brings back when it was learned, by the server's clock: no worker's own clock matters for it. */
import { activityInfo } from '@temporalio/activity';
import { type Instant, instant, millis } from '../orders/words.ts';
import type { Moment, Timed } from '../orders/world.ts';

type Activity<Request, Result> = (request: Request) => Promise<Result>;

/** When a try began, in the server's time. */
type Began<Request> = (request: Request) => Instant;

const whenScheduled = (): Instant => instant(activityInfo().currentAttemptScheduledTimestampMs);

/** The server schedules no try of a local activity, so its request says when it was begun. */
export const asRequested = ({ begun }: { begun: Instant }): Instant => begun;

/** @returns the activity, whose result is its outcome and when that was learned */
export function timed<Request, Outcome>(
  activity: Activity<Request, Outcome>,
  began: Began<Request> = whenScheduled,
): Activity<Request, Timed<Outcome>> {
  return async (request) => {
    const moment = watchFrom(began(request));
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
    const moment = watchFrom(began(request));
    const result = await activity(request);
    return { ...result, ...moment() };
  };
}

/** @returns the activity, whose result is when it was done */
export function momentOf<Request>(activity: Activity<Request, void>): Activity<Request, Moment> {
  return async (request) => {
    const moment = watchFrom(whenScheduled());
    await activity(request);
    return moment();
  };
}

/** A wall clock may be set in between; the monotonic one only goes on. */
function watchFrom(began: Instant): () => Moment {
  const since = performance.now();
  return () => ({ began, at: instant(millis(began) + Math.floor(performance.now() - since)) });
}
