/** The beginning of an order and of each attempt, and the phase that follows from what is known. */
import type { Attempt, AttentionCode, OrderState } from './state.ts';
import { type Action, type Instant, type IntegrationWorkflow, instant, millis, type Phase } from './words.ts';

/** Until the policy is known, a day; the policy's own `screeningDeadline` replaces it with the first answer. */
const UNTIL_POLICY_KNOWN_MS = 24 * 3_600_000;

/** What a new attempt makes pointless to look at: it is about an earlier screening. */
const SCREENING_MATTERS: AttentionCode[] = ['no-decision', 'unreadable-answer', 'status-error'];

/** The first spacing between hints that are read. */
export const FIRST_HINT_SPACING_MS = 2_000;

/** @returns the state of an order that nobody has screened yet, with its first attempt */
export function newOrderState(
  request: {
    orderId: string;
    integration: string;
    workflow?: IntegrationWorkflow | undefined;
    cardRef?: string | undefined;
    fingerprint?: string | undefined;
  },
  now: Instant,
): OrderState {
  const order: OrderState = {
    orderId: request.orderId,
    integration: request.integration,
    workflow: request.workflow ?? 'pre-acceptance',
    phase: 'screening',
    phaseSince: now,
    decision: 'pending',
    action: 'hold',
    attempts: [],
    attention: [],
    actions: [],
    events: { sequence: 0, delivered: 0, waiting: 0 },
    hints: { unread: false, spacingMs: FIRST_HINT_SPACING_MS },
    cancelAsked: false,
    passed: [],
    startedAt: now,
  };
  addAttempt(order, request, now);
  return order;
}

/** Adds the next attempt; the order is in `screening` again. */
export function addAttempt(
  order: OrderState,
  request: { cardRef?: string | undefined; fingerprint?: string | undefined },
  now: Instant,
): Attempt {
  const attempt: Attempt = {
    number: order.attempts.length + 1,
    startedAt: now,
    transactionIds: [],
    decision: 'pending',
    readings: [],
    rescreens: 0,
    screenUntil: instant(millis(now) + (order.policy?.screeningDeadlineMs ?? UNTIL_POLICY_KNOWN_MS)),
    ...(request.cardRef !== undefined && { cardRef: request.cardRef }),
    ...(request.fingerprint !== undefined && { fingerprint: request.fingerprint }),
  };
  order.attempts.push(attempt);
  order.passed = [];
  order.phase = 'screening';
  order.phaseSince = now;
  order.decision = 'pending';
  order.action = order.policy?.passive === true ? 'proceed' : 'hold';
  order.attention = order.attention.filter((one) => !SCREENING_MATTERS.includes(one.code));
  delete order.message;
  delete order.reason;
  delete order.wouldBe;
  delete order.fraudReportedAt;
  return attempt;
}

/** @returns the attempt of that number @throws TypeError there is none, which is a fault of ours */
export function attemptNumbered(order: OrderState, number: number): Attempt {
  const attempt = order.attempts[number - 1];
  if (attempt === undefined) throw new TypeError(`the order has no attempt ${number}`);
  return attempt;
}

/** @returns the newest attempt: there always is one */
export function currentAttempt(order: OrderState): Attempt {
  const attempt = order.attempts.at(-1);
  if (attempt === undefined) throw new TypeError('an order has at least one attempt');
  return attempt;
}

// Where an order is, derived from what is known of it.

/** Sets the phase that the order's facts mean; `canceled` and `closed` are final. */
export function settle(order: OrderState, now: Instant): void {
  if (order.phase === 'canceled' || order.phase === 'closed') return;
  setPhase(order, phaseOf(order), now);
}

/** Sets the phase and when it began. */
export function setPhase(order: OrderState, phase: Phase, now: Instant): void {
  if (order.phase === phase) return;
  order.phase = phase;
  order.phaseSince = now;
  const attempt = currentAttempt(order);
  if (phase === 'declined') attempt.declinedAt = now;
}

/** Sets the action, or in passive mode `proceed` with what it would have been. */
export function setAction(order: OrderState, action: Action): void {
  const passive = order.policy?.passive === true;
  order.action = passive ? 'proceed' : action;
  if (passive) order.wouldBe = action;
}

function phaseOf(order: OrderState): Phase {
  const attempt = currentAttempt(order);
  const gateway = attempt.gateway?.result;
  if (gateway === 'fail' && order.action !== 'cancel') return 'declined';
  if (order.action === 'decline') return 'declined';
  if (order.action === 'cancel') return 'decided';
  if (attempt.rescreenDue) return 'screening';
  if (order.decision === 'pending') return attempt.screeningOver ? 'decided' : 'screening';
  if (order.decision === 'error') return attempt.screeningOver ? 'decided' : 'screening';
  if (awaitsGateway(order)) return 'awaiting-gateway';
  return order.decision === 'review' ? 'review' : 'decided';
}

/** @returns whether the order service was told to go to the gateway and hasn't said yet how that ended */
export function awaitsGateway(order: OrderState): boolean {
  const gateway = currentAttempt(order).gateway?.result;
  if (order.workflow !== 'pre-gateway' || order.decision === 'skipped') return false;
  return gateway === 'error' ? order.action === 'hold' : gateway === undefined && order.action === 'proceed';
}
