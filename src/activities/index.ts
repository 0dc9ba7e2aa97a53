/** What the workflows ask of the world, ready for a worker. */
import type {
  BackgroundActivities,
  LocalActivities,
  LocalEventActivities,
  LocalPolicyActivities,
  PollActivities,
  RetryActivities,
  SweepActivities,
} from '../orders/world.ts';
import type { ActivityWorld } from './activity-world.ts';
import { eventActivities } from './event-activities.ts';
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
  checkout: LocalActivities & LocalPolicyActivities & LocalEventActivities & RetryActivities;
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
  return {
    checkout: {
      screenAtCheckout: screening.screenAtCheckout,
      policyInForce: screening.policyInForce,
      screenRetry: screening.screenRetry,
      readStatus: status.readStatus,
      deliverAtOnce: events.deliverAtOnce,
    },
    background: {
      catchUp: screening.catchUp,
      lookUp: status.lookUp,
      readStatusDurably: status.readStatusDurably,
      sendGatewayResponse: portal.sendGatewayResponse,
      performPortalAction: portal.performPortalAction,
      deliverEvents: events.deliverEvents,
      forgetCard: events.forgetCard,
      sweep: sweep.sweep,
    },
    polls: { pollStatus: status.pollStatus },
  };
}
