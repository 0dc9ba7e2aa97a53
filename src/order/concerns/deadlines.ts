/**
 * Deadlines: applies time-based changes. On day 5 the cancel window closes, and with it an order that is not in review. Before that an
 * unresolved review raises attention or is canceled, a pass is read once more, and the operator is reminded of a cancel. `../deadlines.ts`
 * computes when.
 */
import type { OrderState } from '../../contract/order/state.ts';
import {
  type AttentionCode,
  type DeadlineKind,
  type Instant,
  millis,
  type OrderEventType,
} from '../../contract/words.ts';
import { raiseAttention } from '../attention.ts';
import {
  actionBounds,
  type Deadline,
  first,
  leftoversBound,
  nextDeadline,
  RETRY_AFTER_MS,
} from '../deadlines.ts';
import { announce } from '../events.ts';
import type { Concern, Order, RequiredEffect } from '../order.ts';
import { beginRescreen, currentAttempt, overrideOf, setAction, setPhase, settlePhase } from '../record.ts';
import { giveUpScreening } from '../screening/apply-screening.ts';
import { cancelByOf, mayBeSeen, windowOpen } from '../transactions.ts';
import { DEADLINES } from '../view/describe.ts';
import { giveUpGateway } from './gateway.ts';
import { giveUpActions, queueCancel } from './portal.ts';

export const deadlines: Concern = {
  name: 'deadlines',
  keepsOpen: false,

  desired: (order) =>
    Object.entries(timersOf(order)).flatMap(([name, deadline]) =>
      deadline !== undefined && deadline.at > order.now ? [timer(name, deadline)] : [],
    ),

  // `passTime` has already applied the deadline.
  ended: () => [],

  passTime(order, until) {
    let passed = false;
    for (let due = nextDue(order); due !== undefined && due.at <= until; due = nextDue(order)) {
      if (due.at > order.now) order.now = due.at;
      pass(order, due);
      passed = true;
    }
    return passed;
  },
};

/** Returns one timer per kind, so that a portal action does not cancel the timer of the cancel window. */
function timersOf(order: Order): Record<string, Deadline | undefined> {
  const { state, replies, retryAt } = order;
  return {
    deadline: state.endedAt === undefined ? nextDeadline(state) : leftoversBound(state),
    action: first(actionBounds(state)),
    reply: first(replies.map(({ until }) => ({ kind: 'reply-due', at: until }))),
    retry: first(Object.values(retryAt).map((at) => ({ kind: 'retry-due', at }))),
  };
}

/** Returns the next deadline that changes the order; a reply changes nothing. */
function nextDue(order: Order): Deadline | undefined {
  const { reply: _reply, ...others } = timersOf(order);
  return first(Object.values(others).filter((one) => one !== undefined));
}

function timer(name: string, { kind, at }: Deadline): RequiredEffect {
  return {
    key: `${name}:${at}`,
    whenObsolete: 'drop',
    call: {
      kind: 'timer',
      at,
      summary: DEADLINES[kind],
      // A failure carries no time, and the order's newest moment may be days old.
      ...(kind === 'retry-due' && { leastMs: RETRY_AFTER_MS }),
    },
  };
}

function pass(order: Order, { kind, at }: Deadline): void {
  switch (kind) {
    case 'action-over':
      announce(order, giveUpActions(order, at));
      return;
    case 'leftovers-over':
      announce(order, [...giveUpGateway(order.state, order.now), ...giveUpLookups(order)]);
      return;
    case 'retry-due':
      for (const [key, due] of Object.entries(order.retryAt)) if (due <= at) delete order.retryAt[key];
      return;
    default: {
      const events = passed(order, kind);
      settlePhase(order.state, order.now);
      announce(order, events);
    }
  }
}

function passed(order: Order, kind: DeadlineKind): OrderEventType[] {
  const { state, now } = order;
  const attend = (code: AttentionCode, words: string) => raiseAttention(state, code, words, {}, now);
  if (!REPEATED.includes(kind)) state.passed.push(kind);
  switch (kind) {
    case 'screening-deadline':
      return giveUpScreening(state, now);
    case 'rescreen':
      beginRescreen(state);
      return [];
    case 'snooze-over':
      delete state.snoozedUntil;
      return [];
    case 'gateway-late':
      return attend('gateway-late', 'The order service has not reported the payment gateway’s result.');
    case 'review-lead':
      return overrideOf(state) === undefined ? reviewUnresolved(order) : [];
    case 'review-limit': {
      const isOpen = overrideOf(state) === undefined;
      if (isOpen) setAction(state, 'hold');
      const events = isOpen
        ? attend('review-limit', 'The review limit passed without a resolution: decide manually.')
        : [];
      close(state, now);
      return events;
    }
    case 'cancel-reminder':
      return isCancelOverdue(state, now)
        ? attend('cancel-due', `The order must be canceled and is not canceled yet${by(state)}.`)
        : [];
    case 'gateway-over':
    case 'retry-over':
    case 'window-closes':
    case 'nothing-left':
      close(state, now);
      return [];
    default:
      return [];
  }
}

/** Deadlines that may be due several times. */
const REPEATED: readonly DeadlineKind[] = ['rescreen', 'snooze-over'];

function reviewUnresolved(order: Order): OrderEventType[] {
  const { state, now } = order;
  const words = `The review is unresolved shortly before the cancel window closes${by(state)}.`;
  const events = raiseAttention(state, 'review-unresolved', words, {}, now);
  const { onUnresolvedReview, passive } = state.policy;
  if (onUnresolvedReview === 'cancel' && !passive && !isDueAtAdoption(state)) {
    setAction(state, 'cancel');
    // An event for a running cancel would be sent twice.
    if (!state.cancelAsked) queueCancel(order);
  }
  return events;
}

/** Returns whether the review was already due when the order was adopted: such a review is left to an operator. */
function isDueAtAdoption(state: OrderState): boolean {
  const attempt = currentAttempt(state);
  const cancelBy = cancelByOf(state, attempt);
  const adoption = attempt.readings.find(({ source }) => source === 'adoption');
  if (adoption === undefined || cancelBy === undefined) return false;
  return millis(cancelBy) - state.policy.reviewLeadTimeMs <= millis(adoption.at);
}

/** Ends the order. A canceled order keeps its phase. */
function close(state: OrderState, now: Instant): void {
  state.endedAt ??= now;
  delete state.snoozedUntil;
  if (state.phase !== 'canceled') setPhase(state, 'closed', now);
}

/** @returns whether to remind: not if a cancel was requested after the reminder was due, nor if the window is closed */
function isCancelOverdue(state: OrderState, now: Instant): boolean {
  const cancelBy = cancelByOf(state, currentAttempt(state));
  const { cancelWindowMs, reviewLeadTimeMs } = state.policy;
  if (cancelBy === undefined || !windowOpen(cancelBy, cancelWindowMs, millis(now))) return false;
  const due = millis(cancelBy) - reviewLeadTimeMs;
  return !state.actions.some((one) => one.kind === 'cancel' && millis(one.requestedAt) >= due);
}

function by(state: OrderState): string {
  const cancelBy = cancelByOf(state, currentAttempt(state));
  return cancelBy === undefined ? '' : ` (${cancelBy})`;
}

function giveUpLookups({ state, now }: Order): OrderEventType[] {
  return state.attempts.flatMap((attempt) => {
    const { unseen } = attempt;
    if (unseen === undefined || !mayBeSeen(attempt)) return [];
    unseen.hidden = true;
    const words = `A create with invoice number ${unseen.invoiceNumber} may have created a transaction, and every lookup failed for a day: look for it in the portal.`;
    return raiseAttention(state, 'transaction-unseen', words, { operation: 'lookup' }, now);
  });
}
