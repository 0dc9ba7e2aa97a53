/** What holds after every step of every life. */
import type { ActionRecord, Override } from '../../../src/contract/order/state.ts';
import type { Action, AttentionCode, OrderDecision } from '../../../src/contract/words.ts';
import type { Command, Input, Order } from '../../../src/order/order.ts';
import { settlePhase } from '../../../src/order/record.ts';
import { transactionOf } from '../../../src/order/transactions.ts';
import type { World } from '../world.ts';
import { inOneLine } from './in-one-line.ts';
import { missingWork } from './missing-work.ts';

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

  /** After the checkout. */
  checkedOut(order: Order, commands: readonly Command[]): void {
    this.before(order);
    const fault = this.#broken(order, commands);
    if (fault !== undefined) this.#world.fault(fault);
  }

  after(order: Order, input: Input, commands: readonly Command[]): void {
    this.inputs += 1;
    this.#world.tell?.(inOneLine(order, input, commands));
    const fault = this.#broken(order, commands) ?? this.#overridden(order, input);
    if (fault !== undefined) this.#world.fault(fault);
  }

  #broken(order: Order, commands: readonly Command[]): string | undefined {
    const { state } = order;
    if (order.now < this.#now) return `time went back from ${this.#now} to ${order.now}`;
    if (state.attempts.length === this.#attempts && isDecided(this.#decision) && !isDecided(state.decision)) {
      return `the decision ${this.#decision} was replaced by ${state.decision}`;
    }
    if (state.adopted !== undefined && commands.some(mayCreate)) return 'an adopted order is screened';
    const creates = order.running.filter(({ effect }) => effect.resource === 'create').length;
    if (creates > 1) return `${creates} creates are under way`;
    return (
      this.#eventsBroken(order) ??
      numbersBroken(order, commands) ??
      waitsForEver(order) ??
      unsettled(order) ??
      contradictory(order) ??
      missingWork(order)
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
    const asked = input.kind === 'request' && !HARMLESS.includes(input.request.kind);
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

const HARMLESS: readonly string[] = ['decision', 'acknowledge', 'note', 'assign', 'snooze'];

/** Its first screening only reads. */
function mayCreate(command: Command): boolean {
  if (command.do !== 'start') return false;
  const { kind } = command.running.effect.call;
  return kind === 'catch-up' || kind === 'retry-screening';
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
function numbersBroken({ running, started }: Order, commands: readonly Command[]): string | undefined {
  let last = 0;
  for (const { id } of running) {
    if (id <= last || id > started) return `effect ${id} stands after ${last} of ${started}`;
    last = id;
  }
  for (const command of commands) {
    if (command.do === 'start' && !running.includes(command.running))
      return `${command.running.id} was started unnoted`;
  }
  return undefined;
}

/** A caller waits for a bounded time; an open order always has something to wait for. */
function waitsForEver(order: Order): string | undefined {
  const { running, replies, state } = order;
  if (running.length === 0 && (order.over !== true || replies.length > 0) && order.continues !== true)
    return `nothing is under way, and the order is open (${state.phase})`;
  const { snoozedUntil } = state;
  if (snoozedUntil !== undefined && !ringsBy(order, snoozedUntil))
    return `nothing ends the snooze at ${snoozedUntil}`;
  if (replies.length > 6) return `${replies.length} wait for a portal action`;
  for (const { until } of replies)
    if (!ringsBy(order, until)) return `a caller waits without a timer at ${until}`;
  return undefined;
}

/** The phase follows from the rest of the state, so no later deadline or message changes it for another one's cause. */
function unsettled({ state, now }: Order): string | undefined {
  const settled = structuredClone(state);
  settlePhase(settled, now);
  return settled.phase === state.phase
    ? undefined
    : `the phase is ${state.phase}, and should be ${settled.phase}`;
}

/** The order, its newest attempt and that attempt's transaction have one decision, and no attention to its absence. */
function contradictory({ state }: Order): string | undefined {
  const { decision, attempts, attention, phase } = state;
  const newest = attempts.at(-1);
  const transaction = newest && transactionOf(state, newest)?.decision;
  if (newest?.decision !== decision) return `the attempt is ${newest?.decision}, and the order ${decision}`;
  if (transaction !== undefined && isDecided(transaction) && transaction !== decision)
    return `the transaction is ${transaction}, and the order ${decision}`;
  const stands = (...codes: AttentionCode[]) => attention.some(({ code }) => codes.includes(code));
  if (isDecided(decision) && stands('no-decision')) return `attention to no decision beside ${decision}`;
  if (decision !== 'review' && phase !== 'closed' && stands('review-unresolved', 'review-limit'))
    return `attention to a review that is ${decision}`;
  return undefined;
}

function ringsBy({ running }: Order, at: string): boolean {
  return running.some(({ effect: { call } }) => call.kind === 'timer' && call.at <= at);
}
