/** What an input means to an order. Pure: the only clock is the input's own time. */
import { advance, followUp } from './advance.ts';
import { ask, askHeld } from './ask.ts';
import { isOver } from './deadlines.ts';
import { endEffect } from './ends.ts';
import { hintIsNews, keepHint } from './hints.ts';
import { currentAttempt } from './new-order.ts';
import type { Input, Order, Reply } from './order.ts';
import { answerTickets, tellThatItGoesOn } from './tickets.ts';
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
