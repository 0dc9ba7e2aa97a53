/** What passes by itself: time, its deadlines, and what follows from where the order is. */

import type { PortalOutcome } from './activity-contract.ts';
import { HIDDEN } from './apply-screening.ts';
import { isSameCause, raiseAttention } from './attention.ts';
import {
  actionBound,
  boundOf,
  type Deadline,
  endSpacing,
  leftoversBound,
  nextDeadline,
} from './deadlines.ts';
import { autoCancelDue } from './decide.ts';
import { giveUpGateway } from './gateway.ts';
import type { OrderEventType } from './messages.ts';
import type { Order } from './order.ts';
import { passDeadline } from './pass-deadline.ts';
import {
  aimCancel,
  applyPortalOutcome,
  attemptFor,
  concernsNewest,
  isCanceled,
  queueAction,
} from './portal.ts';
import { namedTransaction } from './portal-requests.ts';
import { beyondAnswer, currentAttempt, isPlainPass, nextEvent } from './record.ts';
import type { ActionRecord, AttentionCause } from './state.ts';
import { callerWaits } from './tickets.ts';
import { mayBeSeen, transactionNamed, transactionOf, windowOpen } from './transactions.ts';
import { causeOf, createUnderWay, isDone, wanted, wantsLook } from './wanted.ts';
import { type AttentionCode, type Instant, millis } from './words.ts';

/** Puts events into the outbox, if there is a receiver that wants them. @param by whose they are, unless the service's or ours */
export function emit(order: Order, types: readonly OrderEventType[], by?: 'person'): void {
  const { state, outbox } = order;
  if (state.policy === undefined || state.policy.events === false) return;
  for (const type of types) outbox.push(nextEvent(state, type, order.now, by));
  state.events.waiting = outbox.length;
  // Each event tells where the order is.
  if (types.length > 0) delete currentAttempt(state).answeredOnly;
}

/** Puts the events of a checkout's answer into the outbox. @param unsure its caller may have been told something else */
export function emitAnswer(order: Order, types: readonly OrderEventType[], unsure = false): void {
  emit(order, beyondAnswer(order.state, types, !unsure && callerWaits(order)));
}

/** Nobody heard the answer to an attempt, and no event since has told what became of it: its decision is told now. */
export function emitUnheard(order: Order, number: number): void {
  const attempt = currentAttempt(order.state);
  if (attempt.number !== number || attempt.answeredOnly !== true) return;
  emit(order, ['order.decided', ...(order.closedTold === true ? (['order.closed'] as const) : [])]);
}

/**
 * Lets time pass until `at`, and with it every deadline on the way, each at its own moment.
 * @returns whether a deadline passed
 */
export function advance(order: Order, at: Instant): boolean {
  let passed = false;
  for (let due = nextDue(order); due !== undefined && due.at <= at; due = nextDue(order)) {
    if (due.at > order.now) order.now = due.at;
    pass(order, due);
    passed = true;
  }
  if (at > order.now) order.now = at;
  return passed;
}

/** What comes next of all that the order has a timer for. */
function nextDue({ state }: Order): Deadline | undefined {
  const { until } = state.hints;
  const spacing: Deadline | undefined = until === undefined ? undefined : { kind: 'hint-spacing', at: until };
  const own = state.endedAt === undefined ? nextDeadline(state) : leftoversBound(state);
  let first: Deadline | undefined;
  for (const one of [own, spacing, actionBound(state)]) {
    if (one !== undefined && (first === undefined || one.at < first.at)) first = one;
  }
  return first;
}

function pass(order: Order, { kind, at }: Deadline): void {
  const { state } = order;
  if (kind === 'hint-spacing') {
    endSpacing(state);
    return;
  }
  if (kind === 'action-over') {
    giveUpActions(order, at);
    return;
  }
  if (kind === 'leftovers-over') {
    giveUpLeftovers(order);
    return;
  }
  const after = passDeadline(state, kind, order.now);
  emit(order, after.events);
  if (after.cancel) queueCancel(order);
  if (after.read) order.look.because = 'recheck';
}

/** What an order that ended a day ago still owes the screening service stays undone: a person is told. */
function giveUpLeftovers(order: Order): void {
  const { state, now } = order;
  emit(order, giveUpGateway(state, now));
  for (const attempt of state.attempts) {
    const { unseen } = attempt;
    if (unseen === undefined || !mayBeSeen(attempt)) continue;
    unseen.hidden = true;
    attend(order, 'transaction-unseen', neverSeen(unseen.invoiceNumber), { operation: 'lookup' });
  }
}

function neverSeen(invoiceNumber: string): string {
  return `A create with invoice number ${invoiceNumber} may have left a transaction, and no lookup was answered for a day: look for it in the portal.`;
}

/** An action that was begun is stopped, and its end is waited for; one that was not is over. */
function giveUpActions(order: Order, at: Instant): void {
  const { state } = order;
  for (const record of state.actions) {
    const bound = boundOf(state, record);
    if (bound === undefined || bound > at) continue;
    if (record.status === 'running') stopAction(order, record, 'overdue');
    else {
      delete order.fields[record.number];
      const kind = record.kind === 'cancel' ? 'too-late' : 'not-sent';
      emit(order, applyPortalOutcome(state, record, { kind }, order.now));
    }
  }
}

/** Stops an action that was begun: its end is waited for, unless it only pauses after a failure. Then nobody knows. */
export function stopAction(order: Order, record: ActionRecord, why: NonNullable<ActionRecord['stop']>): void {
  const { state, effects, fields, now } = order;
  record.stop = why;
  if (effects.some(({ effect }) => effect.kind === 'portal' && effect.action === record.number)) return;
  delete fields[record.number];
  emit(order, applyPortalOutcome(state, record, { kind: 'unconfirmed' }, now));
}

/** What follows at once from where the order is, until nothing more does. */
export function followUp(order: Order): void {
  const { state } = order;
  if (order.refused !== undefined) return;
  for (let goesOn = true; goesOn; ) {
    if (autoCancelDue(state, millis(order.now))) queueCancel(order);
    settleCancels(order);
    // What was to be read before a deadline is read before it passes.
    goesOn = !wantsLook(order) && advance(order, order.now);
  }
  if (state.phase === 'canceled' || state.endedAt !== undefined) forgetReads(order);
  endWrongKeys(order);
  if (order.closedTold !== true && isDone(order)) {
    order.closedTold = true;
    if (!isPlainPass(state)) emit(order, ['order.closed']);
  }
}

/** A wrong key is a matter as long as the call that it stopped is still to be made. */
function endWrongKeys(order: Order): void {
  const { state } = order;
  if (!state.attention.some(({ code }) => code === 'wrong-key')) return;
  const made = wanted(order).map((effect) => causeOf(order, effect));
  state.attention = state.attention.filter(
    ({ code, cause }) =>
      code !== 'wrong-key' || made.some((one) => one !== undefined && isSameCause(one, cause)),
  );
}

/** Policy cancels the transaction that it has read about, and none that is found later. */
function queueCancel(order: Order): void {
  const { state, now } = order;
  const { id: transactionId } = transactionOf(state, currentAttempt(state)) ?? {};
  const cancel = { kind: 'cancel' as const, ...(transactionId !== undefined && { transactionId }) };
  const record = queueAction(state, cancel, 'policy', now);
  order.fields[record.number] = cancel;
}

/** A cancel for which nothing has to be sent is done, or too late, as soon as that can be told. */
function settleCancels(order: Order): void {
  const { state, fields } = order;
  for (const record of state.actions) {
    const asked = fields[record.number];
    if (record.kind !== 'cancel' || record.status !== 'queued' || asked === undefined) continue;
    const named = namedTransaction(asked);
    if (named === undefined || concernsNewest(state, record)) {
      if (createUnderWay(order) || (named === undefined && mayBeSeen(currentAttempt(state)))) continue;
      aimCancel(state, record, asked);
    }
    const outcome = withoutSending(order, record);
    if (outcome === undefined) continue;
    delete fields[record.number];
    emit(order, applyPortalOutcome(state, record, outcome, order.now));
  }
}

function withoutSending(
  { state, now }: Order,
  { transactionId }: { transactionId?: string },
): Exclude<PortalOutcome, { kind: 'forbidden' }> | undefined {
  if (transactionId === undefined) {
    // What can't be seen can't be canceled either.
    const { unseen } = currentAttempt(state);
    return unseen === undefined ? { kind: 'done' } : { kind: 'refused', message: HIDDEN };
  }
  const transaction = transactionNamed(state, transactionId);
  const attempt = attemptFor(state, transactionId);
  if (transaction === undefined || attempt === undefined) return { kind: 'done' };
  // A transaction from before a rescreening isn't canceled with the newest one.
  if (isCanceled(state, attempt) && transaction === transactionOf(state, attempt)) return { kind: 'done' };
  if (state.policy === undefined) return undefined;
  const open = windowOpen(transaction.cancelBy, state.policy.cancelWindowMs, millis(now));
  return open ? undefined : { kind: 'too-late' };
}

function forgetReads(order: Order): void {
  delete order.readAgain;
  order.look = order.look.cancellation && order.state.endedAt === undefined ? { cancellation: true } : {};
  order.state.hints.unread = false;
}

/** Raises attention, and announces it when it is new. */
export function attend(order: Order, code: AttentionCode, words: string, cause: AttentionCause = {}): void {
  emit(order, raiseAttention(order.state, code, words, cause, order.now));
}
