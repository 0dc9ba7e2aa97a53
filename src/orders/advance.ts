/** What passes by itself: time, its deadlines, and what follows from where the order is. */
import { giveUpScreening } from './apply-screening.ts';
import { actionBound, boundOf, type Deadline, endSpacing, nextDeadline } from './deadlines.ts';
import { autoCancelDue } from './decide.ts';
import type { OrderEventType } from './messages.ts';
import type { Order } from './order.ts';
import { aimCancel, applyPortalOutcome, concernsNewest, isCanceled, queueAction } from './portal.ts';
import { namedTransaction } from './portal-requests.ts';
import {
  beyondAnswer,
  currentAttempt,
  isPlainPass,
  nextEvent,
  overrideOf,
  raiseAttention,
  setAction,
  setPhase,
  settle,
} from './record.ts';
import type { ActionRecord, AttentionCode, DeadlineKind, OrderState } from './state.ts';
import { callerWaits } from './tickets.ts';
import { mustLookUp, windowOf, windowOpen } from './transactions.ts';
import { createUnderWay, isDone, wantsLook } from './wanted.ts';
import { type Instant, instant, millis } from './words.ts';

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
  const own = state.ended ? undefined : nextDeadline(state);
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
  const after = passDeadline(state, kind, order.now);
  emit(order, after.events);
  if (after.cancel) queueCancel(order);
  if (after.read) order.look.because = 'recheck';
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
  if (state.phase === 'canceled' || state.ended) forgetReads(order);
  if (order.closedTold !== true && isDone(order)) {
    order.closedTold = true;
    if (!isPlainPass(state)) emit(order, ['order.closed']);
  }
}

function queueCancel(order: Order): void {
  const record = queueAction(order.state, { kind: 'cancel' }, 'policy', order.now);
  order.fields[record.number] = { kind: 'cancel' };
}

/** A cancel for which nothing has to be sent is done, or too late, as soon as that can be told. */
function settleCancels(order: Order): void {
  const { state, fields } = order;
  for (const record of state.actions) {
    const asked = fields[record.number];
    if (record.kind !== 'cancel' || record.status !== 'queued' || asked === undefined) continue;
    const named = namedTransaction(asked);
    if (named === undefined || concernsNewest(state, record)) {
      if (createUnderWay(order) || (named === undefined && mustLookUp(currentAttempt(state)))) continue;
      aimCancel(state, record, asked);
    }
    const kind = withoutSending(order, record);
    if (kind === undefined) continue;
    delete fields[record.number];
    emit(order, applyPortalOutcome(state, record, { kind }, order.now));
  }
}

function withoutSending(
  { state, now }: Order,
  { transactionId }: { transactionId?: string },
): 'done' | 'too-late' | undefined {
  if (transactionId === undefined) return 'done';
  const attempt = state.attempts.find((one) => one.transactionIds.includes(transactionId));
  if (attempt === undefined) return 'done';
  // A transaction from before a rescreening isn't canceled with the newest one.
  if (isCanceled(state, attempt) && transactionId === attempt.transactionId) return 'done';
  const cancelBy = windowOf(attempt, transactionId);
  if (cancelBy === undefined || state.policy === undefined) return undefined;
  return windowOpen(cancelBy, state.policy.cancelWindowMs, millis(now)) ? undefined : 'too-late';
}

function forgetReads(order: Order): void {
  delete order.readAgain;
  order.look = order.look.cancellation && !order.state.ended ? { cancellation: true } : {};
  order.state.hints.unread = false;
}

/** Raises attention, and announces it when it is new. */
export function attend(order: Order, ...[code, words]: [Parameters<typeof raiseAttention>[1], string]): void {
  emit(order, raiseAttention(order.state, code, words, order.now));
}

// What follows when a deadline passes: `pass` above does the reads and cancels that it asks for.

export interface AfterDeadline {
  events: OrderEventType[];
  /** Read the status now. */
  read?: boolean;
  /** Cancel with the service, by policy. */
  cancel?: boolean;
}

/** Records that a deadline passed. @returns what is to be done */
export function passDeadline(state: OrderState, kind: DeadlineKind, now: Instant): AfterDeadline {
  const { policy } = state;
  const after: AfterDeadline = { events: [] };
  if (policy === undefined) return after;
  const attend = (code: AttentionCode, words: string): void => {
    after.events.push(...raiseAttention(state, code, words, now));
  };
  if (kind !== 'hint-spacing' && kind !== 'rescreen') state.passed.push(kind);

  switch (kind) {
    case 'screening-deadline':
      after.events.push(...giveUpScreening(state, policy, now));
      break;
    case 'rescreen':
      beginRescreen(state);
      break;
    case 'gateway-late':
      attend('gateway-late', 'The order service has not reported the payment gateway’s result.');
      break;
    case 'review-lead':
      if (overrideOf(state) !== undefined) break;
      attend(
        'review-unresolved',
        `The review is unresolved shortly before the cancel window closes${by(state)}.`,
      );
      if (policy.onUnresolvedReview === 'cancel' && !policy.passive && !wasDueAtAdoption(state)) {
        setAction(state, 'cancel');
        // One that is under way already would be told of twice.
        after.cancel = !state.cancelAsked;
      }
      break;
    case 'review-limit':
      if (overrideOf(state) === undefined) {
        setAction(state, 'hold');
        attend('review-limit', 'The review was never resolved: decide by hand.');
      }
      close(state, now);
      break;
    case 'recheck':
      after.read = true;
      break;
    case 'cancel-reminder':
      if (cancelOverdue(state, now))
        attend('cancel-due', `The order is to be canceled and still is not${by(state)}.`);
      break;
    case 'hint-spacing':
    case 'answer-late':
    case 'action-over':
      break;
    case 'gateway-over':
    case 'retry-over':
    case 'window-closes':
    case 'nothing-left':
      close(state, now);
      break;
  }
  settle(state, now);
  return after;
}

/** Screens an order again whose decision is `error` to the end, because an operator asked for a recheck. */
export function screenAgain(state: OrderState, now: Instant): void {
  beginRescreen(state);
  currentAttempt(state).screenUntil = instant(millis(now) + (state.policy?.screeningDeadlineMs ?? 0));
  state.passed = state.passed.filter((kind) => kind !== 'screening-deadline');
  settle(state, now);
}

/** Screens the order again: after the pause of `rescreenOnError`, or because an operator asked. */
function beginRescreen(state: OrderState): void {
  const attempt = currentAttempt(state);
  attempt.rescreens += 1;
  attempt.rescreenDue = true;
  delete attempt.screeningOver;
}

/** What was due already when the order was adopted is left to a person. */
function wasDueAtAdoption(state: OrderState): boolean {
  const { cancelBy, readings } = currentAttempt(state);
  const adoption = readings.find(({ source }) => source === 'adoption');
  if (adoption === undefined || cancelBy === undefined || state.policy === undefined) return false;
  return millis(cancelBy) - state.policy.reviewLeadTimeMs <= millis(adoption.at);
}

/** Ends the order; one that is canceled stays so to the end. */
function close(state: OrderState, now: Instant): void {
  state.ended = true;
  if (state.phase !== 'canceled') setPhase(state, 'closed', now);
}

/** @returns whether to remind: not where a cancel was asked for since the reminder was due, nor where the window is closed */
function cancelOverdue(state: OrderState, now: Instant): boolean {
  const { cancelBy } = currentAttempt(state);
  const { policy } = state;
  if (cancelBy === undefined || policy === undefined) return false;
  if (!windowOpen(cancelBy, policy.cancelWindowMs, millis(now))) return false;
  const due = millis(cancelBy) - policy.reviewLeadTimeMs;
  return !state.actions.some((one) => one.kind === 'cancel' && millis(one.requestedAt) >= due);
}

function by(state: OrderState): string {
  const { cancelBy } = currentAttempt(state);
  return cancelBy === undefined ? '' : ` (${cancelBy})`;
}
