/** What a caller asked and was told. */
import type { Request } from '../../src/orders/order.ts';
import type { Outcome } from './task.ts';

/** One question and its answer. */
export interface Booked {
  ask: Request;
  id: string;
  sentAt: number;
  at: number;
  outcome: Outcome;
}
