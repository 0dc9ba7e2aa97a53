/** The record of an order: creates it and its attempts, and sets the action and the phase. */
import type { OrderKey } from '../contract/ids.ts';
import type { ScreenOrderInput } from '../contract/messages.ts';
import type { Attempt, Enriched, OrderState, Override, Reading } from '../contract/order/state.ts';
import { FALLBACK_POLICY } from '../contract/policy.ts';
import { OLDEST_VERSION } from '../contract/version.ts';
import { type Action, type Instant, laterBy, millis, type Phase } from '../contract/words.ts';
import { addReading } from './bounds.ts';
import { defined } from './defined.ts';
import type { Order } from './order.ts';
import { currencyOf } from './order-rules.ts';
import { FIRST_SPACING_MS } from './spacing.ts';

export function newOrder(input: ScreenOrderInput & { integration: string }, startedAt: Instant): Order {
  const { workflow, answerBy, version = OLDEST_VERSION } = input;
  return {
    version,
    state: newOrderState(input, startedAt),
    now: startedAt,
    asked: { transaction: input.transaction, ...defined({ workflow, answerBy }) },
    outbox: [],
    fields: {},
    reads: [],
    readsRequested: 0,
    spacing: { ms: FIRST_SPACING_MS },
    signals: 0,
    earlyRetries: [],
    replies: [],
    retryAt: {},
    running: [],
    started: 0,
  };
}

type Begun = OrderKey & { [Field in keyof ScreenOrderInput]?: ScreenOrderInput[Field] | undefined };

/**
 * @returns the number before an order's first event: the seconds of its start. An earlier order with its id, deleted since, or a lost run may
 * have sent events, and doesn't reach that number by counting from its own start
 */
export function numberBeforeEvents({ startedAt }: Pick<OrderState, 'startedAt'>): number {
  return Math.floor(millis(startedAt) / 1_000);
}

/** @returns the state of a new order with its first attempt, not screened yet */
export function newOrderState(request: Begun, now: Instant): OrderState {
  const state: OrderState = {
    orderId: request.orderId,
    integration: request.integration,
    workflow: request.workflow ?? 'pre-acceptance',
    phase: 'screening',
    phaseSince: now,
    decision: 'pending',
    action: 'hold',
    attempts: [],
    transactions: [],
    attention: [],
    actions: [],
    events: { sequence: numberBeforeEvents({ startedAt: now }), delivered: 0, waiting: 0 },
    passed: [],
    startedAt: now,
    policy: FALLBACK_POLICY,
    ...defined({ adopted: request.adopt }),
  };
  addAttempt(state, request, now);
  return state;
}

/** What an order records only of its newest attempt. */
const OF_ATTEMPT = ['message', 'reason', 'wouldBe', 'fraudReportedAt', 'snoozedUntil', 'currency'] as const;

/** Adds the next attempt and sets the phase to `screening`. */
export function addAttempt(
  state: OrderState,
  request: Pick<Begun, 'cardRef' | 'fingerprint' | 'transaction'>,
  now: Instant,
): Attempt {
  const currency = currencyOf(request.transaction, state.adopted !== undefined);
  const attempt: Attempt = {
    number: state.attempts.length + 1,
    startedAt: now,
    decision: 'pending',
    readings: [],
    rescreens: 0,
    screenUntil: laterBy(state.policy.screeningDeadlineMs, now),
    ...(request.cardRef && { cardRef: request.cardRef }),
    ...(request.fingerprint && { fingerprint: request.fingerprint }),
  };
  const last = state.attempts.at(-1);
  if (last !== undefined) last.lastAction = state.action;
  state.attempts.push(attempt);
  state.passed = [];
  state.phase = 'screening';
  state.phaseSince = now;
  state.decision = 'pending';
  state.action = state.policy.passive ? 'proceed' : 'hold';
  for (const name of OF_ATTEMPT) delete state[name];
  if (currency !== undefined) state.currency = currency;
  return attempt;
}

/** @returns the operator's override of the decision, unless the order is declined */
export function overrideOf(state: OrderState): Override | undefined {
  return state.action === 'decline' ? undefined : currentAttempt(state).override;
}

export function attemptNumbered(state: OrderState, number: number): Attempt {
  const attempt = state.attempts[number - 1];
  if (attempt === undefined) throw new TypeError(`the order has no attempt ${number}`);
  return attempt;
}

export function currentAttempt(state: OrderState): Attempt {
  const attempt = state.attempts.at(-1);
  if (attempt === undefined) throw new TypeError('an order has at least one attempt');
  return attempt;
}

/** Records a reading of an attempt. A reading of the newest attempt sets the order's decision. */
export function recordReading(state: OrderState, attempt: Attempt, reading: Reading): void {
  const { decision, at, source } = reading;
  attempt.decision = decision;
  if (decision !== 'error') delete attempt.rescreenDue;
  addReading(state, attempt, reading);
  if (attempt !== currentAttempt(state)) return;
  state.decision = decision;
  state.lastRead = { at, source };
  for (const one of state.actions)
    if (one.kind === 'cancel' && one.stop === 'withdrawn') one.overtaken = true;
}

/** Requires another screening: after the pause of `rescreenOnError`, or because an operator requested it. */
export function beginRescreen(state: OrderState): void {
  const attempt = currentAttempt(state);
  attempt.rescreens += 1;
  attempt.rescreenDue = true;
  delete attempt.screeningOver;
}

/** @returns whether a recheck screens the order again: its screening ended with the decision `error` */
export function screensAgain({ phase, decision, action }: OrderState): boolean {
  return phase === 'decided' && decision === 'error' && action !== 'cancel';
}

/** Screens an order again whose screening ended with `error`, after an operator's recheck. */
export function screenAgain(state: OrderState, now: Instant): void {
  beginRescreen(state);
  currentAttempt(state).screenUntil = laterBy(state.policy.screeningDeadlineMs, now);
  state.passed = state.passed.filter((kind) => kind !== 'screening-deadline');
  settlePhase(state, now);
}

// The phase of an order, derived from its state.

/** Derives the phase from the order's state; `canceled` and `closed` are final. */
export function settlePhase(state: OrderState, now: Instant): void {
  if (state.phase === 'canceled' || state.phase === 'closed') return;
  setPhase(state, phaseOf(state), now);
}

export function setPhase(state: OrderState, phase: Phase, now: Instant): void {
  if (state.phase === phase) return;
  state.phase = phase;
  state.phaseSince = now;
  delete state.snoozedUntil;
  if (phase === 'declined') currentAttempt(state).declinedAt = now;
}

/**
 * Sets the action; in passive mode sets `proceed`, and the given action as `wouldBe`. Nothing replaces a `wouldBe` that would have ended the
 * attempt.
 */
export function setAction(state: OrderState, action: Action): void {
  const { policy, wouldBe } = state;
  state.action = policy.passive ? 'proceed' : action;
  if (policy.passive && wouldBe !== 'decline' && wouldBe !== 'cancel') state.wouldBe = action;
}

function phaseOf(state: OrderState): Phase {
  const attempt = currentAttempt(state);
  const gateway = attempt.gateway?.result;
  if (gateway === 'fail' && state.action !== 'cancel') return 'declined';
  if (state.action === 'decline') return 'declined';
  if (state.action === 'cancel') return 'decided';
  if (attempt.rescreenDue) return 'screening';
  if (state.decision === 'pending' || state.decision === 'error')
    return attempt.screeningOver ? 'decided' : 'screening';
  if (awaitsGateway(state)) return 'awaiting-gateway';
  return state.decision === 'review' ? 'review' : 'decided';
}

/** @returns whether the order service was told to call the payment gateway and has not reported the result */
function awaitsGateway(state: OrderState): boolean {
  const gateway = currentAttempt(state).gateway?.result;
  if (state.workflow !== 'pre-gateway' || state.decision === 'skipped') return false;
  return gateway === 'error' ? state.action === 'hold' : gateway === undefined && state.action === 'proceed';
}

/** @returns whether the order service has not reported the gateway's result that the order waits for */
export function owesGateway(state: OrderState): boolean {
  return awaitsGateway(state) && currentAttempt(state).gateway === undefined;
}

/** @returns the optional fields that the screening service returned with a decision */
export function enrichedOf(given: Enriched): Enriched {
  const { insights, insightsLeftOut, accountMode, passiveMode, subStatus } = given;
  return defined({ insights, insightsLeftOut, accountMode, passiveMode, subStatus });
}
