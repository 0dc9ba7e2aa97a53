/** The interface of a concern, which handles one part of an order's lifecycle. */
import type { AttentionCause } from '../../contract/order/state.ts';
import type { Instant, OrderEventType } from '../../contract/words.ts';
import type { Effect, Order, Outcome, Running, Signal } from '../order.ts';

/** An effect that a concern requires. `cause`: the cause of attention if the call is refused. */
export type RequiredEffect = Omit<Effect, 'concern'> & { cause?: AttentionCause };

/** One concern of an order, in one file. */
export interface Concern {
  name: string;
  /** Whether the order stays open while this concern requires an effect or one of its writes runs. */
  keepsOpen: boolean;
  /** Returns the effects that are required now. */
  desired(order: Order): RequiredEffect[];
  /** Records that an effect was started. */
  started?(order: Order, effect: Effect): void;
  /** Applies an effect's outcome. Returns the events to send, or that the effect restarts after a pause. */
  ended(order: Order, running: Running, outcome: Outcome): OrderEventType[] | 'retry-later';
  /** Handles a signal. Returns the events to send; undefined if nothing changed. */
  signaled?(order: Order, signal: Signal): OrderEventType[] | undefined;
  /** Applies consequences of the state that need no input. Returns the events to send. */
  followUp?(order: Order): OrderEventType[];
  /** Applies deadlines up to that moment, each at its own time. Returns whether there were any. */
  passTime?(order: Order, until: Instant): boolean;
}
