/** All activities, by task queue, for a worker. */
import { MACHINE } from '../screening-service/index.ts';
import {
  type ActivitiesByQueue,
  type ActivityWorld,
  asRequested,
  exactly,
  tellingBeforeRecord,
  timed,
  type WorldParts,
  withMoment,
} from './activity-world.ts';
import { eventActivities } from './events.ts';
import { exactlyForCancels, portalActivities } from './portal.ts';
import { catchUpActivity } from './screening/catch-up.ts';
import { screeningActivities } from './screening/screening.ts';
import { ServerClock } from './server-clock.ts';
import { statusActivities } from './status.ts';
import { sweepActivity } from './sweep/sweep.ts';

export type { ActivityWorld, EventSenders, WorldParts } from './activity-world.ts';
export { createEventSender } from './events.ts';
export { withMetrics } from './metrics.ts';
export {
  adoptedElsewhere,
  cancelStatus,
  createOrderDirectory,
  haltedOrders,
  lostOrders,
  lostQuery,
  tooEarly,
} from './sweep/order-directory.ts';
export { withHeartbeats } from './tries.ts';

export function createActivities(parts: WorldParts): ActivitiesByQueue {
  const world: ActivityWorld = { machine: MACHINE, otherModes: new Set(), ...parts };
  const screening = screeningActivities(world);
  const status = statusActivities(world);
  const portal = portalActivities(world);
  const clock = new ServerClock(world.machine);
  const events = eventActivities(world, clock);
  const screenAtCheckout = withMoment(clock, screening.screenAtCheckout, asRequested);
  return {
    checkout: {
      screenAtCheckout: tellingBeforeRecord(world.beforeRecord, screenAtCheckout),
      screenRetry: withMoment(clock, screening.screenRetry, exactly),
    },
    background: {
      catchUp: withMoment(clock, catchUpActivity(world), exactly),
      lookUp: withMoment(clock, status.lookUp),
      sendGatewayResponse: timed(clock, portal.sendGatewayResponse),
      performPortalAction: timed(clock, portal.performPortalAction, exactlyForCancels),
      deliverEvents: withMoment(clock, events.deliverEvents),
      forgetCard: withMoment(clock, events.forgetCard),
      sweep: sweepActivity(world),
    },
    reads: { readStatus: timed(clock, status.readStatus) },
    polls: {
      pollStatus: timed(clock, status.pollStatus),
      readStatusLast: timed(clock, status.readStatusLast),
    },
  };
}
