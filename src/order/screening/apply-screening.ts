/** Applies the outcome of a screening to the order, including the first one's answer. */
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { OrderEventType } from '../../contract/messages.ts';
import type { OrderState } from '../../contract/order/state.ts';
import type { Action, Decision, Instant } from '../../contract/words.ts';
import { clear, clearedBy, raiseAttention, raiseWrongKey } from '../attention.ts';
import { actionAtCheckout, actionLater, actionWithoutDecision, attentionTo, heldBack } from '../decide.ts';
import { currentAttempt, enrichedOf, overrideOf, recordReading, setAction, settlePhase } from '../record.ts';
import { isDecided } from '../transactions.ts';
import {
  isAwaited,
  isNews,
  type Moment,
  noteUnseen,
  recordLate,
  recordSeen,
  withoutOthers,
} from './record-screening.ts';

/** The cause of attention to a screening. */
export const CREATE = { operation: 'create' } as const;

/** Applies a screening of the newest attempt. @returns the events to send, oldest first */
export function applyScreening(state: OrderState, given: ScreeningOutcome, moment: Moment): OrderEventType[] {
  const attempt = currentAttempt(state);
  const outcome = withoutOthers(state, attempt, given, moment.now);
  const { phase } = state;
  const bringsDecision = outcome.kind === 'answered' && isAwaited(state, attempt, outcome.decision);
  const isOver = phase === 'declined' || phase === 'canceled' || (phase === 'closed' && !bringsDecision);
  // The try was running at the deadline.
  const isGivenUp = attempt.screeningOver === true && !bringsDecision && outcome.kind !== 'skipped';
  // A lookup may have read the decision before the screening ended.
  if (isOver || isGivenUp || (isDecided(attempt.decision) && !isNews(state, attempt, outcome))) {
    return recordLate(state, attempt, outcome, moment.now);
  }
  noteUnseen(state, attempt, outcome);
  const events = follow(state, outcome, moment);
  if (outcome !== given)
    events.push(...raiseAttention(state, 'transaction-unseen', HIDDEN, CREATE, moment.now));
  settlePhase(state, moment.now);
  return events;
}

function follow(state: OrderState, outcome: ScreeningOutcome, moment: Moment): OrderEventType[] {
  const { now } = moment;
  switch (outcome.kind) {
    case 'skipped':
      return decided(state, outcome.kind, moment);
    case 'answered': {
      recordSeen(state, currentAttempt(state), outcome, moment);
      const { decision } = outcome;
      return decision === 'error' ? errorDecision(state, moment) : decided(state, decision, moment, outcome);
    }
    case 'refused':
      return errorDecision(state, moment, { reason: outcome.reason, words: refusedWords(outcome) });
    case 'unreadable':
      if (outcome.seen !== undefined) recordSeen(state, currentAttempt(state), outcome.seen, moment);
      return [
        ...raiseAttention(state, 'unreadable-answer', unreadableWords(outcome.reason), CREATE, now),
        ...errorDecision(state, moment),
      ];
    case 'unanswered':
      state.reason = outcome.reason;
      return withoutDecision(state, moment);
    case 'forbidden':
      state.reason = 'forbidden';
      // The first checkout's result doesn't pass the kernel.
      return [
        ...(moment.source === 'checkout' ? raiseWrongKey(state, CREATE, now) : []),
        ...withoutDecision(state, moment),
      ];
  }
}

/** Ends the screening without a decision: the checkout's action stays, and an operator must decide. */
export function giveUpScreening(state: OrderState, now: Instant): OrderEventType[] {
  const over = { reason: 'screening-deadline', words: `${GIVEN_UP}: ${remedies(state)}.` };
  const events = errorDecision(state, { source: 'catch-up', now }, over);
  settlePhase(state, now);
  return events;
}

/** Records a decision, and sets the action that follows from it. */
function decided(
  state: OrderState,
  decision: Decision | 'skipped',
  { source, now: at }: Moment,
  said: Partial<Extract<ScreeningOutcome, { kind: 'answered' }>> = {},
): OrderEventType[] {
  const attempt = currentAttempt(state);
  recordReading(state, attempt, { decision, at, source, ...enrichedOf(said) });
  clear(state, { codes: clearedBy('decision') });
  delete state.reason;
  // After the payment gateway's result nothing can be declined any more.
  const isAtCheckout = source === 'checkout' && attempt.gateway === undefined;
  const action = isAtCheckout ? actionAtCheckout(decision, state.policy) : actionLater(decision);
  applyAction(state, heldBack(state, action), said.message);
  const matter = decision === 'skipped' ? undefined : attentionTo(state, state.action, decision, at);
  return [
    'order.decided',
    ...(said.otherMode ? raiseAttention(state, 'account-mode', OTHER_MODE, CREATE, at) : []),
    ...(matter ? raiseAttention(state, matter.code, matter.words, {}, at) : []),
  ];
}

/**
 * Applies the decision `error`. Assumption «decision error»: the order is screened again after a pause unless no rescreens are left.
 * @param over why it is never screened again
 */
function errorDecision(state: OrderState, moment: Moment, over?: Over): OrderEventType[] {
  const attempt = currentAttempt(state);
  const isLeft = over === undefined && attempt.rescreens < state.policy.rescreenOnError.tries;
  recordReading(state, attempt, { decision: 'error', at: moment.now, source: moment.source });
  delete attempt.rescreenDue;
  if (isLeft) return withoutDecision(state, moment);
  const { reason, words } = over ?? { reason: 'error', words: `${OUT_OF_RESCREENS}: ${remedies(state)}.` };
  attempt.screeningOver = true;
  state.reason = reason;
  withoutDecision(state, moment);
  if (overrideOf(state) !== undefined) return ['order.decided'];
  return ['order.decided', ...raiseAttention(state, 'no-decision', words, CREATE, moment.now)];
}

type Over = { reason: string; words: string };

/** The reason of a checkout or a further attempt without a decision after a reset. */
export const ORDER_RESET = 'order-reset';

/**
 * Answers a checkout without a decision. A decline ends the attempt, so it is also sent as an event. After a reset the caller has an answer
 * from before, so the order is held until the decision is found. After the payment gateway's result nothing is declined.
 */
function withoutDecision(state: OrderState, { source }: Moment): OrderEventType[] {
  if (source !== 'checkout') return [];
  const attempt = currentAttempt(state);
  const action = state.reason === ORDER_RESET ? 'hold' : actionWithoutDecision(state.policy);
  const isTooLate = action === 'decline' && attempt.gateway !== undefined;
  const held = isTooLate ? 'hold' : heldBack(state, action);
  if (action === 'proceed' && held === 'hold') attempt.heldBack = true;
  applyAction(state, held);
  return state.action === 'decline' ? ['order.decided'] : [];
}

function applyAction(state: OrderState, action: Action, message?: string): void {
  // A cancel that a person asked for stays, also if it could not be sent in time.
  if (overrideOf(state) !== undefined || state.action === 'cancel') return;
  setAction(state, action);
  if (state.action === 'decline') state.message = message ?? state.policy.declineMessage;
  else delete state.message;
}

function refusedWords(outcome: Extract<ScreeningOutcome, { kind: 'refused' }>): string {
  const words = (outcome.words ?? outcome.reason).replace(/\.+$/, '');
  if (outcome.reason === 'invalid-request') return `The transaction is invalid and was not sent: ${words}.`;
  if (outcome.reason === 'card-data-expired') return CARD_DATA_EXPIRED;
  return `The screening service refused the transaction: ${words}.`;
}

function unreadableWords(reason: string): string {
  if (reason === 'unknown-decision') return 'The screening service returned an unknown decision.';
  if (reason === 'missing-id') return 'The screening service’s response has no transaction id.';
  return 'The screening service’s response could not be read.';
}

const CARD_DATA_EXPIRED =
  'The card data expired before the screening service answered: the order service can send another attempt.';
const OTHER_MODE =
  'The mode of the API key’s account doesn’t match the integration’s: set mode, key and address that belong together.';
export const HIDDEN =
  'A create of this attempt may have created a transaction that a lookup can’t find: the screening service shows only the first transaction of an invoice number, and that one belongs to an earlier attempt.';
const GIVEN_UP = 'The screening deadline passed without a decision';
const OUT_OF_RESCREENS = 'The screening service kept returning `error`';

/** The end of a screening deletes its card, without which a recheck can't screen before the payment gateway. */
function remedies(state: OrderState): string {
  const needsCard = state.workflow === 'pre-gateway' && currentAttempt(state).cardRef !== undefined;
  return `decide manually, ${needsCard ? 'or send another attempt' : 'send another attempt, or recheck'}`;
}
