/** The types of an order's public record. `recordOf` in bounded-record.ts creates it. */
import type { LeftOut } from '../terms.ts';
import type { Instant } from '../words.ts';
import type { Shown } from './shown.ts';
import type { Attempt, FailedTries, OrderState } from './state.ts';

/** An order's public record, stored in its memo. Its size is bounded; `leftOut` counts the parts that only the full view has. */
export interface OrderRecord extends OrderState {
  attempts: RecordedAttempt[];
  /** The checkout got no decision, and the order is still being screened. */
  held?: FailedTries;
  /** The fields of its transaction that the policy shows; only in the full view. */
  shown?: Shown;
  /** When the workflow of a lost order was terminated or timed out; the memo does not have it. */
  closedAt?: Instant;
  /** Absent: the record is complete. */
  leftOut?: LeftOut;
}

export interface RecordedAttempt extends Attempt {
  /** The number of older readings that the record leaves out. */
  readingsLeftOut?: number;
}
