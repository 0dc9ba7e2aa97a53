/** Who waits for an answer of an order, for how long, and what a checkout is told. */
import type { Asked, Order, Refusal, Reply, Ticket } from './order.ts';
import { actionNumbered, portalAnswer, portalFailure } from './portal.ts';
import { isUnderWay } from './portal-requests.ts';
import { currentAttempt } from './record.ts';
import type { ActionRecord, Attempt, CheckoutAnswer, OrderState } from './state.ts';
import { cancelByOf, transactionOf } from './transactions.ts';
import { type Instant, instant, millis } from './words.ts';

/** Temporal lets ten updates be in flight: those who wait for an end leave room for what comes at once. */
export const MOST_WAITING = 6;
const MOST_FOR_THE_SAME = 2;
/** Whoever waits for a portal action is told after that time that it goes on. */
const WAIT_MS = 10_000;

/** @returns whether one more may wait for the same thing */
export function mayWait(order: Order, isSame: (ticket: Ticket) => boolean): boolean {
  const waiting = order.tickets.length + order.held.length;
  return waiting < MOST_WAITING && order.tickets.filter(isSame).length < MOST_FOR_THE_SAME;
}

/**
 * @returns whether somebody waits for the newest attempt's answer. Who starts an order says until when, and need not be known by a
 * ticket: the fast path has none.
 */
export function callerWaits({ state, asked: { answerBy }, tickets, now }: Order): boolean {
  const { number } = currentAttempt(state);
  if (number === 1) return answerBy !== undefined && millis(now) <= millis(answerBy);
  return tickets.some((one) => 'attempt' in one && one.attempt === number);
}

/** @returns when what can't be judged yet is to be sent again */
export function heldUntil({ at }: Pick<Asked, 'at'>): Instant {
  return instant(millis(at) + WAIT_MS);
}

/** @returns when the first of those who wait bounded is told something */
export function ticketsUntil({ tickets, held }: Pick<Order, 'tickets' | 'held'>): Instant | undefined {
  let first: Instant | undefined;
  for (const at of [...tickets.flatMap((one) => ('until' in one ? one.until : [])), ...held.map(heldUntil)]) {
    if (first === undefined || at < first) first = at;
  }
  return first;
}

/** Has whoever asked wait for the action's end, unless too many do. */
export function waitForAction(
  order: Order,
  { ticket, at }: { ticket: number; at: Instant },
  { number }: ActionRecord,
  replies: Reply[],
  withdraws = false,
): void {
  if (mayWait(order, (one) => 'action' in one && one.action === number)) {
    const until = instant(millis(at) + WAIT_MS);
    order.tickets.push({ number: ticket, action: number, until, ...(withdraws && { withdraws }) });
  } else replies.push(goesOn(order, ticket, number));
}

/** Tells those whose time to wait is over, or all, that the action goes on. */
export function tellThatItGoesOn(order: Order, replies: Reply[], all = false): void {
  order.tickets = order.tickets.filter((ticket) => {
    if (
      !('until' in ticket) ||
      !isUnderWay(actionNumbered(order.state, ticket.action)) ||
      (ticket.until > order.now && !all)
    )
      return true;
    replies.push(goesOn(order, ticket.number, ticket.action));
    return false;
  });
}

function goesOn({ state }: Order, ticket: number, number: number): Reply {
  return { ticket, portal: portalAnswer(state, actionNumbered(state, number)) };
}

/** Answers everybody whose answer is there. */
export function answerTickets(order: Order, replies: Reply[]): void {
  const { refused } = order;
  order.tickets = order.tickets.filter((ticket) => {
    const reply =
      refused === undefined ? replyTo(order, ticket) : { ticket: ticket.number, refusal: refused };
    if (reply !== undefined) replies.push(reply);
    return reply === undefined;
  });
  if (refused === undefined) return;
  for (const { ticket } of order.held) replies.push({ ticket, refusal: refused });
  order.held = [];
}

function replyTo({ state }: Order, ticket: Ticket): Reply | undefined {
  if ('attempt' in ticket) {
    const answer = answerNow(state, ticket.attempt);
    return answer === undefined ? undefined : { ticket: ticket.number, checkout: answer };
  }
  const record = actionNumbered(state, ticket.action);
  if (isUnderWay(record)) return undefined;
  return { ticket: ticket.number, ...endOf(state, record, ticket.withdraws === true) };
}

function endOf(
  state: Order['state'],
  record: ActionRecord,
  withdraws: boolean,
): { portal: ReturnType<typeof portalAnswer> } | { refusal: Refusal } {
  if (withdraws && record.status === 'withdrawn') return { portal: portalAnswer(state, record) };
  const failed = portalFailure(record);
  if (failed === undefined) return { portal: portalAnswer(state, record) };
  return {
    refusal: {
      ...failed,
      ...(record.code !== undefined && { serviceCode: record.code }),
      ...(record.code !== undefined && record.message !== undefined && { serviceMessage: record.message }),
    },
  };
}

// What a checkout is told.

/** @returns the answer to the checkout of an attempt, the newest unless named, from the order as it is; its insights are those of the reading */
export function checkoutAnswer(state: OrderState, attempt: Attempt = currentAttempt(state)): CheckoutAnswer {
  const newest = attempt === currentAttempt(state);
  const transaction = transactionOf(state, attempt);
  const cancelBy = cancelByOf(state, attempt);
  return {
    orderId: state.orderId,
    integration: state.integration,
    attempt: attempt.number,
    decision: attempt.decision,
    action: state.action,
    phase: state.phase,
    ...(transaction !== undefined && { transactionId: transaction.id }),
    ...(state.message !== undefined && { message: state.message }),
    ...(cancelBy !== undefined && { cancelBy }),
    ...(state.wouldBe !== undefined && { wouldBe: state.wouldBe }),
    ...(newest && state.reason !== undefined && { reason: state.reason }),
    ...(attempt.fingerprint !== undefined && { fingerprint: attempt.fingerprint }),
  };
}

/**
 * Rule «pending becomes the decision»: what was answered stands, but for a `pending` that wasn't declined.
 * @returns what the checkout of the attempt is told when it asks now; undefined: it has no answer yet
 */
export function answerNow(state: OrderState, number: number): CheckoutAnswer | undefined {
  const attempt = state.attempts.find((one) => one.number === number);
  const answer = attempt?.answer;
  if (attempt === undefined || answer === undefined) return undefined;
  const { decision = 'pending', insights, source } = attempt.readings[0] ?? {};
  if (answer.decision !== 'pending' || answer.action === 'decline') {
    return { ...answer, ...(source === 'checkout' && insights && { insights }) };
  }
  return { ...checkoutAnswer(state, attempt), decision, ...(insights && { insights }) };
}
