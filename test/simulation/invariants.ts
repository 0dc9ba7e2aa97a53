/** What holds after every step of every life. */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { EffectKind, Input, Order, Reply } from '../../src/orders/order.ts';
import type { ActionRecord, Override } from '../../src/orders/state.ts';
import { LOCAL } from '../../src/orders/wanted.ts';
import type { Action, OrderDecision } from '../../src/orders/words.ts';
import { inOneLine } from './in-one-line.ts';
import { missingWork } from './missing-work.ts';
import type { World } from './world.ts';

/** Where a replay takes two tasks for one, what is begun and stopped in it leaves no trace. */
const STOPPED_BY_A_LOOK: readonly EffectKind[] = ['read', 'poll', 'look-up', 'timer', 'pause'];
const CREATES: readonly EffectKind[] = ['first-screening', 'retry-screening', 'catch-up'];

export class Invariants {
  readonly #world: World;
  #decision: OrderDecision = 'pending';
  #attempts = 1;
  #now = '';
  #sequence = 0;
  #delivered = 0;
  #override: Override | undefined;
  #action: Action = 'hold';
  #automatic = 0;
  /** How many inputs the order took in. */
  inputs = 0;

  constructor(world: World) {
    this.#world = world;
  }

  before(order: Order): void {
    const { state } = order;
    this.#decision = state.decision;
    this.#attempts = state.attempts.length;
    this.#now = order.now;
    this.#sequence = state.events.sequence;
    this.#delivered = state.events.delivered;
    this.#override = state.phase === 'declined' ? undefined : state.attempts.at(-1)?.override;
    this.#action = state.action;
    this.#automatic = automaticCancels(order);
  }

  after(order: Order, input: Input, replies: readonly Reply[], commands: readonly Command[]): void {
    this.inputs += 1;
    this.#world.tell?.(inOneLine(order, input, replies, commands));
    const fault = this.#broken(order, commands) ?? this.#overridden(order, input);
    if (fault !== undefined) this.#world.fault(fault);
  }

  #broken(order: Order, commands: readonly Command[]): string | undefined {
    const { state, effects } = order;
    if (order.now < this.#now) return `time went back from ${this.#now} to ${order.now}`;
    if (state.attempts.length === this.#attempts && isDecided(this.#decision) && !isDecided(state.decision)) {
      return `the decision ${this.#decision} was replaced by ${state.decision}`;
    }
    if (state.adopted !== undefined && commands.some(mayCreate)) return 'an adopted order is screened';
    let creates = 0;
    for (const { effect } of effects) if (CREATES.includes(effect.kind)) creates += 1;
    if (creates > 1) return `${creates} creates are under way`;
    return (
      this.#eventsBroken(order) ?? numbersBroken(order, commands) ?? waitsForEver(order) ?? missingWork(order)
    );
  }

  /** What a person decided stands until they, the gateway, a cancel or another attempt change it. */
  #overridden(order: Order, input: Input): string | undefined {
    const { state } = order;
    const before = this.#override;
    if (before === undefined) return undefined;
    if (state.attempts.length > this.#attempts) {
      return state.attempts.at(-1)?.override === undefined ? undefined : 'a new attempt begins overridden';
    }
    if (before.action === 'proceed' && automaticCancels(order) > this.#automatic)
      return 'a person said proceed, and policy cancels';
    const asked = input.kind === 'ask' && input.ask.kind !== 'decision' && input.ask.kind !== 'acknowledge';
    const canceled = state.action === 'cancel' && state.actions.some(isEndedCancel);
    if (state.action === this.#action || asked || canceled) return undefined;
    return `a person said ${before.action}, and ${state.action} took the place of ${this.#action}`;
  }

  #eventsBroken({ state, outbox }: Order): string | undefined {
    const { sequence, delivered, waiting } = state.events;
    if (waiting !== outbox.length) return `${waiting} events wait, ${outbox.length} are in the outbox`;
    if (sequence < this.#sequence || delivered < this.#delivered) return 'events were counted back';
    if (delivered + waiting > sequence) return `${delivered} delivered and ${waiting} waiting of ${sequence}`;
    let expected = sequence - outbox.length;
    for (const event of outbox) {
      expected += 1;
      if (event.sequence !== expected) return `event ${event.sequence} stands where ${expected} should`;
    }
    return undefined;
  }
}

/** Its first screening only reads. */
function mayCreate(command: Command): boolean {
  if (command.do !== 'begin') return false;
  return command.call.kind === 'catch-up' || command.call.kind === 'retry-screening';
}

function automaticCancels({ state }: Order): number {
  return state.actions.filter(({ kind, by }) => kind === 'cancel' && by === 'policy').length;
}

function isEndedCancel({ kind, finishedAt }: ActionRecord): boolean {
  return kind === 'cancel' && finishedAt !== undefined;
}

function isDecided(decision: OrderDecision): boolean {
  return decision !== 'pending' && decision !== 'error' && decision !== 'skipped';
}

/** Every effect has a number of its own, counted on. */
function numbersBroken({ effects, begun }: Order, commands: readonly Command[]): string | undefined {
  let last = 0;
  for (const { number } of effects) {
    if (number <= last || number > begun) return `effect ${number} stands after ${last} of ${begun}`;
    last = number;
  }
  for (const command of commands) {
    if (command.do !== 'begin') continue;
    if (!effects.some(({ number }) => number === command.number))
      return `${command.number} was begun unnoted`;
  }
  const kinds = commands.flatMap((command) => (command.do === 'begin' ? command.call.kind : []));
  if (kinds.some((kind) => LOCAL.includes(kind)) && kinds.some((kind) => STOPPED_BY_A_LOOK.includes(kind)))
    return `${kinds.join(' and ')} were begun together`;
  return undefined;
}

/** Whoever waits has an end that is bounded, or an effect that will end; an open order always has something to wait for. */
function waitsForEver(order: Order): string | undefined {
  const { effects, tickets, held, state } = order;
  if (order.refused !== undefined) return undefined;
  const over = order.closedTold === true && order.outbox.length === 0;
  if (effects.length === 0 && (!over || tickets.length > 0 || held.length > 0)) {
    return `nothing is under way, and the order is open (${state.phase})`;
  }
  if (tickets.length + held.length > 6) return `${tickets.length + held.length} wait for an answer`;
  for (const ticket of tickets) {
    if ('until' in ticket) {
      const looks = effects.some(({ effect }) => effect.kind === 'look');
      if (!looks && !ringsBy(order, ticket.until))
        return `ticket ${ticket.number} has no timer at ${ticket.until}`;
    } else if (
      !effects.some(
        ({ effect }) => CREATES.includes(effect.kind) || effect.kind === 'policy' || effect.kind === 'pause',
      )
    ) {
      return `ticket ${ticket.number} waits for an answer that nobody makes`;
    }
  }
  return undefined;
}

function ringsBy({ effects }: Order, at: string): boolean {
  for (const { effect } of effects) if (effect.kind === 'timer' && effect.at <= at) return true;
  return false;
}
