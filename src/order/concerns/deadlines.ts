/**
 * Deadlines: applies time-based changes. On day 5 the cancel window closes, and with it an order that is not in review. Before that an
 * unresolved review raises attention or is canceled, a pass is read once more, and the operator is reminded of a cancel. `../deadlines.ts`
 * computes when.
 */
import type { ActionRecord, AttentionCause, OrderState } from '../../contract/order/state.ts';
import {
  type AttentionCode,
  type DeadlineKind,
  type Instant,
  millis,
  type OrderEventType,
} from '../../contract/words.ts';
import { attemptCause, raiseAttention, staysOpen } from '../attention.ts';
import { actionBounds, type Deadline, first, isReadSince, nextDeadline } from '../deadlines.ts';
import { keepsActionAfterReport } from '../decide.ts';
import { announce } from '../events.ts';
import type { Concern, Order, RequiredEffect } from '../order.ts';
import {
  beginRescreen,
  currentAttempt,
  overrideOf,
  owesGateway,
  setAction,
  setPhase,
  settlePhase,
} from '../record.ts';
import { giveUpScreening } from '../screening/apply-screening.ts';
import { cancelAsked, cancelByOf, concernsNewest, mayBeSeen, wasLeftUnsent } from '../transactions.ts';
import { DEADLINES } from '../view/describe.ts';
import { giveUpGateway } from './gateway.ts';
import { giveUpActions, queueCancel } from './portal.ts';
import { requestRead } from './status.ts';

export const deadlines: Concern = {
  name: 'deadlines',
  keepsOpen: false,

  desired: (order) =>
    Object.entries(timersOf(order)).flatMap(([name, deadline]) =>
      deadline !== undefined && deadline.at > order.now ? [timer(name, deadline, order.now)] : [],
    ),

  // The end of a timer changes nothing else: a deadline passes before the first input of a later time.
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
  const { state, now, replies, retryAt } = order;
  return {
    deadline: nextDeadline(state),
    action: first(actionBounds(state).filter(({ kind, at }) => kind !== 'lookup-over' || at > now)),
    reply: first(replies.map(({ until }) => ({ kind: 'reply-due', at: until }))),
    retry: first(Object.values(retryAt).map((at) => ({ kind: 'retry-due', at }))),
  };
}

/** Returns the next deadline that changes the order; a reply changes nothing. */
function nextDue(order: Order): Deadline | undefined {
  const { reply: _reply, ...others } = timersOf(order);
  return first(Object.values(others).filter((one) => one !== undefined));
}

function timer(name: string, { kind, at }: Deadline, now: Instant): RequiredEffect {
  return {
    key: `${name}:${at}`,
    whenObsolete: 'drop',
    call: {
      kind: 'timer',
      at,
      summary: DEADLINES[kind],
      // A failure carries no time, and the order's newest moment may be days old.
      ...(kind === 'retry-due' && { leastMs: millis(at) - millis(now) }),
    },
  };
}

function pass(order: Order, { kind, at }: Deadline): void {
  if (!REPEATED.includes(kind)) order.state.passed.push(kind);
  const events = PASSING[kind]?.(order, at) ?? [];
  settlePhase(order.state, order.now);
  announce(order, events);
}

/** Deadlines that may be due several times. */
const REPEATED: readonly DeadlineKind[] = [
  'rescreen',
  'snooze-over',
  'action-over',
  'lookup-over',
  'leftovers-over',
  'retry-due',
];

/**
 * What each deadline changes. Returns the events to send. After the others the status concern reads the decision again, the cancel is sent,
 * and replies are sent by their time.
 */
const PASSING: Partial<Record<DeadlineKind, (order: Order, at: Instant) => OrderEventType[]>> = {
  'screening-deadline': ({ state, now }) => giveUpScreening(state, now),
  rescreen({ state }) {
    beginRescreen(state);
    return [];
  },
  'snooze-over'({ state }) {
    delete state.snoozedUntil;
    return [];
  },
  'gateway-late': gatewayLate,
  'review-lead': (order, at) => (overrideOf(order.state) === undefined ? reviewUnresolved(order, at) : []),
  'review-cancel': cancelReview,
  'review-limit'(order) {
    const isOpen = overrideOf(order.state) === undefined;
    if (isOpen) setAction(order.state, 'hold');
    const words = 'The review limit passed without a resolution: decide manually.';
    return [...(isOpen ? attend(order, 'review-limit', words) : []), ...close(order)];
  },
  'cancel-reminder'(order, at) {
    const { state, now } = order;
    const isOpen = staysOpen(state, { code: 'cancel-due' }, millis(now));
    const isRequested = (one: ActionRecord): boolean =>
      one.kind === 'cancel' && one.requestedAt >= at && !wasLeftUnsent(one) && concernsNewest(state, one);
    if (!isOpen || state.actions.some(isRequested)) return [];
    return attend(order, 'cancel-due', `The order must be canceled and is not canceled yet${by(state)}.`);
  },
  closes: close,
  'action-over': giveUpActions,
  'leftovers-over': (order) => [...giveUpGateway(order.state, order.now), ...giveUpLookups(order)],
  'retry-due'({ retryAt }, at) {
    for (const [key, due] of Object.entries(retryAt)) if (due <= at) delete retryAt[key];
    return [];
  },
};

function attend(
  { state, now }: Order,
  code: AttentionCode,
  words: string,
  cause: AttentionCause = {},
): OrderEventType[] {
  return raiseAttention(state, code, words, cause, now);
}

function reviewUnresolved(order: Order, due: Instant): OrderEventType[] {
  const { state } = order;
  if (state.policy.onUnresolvedReview !== 'cancel') return attendReview(order);
  // Before the cancel: it may have been resolved since the last read.
  if (!isReadSince(state, due)) requestRead(order, 'recheck');
  // Otherwise a person is told together with the cancel.
  return cancelAsked(state) || keepsActionAfterReport(state) ? attendReview(order) : [];
}

function attendReview(order: Order): OrderEventType[] {
  const words = `The review is unresolved shortly before the cancel window closes${by(order.state)}.`;
  return attend(order, 'review-unresolved', words);
}

function cancelReview(order: Order, due: Instant): OrderEventType[] {
  const { state } = order;
  const events = attendReview(order);
  // A review that was already due when the order was adopted is left to an operator.
  const last = currentAttempt(state).readings.at(-1);
  const isDueAtAdoption = last?.source === 'adoption' && due <= last.at;
  if (isDueAtAdoption || keepsActionAfterReport(state)) return events;
  setAction(state, 'cancel');
  // An event for a running cancel would be sent twice.
  if (!state.policy.passive && !cancelAsked(state)) queueCancel(order);
  return events;
}

function gatewayLate(order: Order): OrderEventType[] {
  const words = 'The order service has not reported the payment gateway’s result.';
  return attend(order, 'gateway-late', words, attemptCause(currentAttempt(order.state)));
}

/** Ends the order. A canceled order keeps its phase. Nothing raises attention to a late gateway result any more. */
function close(order: Order): OrderEventType[] {
  const { state, now } = order;
  const events = owesGateway(state) && !state.passed.includes('gateway-late') ? gatewayLate(order) : [];
  state.endedAt ??= now;
  delete state.snoozedUntil;
  if (state.phase !== 'canceled') setPhase(state, 'closed', now);
  return events;
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
