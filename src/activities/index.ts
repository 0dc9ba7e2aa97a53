/** What the workflows ask of the world, ready for a worker. */
import { MACHINE } from '../screening/index.ts';
import {
  type ActivitiesByQueue,
  type ActivityWorld,
  asRequested,
  momentOf,
  tellingBeforeRecord,
  timed,
  type WorldParts,
  withMoment,
} from './activity-world.ts';
import { eventActivities } from './events.ts';
import { portalActivities } from './portal.ts';
import { screeningActivities } from './screening.ts';
import { statusActivities } from './status.ts';
import { sweepActivities } from './sweep.ts';

export type { ActivityWorld, EventSenders, WorldParts } from './activity-world.ts';
export { createEventSender } from './events.ts';
export { withAttemptInLog, withMetrics } from './metrics.ts';
export { createOrderDirectory } from './sweep.ts';
export { withHeartbeats } from './tries.ts';

/** @returns the activities, standing on the given world */
export function createActivities(parts: WorldParts): ActivitiesByQueue {
  const world: ActivityWorld = { machine: MACHINE, ...parts };
  const screening = screeningActivities(world);
  const status = statusActivities(world);
  const portal = portalActivities(world);
  const events = eventActivities(world);
  const sweep = sweepActivities(world);
  const { machine } = world;
  const screenAtCheckout = withMoment(machine, screening.screenAtCheckout, asRequested);
  return {
    checkout: {
      screenAtCheckout: tellingBeforeRecord(world.beforeRecord, screenAtCheckout),
      look: timed(machine, status.look, asRequested),
      policyInForce: withMoment(machine, screening.policyInForce),
      screenRetry: timed(machine, screening.screenRetry),
    },
    background: {
      catchUp: timed(machine, screening.catchUp),
      lookUp: timed(machine, status.lookUp),
      readStatusDurably: timed(machine, status.readStatusDurably),
      sendGatewayResponse: timed(machine, portal.sendGatewayResponse),
      performPortalAction: timed(machine, portal.performPortalAction),
      deliverEvents: momentOf(machine, events.deliverEvents),
      forgetCard: momentOf(machine, events.forgetCard),
      sweep: sweep.sweep,
    },
    polls: { pollStatus: timed(machine, status.pollStatus) },
  };
}
