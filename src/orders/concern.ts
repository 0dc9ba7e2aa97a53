/** The shape of a concern: what one file says about one part of an order's life. */
import type { AttentionCause } from '../contract/state.ts';
import type { Instant, OrderEventType } from '../contract/words.ts';
import type { Effect, Order, Outcome, Running, Signal } from './order.ts';

/** An effect as its concern wants it. `cause`: what attention names when the call is refused. */
export type Wanted = Omit<Effect, 'concern'> & { cause?: AttentionCause };

/** One concern of an order, in one file. */
export interface Concern {
  name: string;
  /** An order stays open while this concern wants an effect, or a write of it runs. */
  keepsOpen: boolean;
  /** Returns the effects that are required now. */
  desired(order: Order): Wanted[];
  /** Notes that the effect was started. */
  started?(order: Order, effect: Effect): void;
  /** Applies how the effect ended. Returns the events that it means, or that the effect starts again after a pause. */
  ended(order: Order, running: Running, outcome: Outcome): OrderEventType[] | 'retry-later';
  /** Takes note of a signal. Returns the events that it means; undefined: it changes nothing. */
  signaled?(order: Order, signal: Signal): OrderEventType[] | undefined;
  /** Applies what follows from the state without any input. Returns the events that it means. */
  followUp?(order: Order): OrderEventType[];
  /** Lets deadlines pass until that moment, each at its own. Returns whether any passed. */
  passTime?(order: Order, until: Instant): boolean;
}
