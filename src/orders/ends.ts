/** What the end of an effect means to an order. */

import type {
  LookUpOutcome,
  PortalOutcome,
  ScreeningOutcome,
  StatusOutcome,
  Timed,
} from './activity-contract.ts';
import { advance, attend, emit, emitAnswer } from './advance.ts';
import { answerCheckout, applyFirstScreening, brokeDown } from './answer-checkout.ts';
import { applyAdoption, applyReading } from './apply-reading.ts';
import { applyScreening, HIDDEN, noteFingerprint } from './apply-screening.ts';
import { actionCause, clear, noteAttention, raiseWrongKey } from './attention.ts';
import { screensAgain } from './begin.ts';
import { takeHint } from './deadlines.ts';
import { applyGatewaySent } from './gateway.ts';
import type { Effect, EffectResult, End, Order, Refusal, Running } from './order.ts';
import { screenAgain } from './pass-deadline.ts';
import { actionNumbered, applyPortalOutcome } from './portal.ts';
import { attemptNumbered, currentAttempt } from './record.ts';
import { isAwaited, noneUnseen, recordFound, recordLate } from './record-screening.ts';
import { transactionOf } from './transactions.ts';
import type { Instant, ReadingSource } from './words.ts';

/** Takes in how an effect ended. One that was stopped and isn't waited for is unknown by now: its end means nothing. */
export function endEffect(order: Order, number: number, end: End): void {
  const running = order.effects.find((one) => one.number === number);
  if (running === undefined) return;
  order.effects = order.effects.filter((one) => one !== running);
  const { effect, since } = running;
  const told = end.how === 'done' && 'at' in end.result ? end.result.at : undefined;
  const at = effect.kind === 'timer' ? effect.at : told;
  const moment = at !== undefined && at > since ? at : since;
  // What was looked at before a deadline still counts when the answer came after it.
  if (effect.kind !== 'look') advance(order, moment);
  else if (moment > order.now) order.now = moment;
  if (end.how === 'done') done(order, running, end.result);
  else notDone(order, running, end);
}

function done(order: Order, running: Running, result: EffectResult): void {
  const { state, now } = order;
  const { effect } = running;
  switch (result.kind) {
    case 'first-screening':
      order.rules = result.rules;
      if (state.adopted === undefined)
        emitAnswer(order, applyFirstScreening(state, result, now), result.again);
      else emit(order, applyAdoption(state, state.adopted, result, now));
      return;
    case 'policy':
      order.rules = result.rules;
      emit(order, applyFirstScreening(state, { ...result, outcome: brokeDown(state.startedAt) }, now));
      return;
    case 'retry-screening':
      noteFingerprint(currentAttempt(state), result.outcome);
      retried(order, result.outcome, result.afterReset);
      return;
    case 'catch-up':
      if (effect.kind === 'catch-up') noteFingerprint(attemptNumbered(state, effect.attempt), result.outcome);
      caughtUp(order, effect, result.outcome);
      return;
    case 'look':
      endLook(order, running, result);
      return;
    case 'read':
      if (effect.kind !== 'read') return;
      if (result.outcome.kind !== 'forbidden') delete order.readAgain;
      applyFresh(order, running, result, effect.source);
      return;
    case 'poll':
      applyFresh(order, running, result, 'poll');
      return;
    case 'look-up':
      if (effect.kind === 'look-up') lookedUp(order, effect.attempt, result);
      return;
    case 'gateway':
      if (effect.kind === 'gateway') emit(order, applyGatewaySent(state, effect, result.outcome, now));
      return;
    case 'portal':
      if (effect.kind === 'portal') performed(order, effect.action, result.outcome);
      return;
    case 'deliver':
      if (effect.kind === 'deliver') delivered(order, effect.upTo, true);
      return;
    case 'forget-card':
      forgotten(order, effect);
      return;
    case 'pause':
      if (effect.kind === 'pause') order.paused = order.paused.filter((key) => key !== effect.paused);
      return;
    case 'timer':
      return;
  }
}

/** An activity that failed for good is begun again after a pause, unless its end can be told. */
function notDone(order: Order, { effect, since }: Running, end: Exclude<End, { how: 'done' }>): void {
  // A worker that lacks the settings for a while refuses no order that goes on already.
  if (end.how === 'failed' && end.refused !== undefined && order.state.policy === undefined) {
    order.refused = end.refused;
    return;
  }
  // A person's completing or failing it in Temporal says nothing of the events: they are sent after a pause.
  if (end.how === 'failed' && end.byHand && (effect.kind === 'deliver' || effect.kind === 'forget-card')) {
    order.paused.push(effect.key);
    return;
  }
  switch (effect.kind) {
    case 'first-screening':
      if (order.state.adopted !== undefined) order.refused = NOT_READ;
      else order.brokeDown = true;
      return;
    case 'retry-screening':
      retried(order, brokeDown(since));
      return;
    case 'look':
      readOn(order, clearLook(order));
      return;
    case 'portal':
      interrupted(order, effect.action, end.how);
      return;
    case 'deliver':
      delivered(order, effect.upTo, false);
      return;
    case 'forget-card':
      // When it can't be told, the stash forgets by itself once its time is up.
      forgotten(order, effect);
      return;
    default:
      if (end.how === 'failed') order.paused.push(effect.key);
  }
}

function retried(order: Order, outcome: ScreeningOutcome, afterReset?: true): void {
  const { state, now } = order;
  if (state.policy === undefined) return;
  emitAnswer(order, answerCheckout(state, state.policy, outcome, now), afterReset);
}

function caughtUp(order: Order, effect: Effect, outcome: ScreeningOutcome): void {
  const { state, now } = order;
  if (effect.kind !== 'catch-up' || state.policy === undefined) return;
  const attempt = attemptNumbered(state, effect.attempt);
  const source = effect.rescreen ? 'rescreen' : 'catch-up';
  if (attempt !== currentAttempt(state)) recordLate(state, state.policy, attempt, outcome, now);
  else emit(order, applyScreening(state, state.policy, outcome, { source, now }));
}

/** What is found while the order has no decision is its decision, whoever looked; otherwise it is only recorded. */
function lookedUp(order: Order, number: number, { outcome, afterReset }: Timed<LookUpOutcome>): void {
  const { state, now } = order;
  const { policy } = state;
  const attempt = attemptNumbered(state, number);
  const cause = { operation: 'lookup' } as const;
  if (outcome.kind === 'forbidden') {
    emit(order, raiseWrongKey(state, cause, now));
    return;
  }
  clear(state, { codes: ['wrong-key'], ...cause });
  if (outcome.kind === 'hidden' && attempt.unseen !== undefined) {
    attempt.unseen.hidden = true;
    attend(order, 'transaction-unseen', HIDDEN, { operation: 'create' });
  }
  if (outcome.kind === 'none') noneUnseen(state, attempt);
  if (outcome.kind !== 'found' || policy === undefined) return;
  const sentFrom = afterReset ? state.startedAt : (attempt.unseen?.since ?? state.startedAt);
  const { transactionId, decision } = outcome;
  const seen = { transactionId, found: true, sentFrom, sentUntil: now };
  if (decision === undefined) {
    recordFound(state, policy, attempt, { kind: 'unreadable', reason: 'unknown-decision', seen }, now);
  } else {
    const answered = { ...outcome, ...seen, kind: 'answered' as const, decision };
    if (isAwaited(state, attempt, decision))
      emit(order, applyScreening(state, policy, answered, { source: 'catch-up', now }));
    else recordFound(state, policy, attempt, answered, now);
  }
}

/** A look serves everything that asked for one. */
function endLook(order: Order, running: Running, result: Extract<EffectResult, { kind: 'look' }>): void {
  const { state, look, now } = order;
  if (look.cancellation) attend(order, 'cancellation-requested', CANCELLATION);
  if (look.refused !== undefined) attend(order, 'message-refused', `A signal was ignored: ${look.refused}.`);
  const again = look.recheck === true && screensAgain(state);
  const source = clearLook(order);
  if (again) screenAgain(state, now);
  const { outcome } = result;
  if (outcome === undefined) return;
  if (outcome.kind === 'unanswered' || outcome.kind === 'forbidden') readOn(order, source);
  // An answer that can't be used leaves a durable read that is under way as it is.
  if (outcome.kind === 'read') delete order.readAgain;
  applyFresh(order, running, { ...result, outcome }, source);
}

/** @returns on whose behalf the look was */
function clearLook(order: Order): ReadingSource {
  const { look, state, now } = order;
  const source = look.recheck ? 'operator' : state.hints.unread ? 'webhook' : (look.because ?? 'operator');
  if (state.hints.unread && state.hints.until === undefined && state.phase !== 'screening')
    takeHint(state, now);
  order.look = {};
  return source;
}

function readOn(order: Order, source: ReadingSource): void {
  const { phase, endedAt } = order.state;
  if (phase !== 'screening' && phase !== 'canceled' && endedAt === undefined) order.readAgain = source;
}

/**
 * A reading of an earlier attempt's transaction comes too late to say anything about the order. One that was begun before the
 * last one ended may be older than that: it only says that there is news.
 */
function applyFresh(
  order: Order,
  { transactionId }: Running,
  { outcome, began }: { outcome: StatusOutcome; began: Instant },
  source: ReadingSource,
): void {
  const { state, now } = order;
  const newest = transactionOf(state, currentAttempt(state));
  if (transactionId !== newest?.id || state.phase === 'screening') return;
  if (outcome.kind === 'read') {
    if (order.readAt !== undefined && began < order.readAt) {
      order.look.because = source;
      return;
    }
    order.readAt = now;
  }
  emit(order, applyReading(state, outcome, source, now));
}

function performed(order: Order, number: number, outcome: PortalOutcome): void {
  const { state, now } = order;
  const record = actionNumbered(state, number);
  if (outcome.kind === 'forbidden') {
    if (outcome.maybeDone) record.maybeSent = true;
    emit(order, raiseWrongKey(state, actionCause(record), now));
    if (record.stop === undefined) return;
    // A wrong key says that nothing was sent now, not what became of the try before.
    performed(order, number, { kind: record.maybeSent === true ? 'unconfirmed' : 'not-sent' });
    return;
  }
  delete order.fields[number];
  emit(order, applyPortalOutcome(state, record, outcome, now));
}

/** One that was stopped may have been sent, and so may one that failed for good: that one is tried again, unless it must not be sent twice. */
function interrupted(order: Order, number: number, how: 'failed' | 'cut-off'): void {
  const record = actionNumbered(order.state, number);
  if (how === 'cut-off' || record.stop !== undefined || record.kind === 'chargeback') {
    performed(order, number, { kind: 'unconfirmed' });
  } else {
    record.maybeSent = true;
    order.paused.push(`portal:${number}`);
  }
}

function delivered(order: Order, upTo: number, inTime: boolean): void {
  const { state } = order;
  const count = order.outbox.filter(({ sequence }) => sequence <= upTo).length;
  order.outbox.splice(0, count);
  state.events.waiting = order.outbox.length;
  if (inTime) {
    state.events.delivered += count;
    clear(state, { codes: ['events-undelivered'] });
  } else noteAttention(state, 'events-undelivered', UNDELIVERED, { operation: 'events' }, order.now);
}

function forgotten({ state }: Order, effect: Effect): void {
  if (effect.kind === 'forget-card') attemptNumbered(state, effect.attempt).cardForgotten = true;
}

/** An order that can't be read at its adoption isn't taken over: to go on without a decision would be to create one. */
const NOT_READ: Refusal = {
  code: 'screening-service-unavailable',
  message: 'The status could not be read, so nothing was adopted: send the same request again.',
};
const CANCELLATION =
  'Somebody asked Temporal to cancel the workflow. That is no cancel with the service: use the cancel action.';
const UNDELIVERED =
  'Events could not be delivered for three days and were given up: redeliver them, or have the receiver read the orders.';
