/** Compares what an order wants under way with what is, and says what to begin and what to stop. */
import type { Call, Command } from './activity-contract.ts';
import { begin } from './begin.ts';
import type { Effect, Order, Running } from './order.ts';
import { currentAttempt } from './record.ts';
import { isWrite, LOCAL, wanted } from './wanted.ts';

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

/** A read, a poll or a timer is over at once. A write may be on its way: its end is waited for. */
function stops(order: Order, effects: readonly Effect[]): Command[] {
  const commands: Command[] = [];
  order.effects = order.effects.filter((running) => {
    if (running.stopping || effects.some(({ key }) => key === running.effect.key)) return true;
    const waits = isWrite(running.effect);
    commands.push({ do: 'stop', number: running.number, waits });
    if (waits) running.stopping = true;
    return waits;
  });
  return commands;
}

/**
 * Beside a local activity begins only what its end never stops, the rest after that end. A task that ends early, such as one that has to
 * answer a query, may end just when that activity does. A replay then takes both for one task, in which what is begun
 * and stopped leaves no trace, though the history has one.
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
  return running.key === effect.key || (isWrite(running) && subjectOf(running) === subjectOf(effect));
}

/** What an effect is about: beside a write nothing else on its subject begins. */
function subjectOf(effect: Effect): string {
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
