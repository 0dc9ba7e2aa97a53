/** What follows when a deadline passes: `advance` does the reads and cancels that it asks for. */

import { giveUpScreening } from './apply-screening.ts';
import { raiseAttention } from './attention.ts';
import type { OrderEventType } from './messages.ts';
import { currentAttempt, overrideOf, setAction, setPhase, settle } from './record.ts';
import type { OrderState } from './state.ts';
import { cancelByOf, windowOpen } from './transactions.ts';
import { type AttentionCode, type DeadlineKind, type Instant, instant, millis } from './words.ts';

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
    after.events.push(...raiseAttention(state, code, words, {}, now));
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
    case 'leftovers-over':
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
  const { readings } = currentAttempt(state);
  const cancelBy = cancelByOf(state, currentAttempt(state));
  const adoption = readings.find(({ source }) => source === 'adoption');
  if (adoption === undefined || cancelBy === undefined || state.policy === undefined) return false;
  return millis(cancelBy) - state.policy.reviewLeadTimeMs <= millis(adoption.at);
}

/** Ends the order; one that is canceled stays so to the end. */
function close(state: OrderState, now: Instant): void {
  state.endedAt ??= now;
  if (state.phase !== 'canceled') setPhase(state, 'closed', now);
}

/** @returns whether to remind: not where a cancel was asked for since the reminder was due, nor where the window is closed */
function cancelOverdue(state: OrderState, now: Instant): boolean {
  const cancelBy = cancelByOf(state, currentAttempt(state));
  const { policy } = state;
  if (cancelBy === undefined || policy === undefined) return false;
  if (!windowOpen(cancelBy, policy.cancelWindowMs, millis(now))) return false;
  const due = millis(cancelBy) - policy.reviewLeadTimeMs;
  return !state.actions.some((one) => one.kind === 'cancel' && millis(one.requestedAt) >= due);
}

function by(state: OrderState): string {
  const cancelBy = cancelByOf(state, currentAttempt(state));
  return cancelBy === undefined ? '' : ` (${cancelBy})`;
}
