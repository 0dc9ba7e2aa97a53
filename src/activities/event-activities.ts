/** Events out, in order; and the card's end. Design sections 5 and 7. */
import { activityInfo, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { OrderEvent } from '../orders/messages.ts';
import type { ActivityWorld } from './activity-world.ts';

const QUICK_MS = 2_500;
const PATIENT_MS = 15_000;

export function eventActivities(world: ActivityWorld) {
  return {
    /** One quick try inside the workflow task. A local activity. */
    async deliverEventsNow(events: OrderEvent[]): Promise<void> {
      for (const event of events) await deliver(world, event, QUICK_MS);
    },

    /** Delivers in order; a second call goes on after the last event that arrived. */
    async deliverEvents(events: OrderEvent[]): Promise<void> {
      const { heartbeatDetails } = activityInfo();
      const arrived = typeof heartbeatDetails === 'number' ? heartbeatDetails : 0;
      for (const event of events) {
        if (event.sequence <= arrived) continue;
        await deliver(world, event, PATIENT_MS);
        heartbeat(event.sequence);
      }
    },

    /** Deletes a card from the stash. */
    async forgetCard({ cardRef }: { cardRef: string }): Promise<void> {
      await world.cards.forget(cardRef);
    },
  };
}

async function deliver(world: ActivityWorld, event: OrderEvent, timeoutMs: number): Promise<void> {
  if (world.events === undefined) {
    throw ApplicationFailure.retryable('no events receiver is configured any more', 'no-receiver');
  }
  try {
    await world.events(event, timeoutMs);
  } catch (error) {
    throw ApplicationFailure.retryable(
      error instanceof Error ? error.message : 'not delivered',
      'not-delivered',
    );
  }
}
