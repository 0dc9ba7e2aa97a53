/** What the workflows ask of the world, ready for a worker. */
import {
  type ActivitiesByQueue,
  type ActivityWorld,
  asRequested,
  momentOf,
  tellingBeforeRecord,
  timed,
  withMoment,
} from './activity-world.ts';
import { eventActivities } from './events.ts';
import { portalActivities } from './portal.ts';
import { screeningActivities } from './screening.ts';
import { statusActivities } from './status.ts';
import { sweepActivities } from './sweep.ts';

export type { ActivityWorld, EventSenders } from './activity-world.ts';
export { createEventSender } from './events.ts';
export { withAttemptInLog, withMetrics } from './metrics.ts';
export { createOrderDirectory } from './sweep.ts';
export { withHeartbeats } from './tries.ts';

/** @returns the activities, standing on the given world */
export function createActivities(world: ActivityWorld): ActivitiesByQueue {
  const screening = screeningActivities(world);
  const status = statusActivities(world);
  const portal = portalActivities(world);
  const events = eventActivities(world);
  const sweep = sweepActivities(world);
  const screenAtCheckout = withMoment(screening.screenAtCheckout, asRequested);
  return {
    checkout: {
      screenAtCheckout: tellingBeforeRecord(world.beforeRecord, screenAtCheckout),
      look: timed(status.look, asRequested),
      policyInForce: withMoment(screening.policyInForce),
      screenRetry: timed(screening.screenRetry),
    },
    background: {
      catchUp: timed(screening.catchUp),
      lookUp: timed(status.lookUp),
      readStatusDurably: timed(status.readStatusDurably),
      sendGatewayResponse: timed(portal.sendGatewayResponse),
      performPortalAction: timed(portal.performPortalAction),
      deliverEvents: momentOf(events.deliverEvents),
      forgetCard: momentOf(events.forgetCard),
      sweep: sweep.sweep,
    },
    polls: { pollStatus: timed(status.pollStatus) },
  };
}
