/** What holds after every step of every life. */
import type { ActionRecord } from '../../../src/contract/order/state.ts';
import type { AttentionCode } from '../../../src/contract/words.ts';
import type { Command, Input, Order } from '../../../src/order/order.ts';
import { settlePhase } from '../../../src/order/record.ts';
import { cancelAsked, transactionOf } from '../../../src/order/transactions.ts';
import { isDecided } from '../../books/books.ts';
import { missingWork } from './missing-work.ts';

/** What an order was before a step. */
type Before = ReturnType<typeof snapshotOf>;

export function snapshotOf(order: Order) {
  const { state, now } = order;
  const { decision, action, attempts, events, phase } = state;
  return {
    now,
    decision,
    action,
    attempts: attempts.length,
    sequence: events.sequence,
    delivered: events.delivered,
    override: phase === 'declined' ? undefined : attempts.at(-1)?.override,
    automatic: automaticCancels(order),
  };
}

/** @param input absent: the checkout. @returns what is wrong after a step, in words */
export function brokenBy(
  before: Before,
  order: Order,
  commands: readonly Command[],
  input?: Input,
): string | undefined {
  const { state } = order;
  if (order.now < before.now) return `time went back from ${before.now} to ${order.now}`;
  if (state.attempts.length === before.attempts && isDecided(before.decision) && !isDecided(state.decision)) {
    return `the decision ${before.decision} was replaced by ${state.decision}`;
  }
  if (state.adopted !== undefined && commands.some(mayCreate)) return 'an adopted order is screened';
  const creates = order.running.filter(({ effect }) => effect.resource === 'create').length;
  if (creates > 1) return `${creates} creates are under way`;
  return (
    eventsBroken(before, order) ??
    numbersBroken(order, commands) ??
    waitsForEver(order) ??
    unsettled(order) ??
    contradictory(order) ??
    proceedsMeanwhile(before, order) ??
    missingWork(order) ??
    (input && overridden(before, order, input))
  );
}

/** What a person decided stands until they, the gateway, a cancel or another attempt change it. */
function overridden(before: Before, order: Order, input: Input): string | undefined {
  const { state } = order;
  if (before.override === undefined) return undefined;
  if (state.attempts.length > before.attempts) {
    return state.attempts.at(-1)?.override === undefined ? undefined : 'a new attempt begins overridden';
  }
  if (before.override.action === 'proceed' && automaticCancels(order) > before.automatic)
    return 'a person said proceed, and policy cancels';
  const asked = input.kind === 'request' && !HARMLESS.includes(input.request.kind);
  const canceled = state.action === 'cancel' && state.actions.some(isEndedCancel);
  if (state.action === before.action || asked || canceled) return undefined;
  return `a person said ${before.override.action}, and ${state.action} took the place of ${before.action}`;
}

function eventsBroken(before: Before, { state, outbox }: Order): string | undefined {
  const { sequence, delivered, waiting } = state.events;
  if (waiting !== outbox.length) return `${waiting} events wait, ${outbox.length} are in the outbox`;
  if (sequence < before.sequence || delivered < before.delivered) return 'events were counted back';
  if (delivered + waiting > sequence) return `${delivered} delivered and ${waiting} waiting of ${sequence}`;
  let expected = sequence - outbox.length;
  for (const event of outbox) {
    expected += 1;
    if (event.sequence !== expected) return `event ${event.sequence} stands where ${expected} should`;
  }
  return undefined;
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

/** While a cancel of the newest transaction is under way, only a person says `proceed`. */
function proceedsMeanwhile(before: Before, { state }: Order): string | undefined {
  const isNew = state.action === 'proceed' && before.action !== 'proceed';
  return isNew && cancelAsked(state) && state.attempts.at(-1)?.override === undefined
    ? 'the order proceeds while its cancel is under way'
    : undefined;
}

function ringsBy({ running }: Order, at: string): boolean {
  return running.some(({ effect: { call } }) => call.kind === 'timer' && call.at <= at);
}
