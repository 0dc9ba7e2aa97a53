/** Which input comes next, and what it means to an order. Pure: the only clock is the input's own time. */
import { advance, followUp } from './advance.ts';
import { ask, askHeld } from './ask.ts';
import { hintIsNews, isOver, keepHint } from './deadlines.ts';
import { endEffect } from './ends.ts';
import type { Input, Order, Reply, Running } from './order.ts';
import { currentAttempt } from './record.ts';
import { answerTickets, tellThatItGoesOn } from './tickets.ts';
import { LOCAL } from './wanted.ts';
import { millis } from './words.ts';

/**
 * Takes one input in: the time that passed until it, what it says, and what follows at once.
 * @returns the answers that are due now, to whoever asked
 */
export function step(order: Order, input: Input): Reply[] {
  const replies: Reply[] = [];
  switch (input.kind) {
    case 'end':
      endEffect(order, input.number, input.end);
      break;
    case 'ask':
      advance(order, input.at);
      ask(order, input, replies);
      break;
    case 'hint':
      advance(order, input.at);
      if (hintIsNews(order.state, input.hint, millis(order.now))) keepHint(order.state);
      break;
    case 'signal':
      flag(order, input);
      break;
  }
  askHeld(order, replies);
  followUp(order);
  tellThatItGoesOn(order, replies);
  answerTickets(order, replies);
  return replies;
}

/**
 * A signal has no time that a replay would find again, so it only sets a flag: a look at the status brings the time. Every signal
 * is looked at, if only by the clock: the look is in the history, so that a replay doesn't take the signal together with ends that
 * came later, and before which it was taken.
 */
function flag(order: Order, input: Extract<Input, { kind: 'signal' }>): void {
  const { state, look, now } = order;
  if (isOver(state, millis(now))) return;
  look.signal = true;
  if (input.signal === 'cancellation') look.cancellation = true;
  else if (input.signal === 'review-hint') {
    if (hintIsNews(state, input.hint, millis(now))) keepHint(state);
  } else if (state.phase !== 'canceled' && currentAttempt(state).answer !== undefined) look.recheck = true;
}

// In which order an order takes what came together: always the one in which a worker that knew it would
// have seen it.

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
