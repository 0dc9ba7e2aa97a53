/**
 * What the loop of an order asks: which input comes next, what it means to the order, and what is begun and stopped after it. Pure: the only clock is
 * the input's own time.
 */
import type { Call, Command } from './activity-contract.ts';
import { advance, followUp } from './advance.ts';
import { ask, askHeld } from './ask.ts';
import { begin } from './begin.ts';
import { whyUnread } from './check-messages.ts';
import { hintIsNews, isOver, keepHint } from './deadlines.ts';
import { endEffect } from './ends.ts';
import type { Effect, Input, Order, Reply, Running } from './order.ts';
import { currentAttempt } from './record.ts';
import { answerTickets, tellThatItGoesOn } from './tickets.ts';
import { isWrite, LOCAL, wanted } from './wanted.ts';
import { millis } from './words.ts';

/**
 * Takes one input in: the time that passed until it, what it says, and what follows at once.
 * @returns the answers that are due now, to whoever asked
 */
export function step(order: Order, input: Input): Reply[] {
  const replies: Reply[] = [];
  if (input.kind === 'end' && input.number === localUnderWay(order)?.number) order.afterLocal = true;
  else delete order.afterLocal;
  switch (input.kind) {
    case 'end':
      endEffect(order, input.number, input.end);
      break;
    case 'ask':
      advance(order, input.at);
      ask(order, input, replies);
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
  const refused = input.signal === 'review-hint' ? whyUnread(input.hint) : input.unread;
  if (refused !== undefined) {
    look.refused = refused;
    look.because ??= 'operator';
  } else if (input.signal === 'cancellation') look.cancellation = true;
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

// What an order wants under way, compared with what is: what to begin and what to stop.

/**
 * Called after each input, so that a cut of the same inputs at other places gives the same commands.
 * @param effects what the order wants by its rules
 * @returns the commands in their order; what is begun and stopped is noted with the order
 */
export function keep(order: Order, effects: readonly Effect[] = wanted(order)): Command[] {
  order.paused = order.paused.filter((key) =>
    effects.some((one) => one.kind === 'pause' && one.paused === key),
  );
  return [...stops(order, effects), ...begins(order, effects)];
}

/**
 * A read, a poll or a timer is over at once. A write may be on its way: its end is waited for.
 *
 * After a local activity reads are stopped on the next input only. A task that ends early, such as one that has to answer a query, may
 * end just when that activity does. A replay then takes its end for one of that task, and would stop a poll before the end that it had.
 */
function stops(order: Order, effects: readonly Effect[]): Command[] {
  const commands: Command[] = [];
  order.effects = order.effects.filter((running) => {
    if (running.stopping || effects.some(({ key }) => key === running.effect.key)) return true;
    if (order.afterLocal && READS.includes(running.effect.kind)) return true;
    const waits = isWrite(running.effect);
    commands.push({ do: 'stop', number: running.number, waits });
    if (waits) running.stopping = true;
    return waits;
  });
  return commands;
}

/** What is tried until it brings what is wanted, and then is over by itself. */
const READS: readonly Effect['kind'][] = ['poll', 'read', 'look-up'];

/**
 * Beside a local activity begins only what its end never stops, the rest after that end: for a replay that takes both for one task, what is
 * begun and stopped in it would leave no trace, though the history has one.
 */
function begins(order: Order, effects: readonly Effect[]): Command[] {
  const commands: Command[] = [];
  const local = effects.some(({ kind }) => LOCAL.includes(kind));
  for (const effect of effects) {
    if (local && !LOCAL.includes(effect.kind) && !isWrite(effect)) continue;
    if (order.effects.some((running) => isInTheWay(running, effect))) continue;
    const call = begin(order, effect);
    order.begun += 1;
    order.effects.push({ number: order.begun, effect, since: order.now, ...transactionOf(call) });
    commands.push({ do: 'begin', number: order.begun, call });
  }
  return commands;
}

function isInTheWay({ effect: running }: Running, effect: Effect): boolean {
  return running.key === effect.key || (isWrite(running) && laneOf(running) === laneOf(effect));
}

/** What an effect is about: beside a write nothing else on its subject begins. */
function laneOf(effect: Effect): string {
  switch (effect.kind) {
    case 'first-screening':
    case 'policy':
    case 'retry-screening':
    case 'catch-up':
    case 'look-up':
      return 'create';
    case 'gateway':
      return `gateway:${effect.attempt}`;
    case 'portal':
      return `portal:${effect.action}`;
    default:
      return effect.kind;
  }
}

function transactionOf(call: Call): Pick<Running, 'transactionId'> {
  if (call.kind !== 'look' && call.kind !== 'read' && call.kind !== 'poll') return {};
  const { transactionId } = call.request;
  return transactionId === undefined ? {} : { transactionId };
}

/** @returns whether the order may continue as new: no write but a delivery, which does no harm twice, is under way */
export function canStop(order: Order): boolean {
  const answered = currentAttempt(order.state).answer !== undefined;
  return (
    answered &&
    !order.effects.some(
      ({ effect }) => effect.kind === 'look' || (isWrite(effect) && effect.kind !== 'deliver'),
    )
  );
}

/** @returns whether nothing is left to wait for, and everybody has an answer */
export function nothingLeft(order: Order): boolean {
  if (order.tickets.length > 0 || order.held.length > 0) return false;
  return order.refused !== undefined || (order.closedTold === true && order.outbox.length === 0);
}

/** @returns the order as the run that continues it takes it up: what was under way begins anew there */
export function resumed(order: Order): Order {
  return { ...order, effects: [] };
}

/** @returns the order as the next run takes it up. `wasReset`: an operator reset that run, which knows nothing of what it did before */
export function takenUp(order: Order, wasReset: boolean): Order {
  return { ...order, wasReset: order.wasReset || wasReset };
}
