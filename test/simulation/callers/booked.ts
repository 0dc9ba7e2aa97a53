/** What a caller asked and was told. */
import type { Request } from '../../../src/order/order.ts';
import type { Outcome } from '../temporal/task.ts';

/** One question and its answer. */
export interface Booked {
  ask: Request;
  id: string;
  sentAt: number;
  at: number;
  outcome: Outcome;
}
