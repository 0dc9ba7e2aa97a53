/** Brings the outcome of a screening into the order, the first one's answer included. */
import type { CheckoutRequest, FirstScreening, ScreeningOutcome } from './activity-contract.ts';
import { addReading } from './bounds.ts';
import {
  actionAtCheckout,
  actionLater,
  actionWithoutDecision,
  attentionTo,
  heldByGateway,
} from './decide.ts';
import type { OrderEventType, ScreenOrderInput } from './messages.ts';
import type { Policy } from './policy.ts';
import {
  clear,
  currentAttempt,
  enrichedOf,
  newOrderState,
  overrideOf,
  raiseAttention,
  raiseWrongKey,
  setAction,
  settle,
} from './record.ts';
import type { Attempt, CheckoutAnswer, Enriched, OrderState } from './state.ts';
import { answerNow, checkoutAnswer } from './tickets.ts';
import { hasDecision, noteLateScreening, noteSending, noteTransaction } from './transactions.ts';
import {
  type Action,
  type Instant,
  instant,
  millis,
  type OrderDecision,
  type ReadingSource,
} from './words.ts';

export interface ScreeningMoment {
  source: Extract<ReadingSource, 'checkout' | 'catch-up' | 'rescreen'>;
  /** The earliest moment at which this try may have sent a create. */
  sentSince: Instant;
  now: Instant;
}

/**
 * Records what a screening brought, and what follows.
 * @returns the events that it means, oldest first
 */
export function applyScreening(
  state: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  moment: ScreeningMoment,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  const events: OrderEventType[] = [];
  const heard = outcome.kind !== 'forbidden' && outcome.kind !== 'unanswered';
  if (heard) clear(state, 'wrong-key');
  const over = state.phase === 'declined' || state.phase === 'canceled' || state.phase === 'closed';
  // It may have been stopped at its deadline, and a look has read a decision since.
  if (over || (hasDecision(attempt) && !isNews(attempt, outcome))) {
    noteLateScreening(state, attempt, outcome, moment.sentSince, moment.now);
    return events;
  }
  if (heard) attempt.rescreenDue = false;
  noteSending(attempt, policy, outcome, moment.sentSince);

  switch (outcome.kind) {
    case 'skipped':
      decideTo(state, attempt, 'skipped', moment);
      delete state.reason;
      tell(state, policy, heldByGateway(attempt, actionAtCheckout('skipped', policy)), undefined);
      events.push('order.decided');
      break;
    case 'answered':
      events.push(...answered(state, policy, outcome, moment));
      break;
    case 'refused':
      events.push(...noDecision(state, policy, outcome.reason, moment, refusedWords(outcome)));
      break;
    case 'unreadable':
      if (outcome.transactionId !== undefined) {
        noteTransaction(attempt, outcome.transactionId);
        attempt.unreadableId = outcome.transactionId;
      }
      events.push(
        ...raiseAttention(
          state,
          'unreadable-answer',
          UNREADABLE[outcome.reason] ?? UNREADABLE_OTHERWISE,
          moment.now,
        ),
        ...errorDecision(state, policy, moment),
      );
      break;
    case 'unanswered':
    case 'forbidden':
      if (outcome.kind === 'forbidden') events.push(...raiseWrongKey(state, moment.now));
      state.reason = outcome.kind === 'forbidden' ? 'forbidden' : outcome.reason;
      if (moment.source === 'checkout') withoutDecision(state, policy, events);
      break;
  }
  settle(state, moment.now);
  return events;
}

/** @returns whether a screening brings another decision than the attempt has, or one of another transaction */
function isNews({ decision, transactionId }: Attempt, outcome: ScreeningOutcome): boolean {
  if (outcome.kind !== 'answered' || outcome.decision === 'error') return false;
  return outcome.decision !== decision || outcome.transactionId !== transactionId;
}

/** Ends the screening without a decision: the action given at checkout stands, a person must look. */
export function giveUpScreening(state: OrderState, policy: Policy, now: Instant): OrderEventType[] {
  const moment: ScreeningMoment = { source: 'catch-up', sentSince: now, now };
  delete currentAttempt(state).rescreenDue;
  const events = noDecision(state, policy, 'screening-deadline', moment, GIVEN_UP);
  settle(state, now);
  return events;
}

function answered(
  state: OrderState,
  policy: Policy,
  outcome: Extract<ScreeningOutcome, { kind: 'answered' }>,
  moment: ScreeningMoment,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  noteTransaction(attempt, outcome.transactionId);
  delete attempt.unreadableId;
  if (outcome.decision === 'error') return errorDecision(state, policy, moment);
  decideTo(state, attempt, outcome.decision, moment, enrichedOf(outcome));
  clear(state, 'no-decision', 'unreadable-answer', 'decision-after-override');
  delete state.reason;
  const atCheckout = moment.source === 'checkout';
  const action = atCheckout ? actionAtCheckout(outcome.decision, policy) : actionLater(outcome.decision);
  tell(state, policy, heldByGateway(attempt, action), outcome.message);
  const matter = attentionTo(state, state.action, outcome.decision, moment.now);
  return [
    'order.decided',
    ...(outcome.otherMode === true ? raiseAttention(state, 'account-mode', OTHER_MODE, moment.now) : []),
    ...(matter === undefined ? [] : raiseAttention(state, matter.code, matter.words, moment.now)),
  ];
}

/** The decision `error`: screened again after a pause, unless that was the last try. */
function errorDecision(state: OrderState, policy: Policy, moment: ScreeningMoment): OrderEventType[] {
  const attempt = currentAttempt(state);
  if (attempt.rescreens >= policy.rescreenOnError.tries) {
    return noDecision(state, policy, 'error', moment, OUT_OF_RESCREENS);
  }
  decideTo(state, attempt, 'error', moment);
  const events: OrderEventType[] = [];
  if (moment.source === 'checkout') withoutDecision(state, policy, events);
  return events;
}

function noDecision(
  state: OrderState,
  policy: Policy,
  reason: string,
  moment: ScreeningMoment,
  words: string,
): OrderEventType[] {
  const attempt = currentAttempt(state);
  decideTo(state, attempt, 'error', moment);
  attempt.screeningOver = true;
  state.reason = reason;
  if (moment.source === 'checkout') withoutDecision(state, policy, []);
  return ['order.decided', ...raiseAttention(state, 'no-decision', words, moment.now)];
}

/** Answers a checkout that has no decision. A decline ends the attempt, so the order service is told of it. */
function withoutDecision(state: OrderState, policy: Policy, events: OrderEventType[]): void {
  tell(state, policy, actionWithoutDecision(policy), undefined);
  if (state.action === 'decline') events.push('order.decided');
}

function tell(state: OrderState, policy: Policy, action: Action, message: string | undefined): void {
  if (overrideOf(state) !== undefined) return;
  setAction(state, action);
  if (state.action === 'decline') state.message = message ?? policy.declineMessage;
  else delete state.message;
}

function decideTo(
  state: OrderState,
  attempt: Attempt,
  decision: OrderDecision,
  moment: ScreeningMoment,
  enriched: Enriched = {},
): void {
  state.decision = decision;
  attempt.decision = decision;
  addReading(state, attempt, { decision, at: moment.now, source: moment.source, ...enriched });
  state.lastRead = { at: moment.now, source: moment.source };
}

function refusedWords(outcome: Extract<ScreeningOutcome, { kind: 'refused' }>): string {
  const words = (outcome.words ?? outcome.reason).replace(/\.+$/, '');
  if (outcome.reason === 'invalid-request') return `The transaction is invalid and was not sent: ${words}.`;
  return REFUSED[outcome.reason] ?? `The screening service refused the transaction: ${words}.`;
}

const REFUSED: Record<string, string> = {
  'card-data-expired':
    'The card data was gone before the service answered: the order service may send another attempt.',
};
const UNREADABLE: Record<string, string> = {
  'unknown-decision': 'The service answered with a decision that is not one of its five words.',
  'missing-id': 'The service answered without a transaction id.',
};
const UNREADABLE_OTHERWISE = 'The service answered something that could not be read.';
const OTHER_MODE =
  'The service says that the account of the key is of another mode than the integration: set mode, key and address that belong together.';
const GIVEN_UP =
  'No decision came before the screening deadline: decide by hand, send another attempt, or recheck.';
const OUT_OF_RESCREENS =
  'The service answered «error» to the end: decide by hand, send another attempt, or recheck.';

// What the checkout's screening makes of an order: the policy in force, the decision, and the answer to the
// caller.

/**
 * Brings the first screening into a new order and answers its checkout.
 * @param sentSince when the screening was begun; an order that was begun before may have been sent before
 * @returns the events that it means, oldest first
 */
export function applyFirstScreening(
  state: OrderState,
  { policy, outcome }: Pick<FirstScreening, 'policy' | 'outcome'>,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  state.policy = policy;
  state.workflow = policy.workflow;
  currentAttempt(state).screenUntil = instant(millis(state.startedAt) + policy.screeningDeadlineMs);
  // An earlier run of this task may have sent a create; only one that was answered now was certainly sent now.
  const made = outcome.kind === 'answered' && !outcome.adopted;
  return answerCheckout(state, policy, outcome, { sentSince: made ? sentSince : state.startedAt, now });
}

/**
 * Brings the screening of an attempt whose caller waits into the order and answers it.
 * @returns the events that it means, oldest first
 */
export function answerCheckout(
  state: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  const events = applyScreening(state, policy, outcome, { source: 'checkout', sentSince, now });
  currentAttempt(state).answer = checkoutAnswer(state);
  return events;
}

/**
 * The answer that an order will have on record once its first screening is recorded, for a caller that can't wait for it.
 * Should the record be lost, the order is screened again by looking first, and finds this transaction.
 * @param input what the order was started with
 * @param request what its screening was called with
 * @returns nothing when the record must come first: there is no definite answer, or the customer is declined or would be
 * without one, since a declined order takes another attempt, or none
 */
export function answerBeforeRecord(
  input: ScreenOrderInput,
  request: CheckoutRequest,
  first: FirstScreening,
): CheckoutAnswer | undefined {
  const { outcome, policy } = first;
  if (outcome.kind !== 'answered' || outcome.adopted || outcome.decision === 'error') return undefined;
  if (actionWithoutDecision(policy) === 'decline') return undefined;
  const { integration, startedAt, begun: sentSince } = request;
  const order = newOrderState({ ...input, integration }, startedAt);
  applyFirstScreening(order, first, { sentSince, now: sentSince });
  const answer = answerNow(order, 1);
  return answer?.action === 'decline' ? undefined : answer;
}

// A checkout whose activity failed by itself, such as one of a worker without the settings.

/** What is known of a checkout whose screening failed by itself: a create may have been sent. */
export const BROKE_DOWN = { kind: 'unanswered', reason: 'screening-broke-down', maybeSent: true } as const;

/** @returns whether the attempt's checkout failed by itself, and nothing was read of the attempt since */
export function checkoutFailed({ answer, rescreens, readings }: Attempt): boolean {
  return answer?.reason === BROKE_DOWN.reason && rescreens === 0 && readings.length === 0;
}
