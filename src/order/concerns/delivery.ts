/** Event delivery: one batch at a time, in order. Events announced during a delivery go into the next batch. */
import type { OrderEvent } from '../../contract/messages.ts';
import type { KeptEvent, OrderState } from '../../contract/order/state.ts';
import { clear, raiseAttention } from '../attention.ts';
import { bytesOf } from '../bounds.ts';
import { eventToSend } from '../events.ts';
import { type Concern, isWriting } from '../order.ts';

const UNDELIVERED =
  'Events could not be delivered for three days and were given up: redeliver them, or have the receiver read the orders.';

export const delivery: Concern = {
  name: 'delivery',
  keepsOpen: false,

  // A run that is about to continue as new leaves deliveries to the next run, unless it waits for a write.
  desired({ state, outbox, running, continues }) {
    const [first] = outbox;
    if (first === undefined || (continues === true && !isWriting({ running }))) return [];
    const key = `deliver:${first.sequence}`;
    const started = running.find(({ effect }) => effect.key === key);
    // A started batch doesn't change.
    if (started !== undefined) return [started.effect];
    const call = { kind: 'deliver', request: batchOf(state, outbox) } as const;
    return [{ key, resource: 'events', whenObsolete: 'cancel-and-await', call }];
  },

  ended(order, { effect: { call } }, outcome) {
    const { state } = order;
    const { status } = outcome;
    if (call.kind !== 'deliver' || status === 'canceled') return [];
    delete state.events.paused;
    if (status === 'failed' && outcome.byHand) {
      state.events.paused = true;
      return 'retry-later';
    }
    const upTo = call.request.at(-1)?.sequence ?? 0;
    const left = order.outbox.filter(({ sequence }) => sequence > upTo);
    const count = order.outbox.length - left.length;
    order.outbox = left;
    state.events.waiting = left.length;
    if (status === 'completed') {
      state.events.delivered += count;
      clear(state, { codes: ['events-undelivered'] });
    } else raiseAttention(state, 'events-undelivered', UNDELIVERED, { operation: 'events' }, order.now);
    return [];
  },
};

/** Maximum bytes of a batch as JSON. Temporal terminates a workflow that passes more than 2 MB to an activity. */
const BATCH_BYTES = 1_000_000;

/** Returns the oldest events that fit, at least one. */
function batchOf(state: OrderState, outbox: readonly KeptEvent[]): OrderEvent[] {
  const events: OrderEvent[] = [];
  let left = BATCH_BYTES;
  for (const kept of outbox) {
    const event = eventToSend(state, kept);
    left -= bytesOf(event);
    if (left < 0 && events.length > 0) break;
    events.push(event);
  }
  return events;
}
