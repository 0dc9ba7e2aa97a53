/** The order service's receiver of events, and what came to it. */
import type { OrderEvent } from '../../src/orders/messages.ts';
import type { Arrival } from '../chaos/receiver.ts';
import { within } from './wire.ts';

export interface Arrived {
  event: OrderEvent;
  at: number;
  taken: boolean;
}

export class Receiver {
  readonly arrived: Arrived[] = [];
  /** When it takes nothing. */
  readonly down: { from: number; until: number }[] = [];

  /** @returns whether it took the event */
  take(event: OrderEvent, now: number): boolean {
    const taken = !within(this.down, now);
    this.arrived.push({ event, at: now, taken });
    return taken;
  }
}

/** @returns the arrival as the chaos run's receiver notes it */
export function arrivalOf({ event, at, taken }: Arrived): Arrival {
  const { id, type, orderId, integration, sequence, occurredAt, data } = event;
  const { phase, decision, action, attempt, transactionId, attention } = data;
  const said = `${type} ${occurredAt} ${phase} ${decision} ${action} ${attempt} ${transactionId}`;
  return {
    id,
    type,
    orderId,
    integration,
    sequence,
    occurredAt,
    data: { phase, decision, action, attempt, transactionId },
    body: `${said} ${attention.join('|')}`,
    at,
    taken,
  };
}
