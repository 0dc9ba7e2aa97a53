/** What follows when a deadline passes. Pure; reads and cancels that it asks for are the workflow's to do. Design section 3. */
import { giveUpScreening } from './apply-screening.ts';
import { raised } from './attention.ts';
import type { OrderEventType } from './messages.ts';
import { currentAttempt } from './new-order.ts';
import { setAction, setPhase, settle } from './phase.ts';
import type { AttentionCode, DeadlineKind, OrderState } from './state.ts';
import { type Instant, instant, millis } from './words.ts';

export interface AfterDeadline {
  events: OrderEventType[];
  /** Read the status now. */
  read?: boolean;
  /** Cancel with the service, by policy. */
  cancel?: boolean;
}

/** Records that a deadline passed. @returns what is to be done */
export function passDeadline(order: OrderState, kind: DeadlineKind, now: Instant): AfterDeadline {
  const { policy } = order;
  const after: AfterDeadline = { events: [] };
  if (policy === undefined) return after;
  const attend = (code: AttentionCode, words: string): void => {
    after.events.push(...raised(order, code, words, now));
  };
  if (kind !== 'hint-spacing' && kind !== 'rescreen') order.passed.push(kind);

  switch (kind) {
    case 'screening-deadline':
      after.events.push(...giveUpScreening(order, policy, now));
      break;
    case 'rescreen':
      beginRescreen(order);
      break;
    case 'gateway-late':
      attend('gateway-late', 'The order service has not reported the payment gateway’s result.');
      break;
    case 'review-lead':
      attend(
        'review-unresolved',
        `The review is unresolved shortly before the cancel window closes${by(order)}.`,
      );
      if (policy.onUnresolvedReview === 'cancel' && !policy.passive) {
        setAction(order, 'cancel');
        // One that is under way already would be told of twice.
        after.cancel = !order.cancelAsked;
      }
      break;
    case 'review-limit':
      setAction(order, 'hold');
      attend('review-limit', 'The review was never resolved: decide by hand.');
      close(order, now);
      break;
    case 'recheck':
      after.read = true;
      break;
    case 'cancel-reminder':
      if (cancelOverdue(order, now))
        attend('cancel-due', `The order is to be canceled and still is not${by(order)}.`);
      break;
    case 'hint-spacing':
    case 'answer-late':
    case 'action-over':
      break;
    case 'gateway-over':
    case 'retry-over':
    case 'window-closes':
    case 'nothing-left':
      close(order, now);
      break;
  }
  settle(order, now);
  return after;
}

/** Screens an order again whose decision is `error` to the end, because an operator asked for a recheck. */
export function screenAgain(order: OrderState, now: Instant): void {
  beginRescreen(order);
  currentAttempt(order).screenUntil = instant(millis(now) + (order.policy?.screeningDeadlineMs ?? 0));
  order.passed = order.passed.filter((kind) => kind !== 'screening-deadline');
  settle(order, now);
}

/** Screens the order again: after the pause of `rescreenOnError`, or because an operator asked. */
function beginRescreen(order: OrderState): void {
  const attempt = currentAttempt(order);
  attempt.rescreens += 1;
  attempt.rescreenDue = true;
  delete attempt.screeningOver;
}

/** Ends the order; one that is canceled stays so to the end. */
function close(order: OrderState, now: Instant): void {
  order.ended = true;
  if (order.phase !== 'canceled') setPhase(order, 'closed', now);
}

/** A cancel that was asked since the reminder was due speaks for itself, and so does a window that is closed. */
function cancelOverdue(order: OrderState, now: Instant): boolean {
  const { cancelBy } = currentAttempt(order);
  if (cancelBy === undefined || order.policy === undefined || millis(now) >= millis(cancelBy)) return false;
  const due = millis(cancelBy) - order.policy.reviewLeadTimeMs;
  return !order.actions.some((one) => one.kind === 'cancel' && millis(one.requestedAt) >= due);
}

function by(order: OrderState): string {
  const { cancelBy } = currentAttempt(order);
  return cancelBy === undefined ? '' : ` (${cancelBy})`;
}
