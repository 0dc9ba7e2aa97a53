/** The types of an order's public record. `recordOf` in order-memo.ts makes one. */
import type { Attempt, OrderState } from './state.ts';

/** An order's public record, as its memo keeps it: what readers get. Bounded; `leftOut` counts what is only in the full view. */
export interface OrderRecord extends OrderState {
  attempts: RecordedAttempt[];
  /** Absent: the record is complete. */
  leftOut?: LeftOut;
}

/** An attempt with its newest readings. */
export interface RecordedAttempt extends Attempt {
  /** How many older readings the record does not have. */
  readingsLeftOut?: number;
}

/** How much of an order its record does not have. */
export interface LeftOut {
  attempts?: number;
  readings?: number;
  insights?: number;
  transactions?: number;
  attention?: number;
  actions?: number;
  journal?: number;
  events?: number;
  /** Texts that are cut, which end in `…`. */
  texts?: number;
}
