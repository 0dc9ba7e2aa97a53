/** The beginning of an order and of each attempt. */
import type { Attempt, AttentionCode, OrderState } from './state.ts';
import { type Instant, type IntegrationWorkflow, instant, millis } from './words.ts';

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
