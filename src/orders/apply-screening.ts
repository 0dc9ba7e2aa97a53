/** Brings the outcome of a screening into the order, the first one's answer included. */
import type { CheckoutRequest, FirstScreening, ScreeningOutcome } from './activity-contract.ts';
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
import { checkoutAnswer } from './tickets.ts';
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
  order: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  moment: ScreeningMoment,
): OrderEventType[] {
  const attempt = currentAttempt(order);
  const events: OrderEventType[] = [];
  const heard = outcome.kind !== 'forbidden' && outcome.kind !== 'unanswered';
  if (heard) clear(order, 'wrong-key');
  const over = order.phase === 'declined' || order.phase === 'canceled' || order.phase === 'closed';
  // It may have been stopped at its deadline, and a look has read a decision since.
  if (over || (hasDecision(attempt) && !isNews(attempt, outcome))) {
    noteLateScreening(order, attempt, outcome, moment.sentSince, moment.now);
    return events;
  }
  if (heard) attempt.rescreenDue = false;
  noteSending(attempt, policy, outcome, moment.sentSince);

  switch (outcome.kind) {
    case 'skipped':
      decideTo(order, attempt, 'skipped', moment);
      setAction(order, actionAtCheckout('skipped', policy));
      events.push('order.decided');
      break;
    case 'answered':
      events.push(...answered(order, policy, outcome, moment));
      break;
    case 'refused':
      events.push(...noDecision(order, policy, outcome.reason, moment, refusedWords(outcome)));
      break;
    case 'unreadable':
      if (outcome.transactionId !== undefined) {
        noteTransaction(attempt, outcome.transactionId);
        attempt.unreadableId = outcome.transactionId;
      }
      events.push(
        ...raiseAttention(
          order,
          'unreadable-answer',
          UNREADABLE[outcome.reason] ?? UNREADABLE_OTHERWISE,
          moment.now,
        ),
        ...errorDecision(order, policy, moment),
      );
      break;
    case 'unanswered':
    case 'forbidden':
      if (outcome.kind === 'forbidden') events.push(...raiseWrongKey(order, moment.now));
      order.reason = outcome.kind === 'forbidden' ? 'forbidden' : outcome.reason;
      if (moment.source === 'checkout') withoutDecision(order, policy, events);
      break;
  }
  settle(order, moment.now);
  return events;
}

/** @returns whether a screening brings another decision than the attempt has, or one of another transaction */
function isNews({ decision, transactionId }: Attempt, outcome: ScreeningOutcome): boolean {
  if (outcome.kind !== 'answered' || outcome.decision === 'error') return false;
  return outcome.decision !== decision || outcome.transactionId !== transactionId;
}

/** Ends the screening without a decision: the action given at checkout stands, a person must look. */
export function giveUpScreening(order: OrderState, policy: Policy, now: Instant): OrderEventType[] {
  const moment: ScreeningMoment = { source: 'catch-up', sentSince: now, now };
  delete currentAttempt(order).rescreenDue;
  const events = noDecision(order, policy, 'screening-deadline', moment, GIVEN_UP);
  settle(order, now);
  return events;
}

function answered(
  order: OrderState,
  policy: Policy,
  outcome: Extract<ScreeningOutcome, { kind: 'answered' }>,
  moment: ScreeningMoment,
): OrderEventType[] {
  const attempt = currentAttempt(order);
  noteTransaction(attempt, outcome.transactionId);
  delete attempt.unreadableId;
  if (outcome.decision === 'error') return errorDecision(order, policy, moment);
  decideTo(order, attempt, outcome.decision, moment, enrichedOf(outcome));
  clear(order, 'no-decision', 'unreadable-answer', 'decision-after-override');
  delete order.reason;
  const atCheckout = moment.source === 'checkout';
  const action = atCheckout ? actionAtCheckout(outcome.decision, policy) : actionLater(outcome.decision);
  tell(order, policy, heldByGateway(attempt, action), outcome.message);
  const matter = attentionTo(order, order.action, outcome.decision, moment.now);
  return [
    'order.decided',
    ...(outcome.otherMode === true ? raiseAttention(order, 'account-mode', OTHER_MODE, moment.now) : []),
    ...(matter === undefined ? [] : raiseAttention(order, matter.code, matter.words, moment.now)),
  ];
}

/** The decision `error`: screened again after a pause, unless that was the last try. */
function errorDecision(order: OrderState, policy: Policy, moment: ScreeningMoment): OrderEventType[] {
  const attempt = currentAttempt(order);
  if (attempt.rescreens >= policy.rescreenOnError.tries) {
    return noDecision(order, policy, 'error', moment, OUT_OF_RESCREENS);
  }
  decideTo(order, attempt, 'error', moment);
  const events: OrderEventType[] = [];
  if (moment.source === 'checkout') withoutDecision(order, policy, events);
  return events;
}

function noDecision(
  order: OrderState,
  policy: Policy,
  reason: string,
  moment: ScreeningMoment,
  words: string,
): OrderEventType[] {
  const attempt = currentAttempt(order);
  decideTo(order, attempt, 'error', moment);
  attempt.screeningOver = true;
  order.reason = reason;
  if (moment.source === 'checkout') withoutDecision(order, policy, []);
  return ['order.decided', ...raiseAttention(order, 'no-decision', words, moment.now)];
}

/** Answers a checkout that has no decision. A decline ends the attempt, so the order service is told of it. */
function withoutDecision(order: OrderState, policy: Policy, events: OrderEventType[]): void {
  tell(order, policy, actionWithoutDecision(policy), undefined);
  if (order.action === 'decline') events.push('order.decided');
}

function tell(order: OrderState, policy: Policy, action: Action, message: string | undefined): void {
  if (overrideOf(order) !== undefined) return;
  setAction(order, action);
  if (order.action === 'decline') order.message = message ?? policy.declineMessage;
  else delete order.message;
}

function decideTo(
  order: OrderState,
  attempt: Attempt,
  decision: OrderDecision,
  moment: ScreeningMoment,
  enriched: Enriched = {},
): void {
  order.decision = decision;
  attempt.decision = decision;
  attempt.readings.push({ decision, at: moment.now, source: moment.source, ...enriched });
  order.lastRead = { at: moment.now, source: moment.source };
}

function refusedWords(outcome: Extract<ScreeningOutcome, { kind: 'refused' }>): string {
  const words = outcome.words ?? outcome.reason;
  return REFUSED[outcome.reason] ?? `The service refused the transaction: ${words.replace(/\.+$/, '')}.`;
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
  order: OrderState,
  { policy, outcome }: Pick<FirstScreening, 'policy' | 'outcome'>,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  order.policy = policy;
  order.workflow = policy.workflow;
  currentAttempt(order).screenUntil = instant(millis(order.startedAt) + policy.screeningDeadlineMs);
  // An earlier run of this task may have sent a create; only one that was answered now was certainly sent now.
  const made = outcome.kind === 'answered' && !outcome.adopted;
  return answerCheckout(order, policy, outcome, { sentSince: made ? sentSince : order.startedAt, now });
}

/**
 * Brings the screening of an attempt whose caller waits into the order and answers it.
 * @returns the events that it means, oldest first
 */
export function answerCheckout(
  order: OrderState,
  policy: Policy,
  outcome: ScreeningOutcome,
  { sentSince, now }: { sentSince: Instant; now: Instant },
): OrderEventType[] {
  const events = applyScreening(order, policy, outcome, { source: 'checkout', sentSince, now });
  const insights = outcome.kind === 'answered' ? outcome.insights : undefined;
  currentAttempt(order).answer = checkoutAnswer(order, insights === undefined ? {} : { insights });
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
  const { answer } = currentAttempt(order);
  return answer?.action === 'decline' ? undefined : answer;
}
