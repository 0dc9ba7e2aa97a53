/** What the workflows ask of the world, ready for a worker. */
import type {
  BackgroundActivities,
  CheckoutActivities,
  LocalActivities,
  PollActivities,
  SweepActivities,
} from '../orders/world.ts';
import type { ActivityWorld } from './activity-world.ts';
import { tellingBeforeRecord } from './before-record.ts';
import { eventActivities } from './event-activities.ts';
import { asRequested, momentOf, timed, withMoment } from './moment.ts';
import { portalActivities } from './portal-activities.ts';
import { screeningActivities } from './screening-activities.ts';
import { statusActivities } from './status-activities.ts';
import { sweepActivities } from './sweep-activities.ts';

export type { ActivityWorld } from './activity-world.ts';
export { createEventSender } from './event-sender.ts';
export { withHeartbeats } from './heartbeats.ts';
export { withAttemptInLog } from './log-attempt.ts';
export { histogramBounds, withMetrics } from './metrics.ts';
export { createOrderDirectory, type OrderDirectory } from './order-directory.ts';

/** The activities of each task queue. */
export interface ActivitiesByQueue {
  checkout: LocalActivities & CheckoutActivities;
  background: BackgroundActivities & SweepActivities;
  polls: PollActivities;
}

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
