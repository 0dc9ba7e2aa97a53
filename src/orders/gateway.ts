/** The payment gateway's result. */
import type { GatewayOutcome } from './activity-contract.ts';
import { isOver } from './deadlines.ts';
import type { OrderErrorCode } from './errors.ts';
import type { GatewayResultAnswer, GatewayResultRequest, OrderEventType } from './messages.ts';
import {
  clear,
  currentAttempt,
  overrideOf,
  raiseAttention,
  raiseWrongKey,
  setAction,
  settle,
} from './record.ts';
import type { Attempt, OrderState } from './state.ts';
import { type Action, GATEWAY_RESULTS, type GatewayResult, type Instant } from './words.ts';

/** @returns why the order doesn't take this result, or undefined: it does */
export function gatewayResultRefusal(
  order: OrderState,
  request: GatewayResultRequest,
  nowMs: number,
): OrderErrorCode | undefined {
  if (!GATEWAY_RESULTS.includes(request?.result)) return 'invalid-request';
  if (order.workflow !== 'pre-gateway') return 'gateway-result-out-of-turn';
  if (request.attempt === undefined && order.attempts.length > 1) return 'attempt-required';
  const attempt = attemptOf(order, request);
  if (attempt === undefined) return 'unknown-attempt';
  const recorded = attempt.gateway?.result;
  if (recorded === request.result) return undefined;
  if (recorded !== undefined && recorded !== 'error') return 'gateway-result-mismatch';
  // A canceled order that ends keeps its phase, and sends nothing on any more.
  if (isOver(order, nowMs)) return 'order-closed';
  const current = attempt === currentAttempt(order);
  if (!current || order.phase === 'declined') return 'gateway-result-out-of-turn';
  return undefined;
}

/** Records the result, and what follows. @returns the events that it means */
export function applyGatewayResult(
  order: OrderState,
  request: GatewayResultRequest,
  now: Instant,
): OrderEventType[] {
  const attempt = attemptOf(order, request);
  if (attempt === undefined || attempt.gateway?.result === request.result) return [];
  attempt.gateway = {
    result: request.result,
    at: now,
    ...(request.authcode !== undefined && { authcode: request.authcode }),
    ...(request.transactionId !== undefined && { transactionId: request.transactionId }),
    ...(order.decision === 'skipped' && { sent: 'recorded' as const }),
  };
  clear(order, 'gateway-late', 'gateway-error');
  const events: OrderEventType[] = [];
  const settled = order.phase === 'canceled' || order.action === 'cancel' || order.decision === 'skipped';
  if (!settled) followResult(order, request.result, now, events);
  settle(order, now);
  return events;
}

function followResult(
  order: OrderState,
  result: GatewayResultRequest['result'],
  now: Instant,
  events: OrderEventType[],
): void {
  switch (result) {
    case 'fail':
      setAction(order, 'decline');
      if (order.action === 'decline' && order.policy !== undefined)
        order.message = order.policy.declineMessage;
      break;
    case 'error':
      setAction(order, 'hold');
      events.push(...raiseAttention(order, 'gateway-error', GATEWAY_ERROR, now));
      break;
    case 'pass':
      setAction(order, overrideOf(order)?.action ?? actionAfterGateway(order));
      break;
  }
}

/**
 * Brings in how the sending of a result ended. One that was replaced meanwhile leaves the newer one to be sent.
 * @returns the events that it means
 */
export function applyGatewaySent(
  order: OrderState,
  attempt: Attempt,
  result: GatewayResult,
  outcome: GatewayOutcome,
  now: Instant,
): OrderEventType[] {
  if (outcome.kind === 'forbidden') return raiseWrongKey(order, now);
  clear(order, 'wrong-key');
  if (attempt.gateway?.result === result) attempt.gateway.sent = outcome.kind === 'sent' ? now : 'recorded';
  if (outcome.kind === 'sent') return [];
  const words = `The service refused the payment gateway’s result: ${outcome.words}`;
  return raiseAttention(order, 'gateway-refused', words, now);
}

/** Without a decision the action given at checkout stands. */
function actionAfterGateway(order: OrderState): Action {
  if (order.decision === 'pass') return 'proceed';
  if (order.decision === 'review') return 'hold';
  const { answer } = currentAttempt(order);
  return answer?.wouldBe ?? answer?.action ?? 'hold';
}

/** @returns the answer to the order service: what to do now */
export function gatewayResultAnswer(order: OrderState, request: GatewayResultRequest): GatewayResultAnswer {
  const attempt = attemptOf(order, request) ?? currentAttempt(order);
  return {
    orderId: order.orderId,
    integration: order.integration,
    attempt: attempt.number,
    result: attempt.gateway?.result ?? request.result,
    decision: order.decision,
    action: order.action,
    phase: order.phase,
    ...(attempt.transactionId !== undefined && { transactionId: attempt.transactionId }),
    ...(attempt.cancelBy !== undefined && { cancelBy: attempt.cancelBy }),
  };
}

function attemptOf(order: OrderState, request: GatewayResultRequest): Attempt | undefined {
  if (request.attempt === undefined) return currentAttempt(order);
  return order.attempts.find((one) => one.number === request.attempt);
}

const GATEWAY_ERROR = 'The payment gateway answered «error»: find out whether the payment went through.';
