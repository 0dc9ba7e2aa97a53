/** In which order an order takes what came together: always the one in which a worker that knew it would have seen it. */
import { currentAttempt } from './new-order.ts';
import type { Input, Order, Running } from './order.ts';
import { LOCAL } from './wanted.ts';

/**
 * Takes the input that comes next from those that wait. While a local activity runs that is its end, since a replay knows it
 * first; else ends of effects in the order of history, then messages in theirs. No other order of ends holds: a replay takes a
 * task without commands together with the next one, and would order the ends of both.
 * @returns undefined when nothing can be taken now
 */
export function next(order: Order, waiting: Input[]): Input | undefined {
  const local = localUnderWay(order);
  let first = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, input] of waiting.entries()) {
    const rank = local === undefined ? rankOf(input) : isEndOf(input, local.number) ? 0 : undefined;
    if (rank === undefined || rank >= least) continue;
    least = rank;
    first = index;
  }
  return first < 0 ? undefined : waiting.splice(first, 1)[0];
}

/** @returns whether one of those that wait can be taken now */
export function isReady(order: Order, waiting: readonly Input[]): boolean {
  const local = localUnderWay(order);
  return local === undefined ? waiting.length > 0 : waiting.some((input) => isEndOf(input, local.number));
}

/** @returns whether somebody may be shown the order as it is: not while what follows comes in a moment */
export function isShown(order: Order): boolean {
  const waits = currentAttempt(order.state).answer === undefined && order.brokeDown !== true;
  return !waits && localUnderWay(order) === undefined;
}

function localUnderWay({ effects }: Order): Running | undefined {
  return effects.find(({ effect }) => LOCAL.includes(effect.kind));
}

const MESSAGES = 1;

function rankOf(input: Input): number {
  return input.kind === 'end' ? 0 : MESSAGES;
}

function isEndOf(input: Input, number: number): boolean {
  return input.kind === 'end' && input.number === number;
}
