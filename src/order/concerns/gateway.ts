/**
 * The payment gateway's result: the order service reports it per attempt, and the order sends it to the screening service. The first result
 * of an attempt is final, except `error`.
 */
import type { GatewayResultAnswer } from '../../contract/answers.ts';
import type { GatewayResultRequest } from '../../contract/messages.ts';
import type { Attempt, GatewayRecord, OrderState } from '../../contract/order/state.ts';
import type { GatewayResult, Instant, OrderEventType } from '../../contract/words.ts';
import { attemptCause, clear, gatewayCause, raiseAttention } from '../attention.ts';
import { actionMeant, heldBack } from '../decide.ts';
import { defined } from '../defined.ts';
import { refusal } from '../messages/check-messages.ts';
import type { Accepted, Concern, Order, Refusal, RequiredEffect } from '../order.ts';
import { attemptNumbered, currentAttempt, overrideOf, setAction, settlePhase } from '../record.ts';
import { attemptSummary, owedFor, transactionOf } from '../transactions.ts';

export const gateway: Concern = {
  name: 'gateway',
  keepsOpen: true,

  desired: ({ state }) =>
    state.attempts.flatMap((attempt) => {
      const { gateway: result } = attempt;
      const transaction = owedFor(state, attempt);
      return result && transaction ? [send(state.integration, attempt, result, transaction.id)] : [];
    }),

  ended({ state, now }, { effect: { call } }, outcome) {
    if (outcome.status === 'failed') return 'retry-later';
    if (call.kind !== 'gateway' || outcome.status === 'canceled' || outcome.result.kind !== call.kind)
      return [];
    const { attempt: number, transactionId, gateway: sent } = call.request;
    const cause = gatewayCause(transactionId);
    const { outcome: said } = outcome.result;
    if (said.kind === 'forbidden') return [];
    const attempt = attemptNumbered(state, number);
    // A replaced result and a newer transaction each get their own call.
    if (attempt.gateway?.result !== sent.result) return [];
    if (transactionOf(state, attempt)?.id === transactionId)
      attempt.gateway.sent = said.kind === 'sent' ? now : 'not-sent';
    if (said.kind === 'sent') return [];
    const words = `The screening service refused the payment gateway’s result: ${said.words}`;
    return raiseAttention(state, 'gateway-refused', words, cause, now);
  },
};

function send(
  integration: string,
  { number }: Attempt,
  { result, authcode, transactionId: own }: GatewayRecord,
  transactionId: string,
): RequiredEffect {
  const cause = gatewayCause(transactionId);
  const sent = { result, ...defined({ authcode, transactionId: own }) };
  const request = { integration, transactionId, attempt: number, gateway: sent };
  const key = `gateway:${number}:${result}:${transactionId}`;
  const call = { kind: 'gateway', request } as const;
  return { key, resource: `gateway:${number}`, whenObsolete: 'cancel-and-await', cause, call };
}

/** @returns why the order refuses the result, or undefined: it accepts it, even if it contradicts the first */
export function gatewayRefusal(
  { state }: Pick<Order, 'state'>,
  request: GatewayResultRequest,
): Refusal | undefined {
  if (state.workflow !== 'pre-gateway') return OUT_OF_TURN;
  if (request.attempt === undefined && state.attempts.length > 1)
    return refusal('attempt-required', 'The order has several attempts: set `attempt`.');
  const attempt = attemptOf(state, request);
  if (attempt === undefined) return refusal('unknown-attempt', 'The order has no such attempt.');
  const { result: recorded, contradictions = [] } = attempt.gateway ?? {};
  // An ended order sends nothing again: the client library does.
  if (recorded === request.result)
    return state.endedAt !== undefined && attempt.gateway?.sent === 'not-sent' ? TOO_LATE : undefined;
  if (contradictions.some(({ result }) => result === request.result))
    return contradictionOf(attempt, request.result);
  // A canceled order keeps its phase when it ends.
  if (state.endedAt !== undefined) return TOO_LATE;
  if (recorded !== undefined && recorded !== 'error') return undefined;
  // A declined attempt has no payment.
  return attempt.declinedAt === undefined ? undefined : OUT_OF_TURN;
}

function contradictionOf({ number, gateway }: Attempt, result: GatewayResult): Refusal | undefined {
  if (gateway === undefined || gateway.result === result) return undefined;
  return refusal(
    'gateway-result-mismatch',
    `The payment gateway’s result of attempt ${number} is recorded as ${gateway.result}, but was later reported as ${result}. The first result stays recorded. ${ADVICE[result]}`,
  );
}

const ADVICE: Record<GatewayResult, string> = {
  pass: 'Check the payment in the gateway: if it succeeded, refund it or fulfill the order manually.',
  fail: 'Check the payment in the gateway: if it failed, cancel the order and do not ship it.',
  error: 'Check the payment in the gateway.',
};

export const RESULT_TOO_LATE =
  'The order has ended and records no gateway results. Check the payment in the gateway: refund it, or fulfill the order manually.';
const TOO_LATE = refusal('order-closed', RESULT_TOO_LATE);
const OUT_OF_TURN = refusal('gateway-result-out-of-turn', 'The order does not take this gateway result now.');

/** Records a result. A result that contradicts the first is recorded in addition to it. @returns the events to send */
export function applyGatewayResult(
  state: OrderState,
  request: GatewayResultRequest,
  now: Instant,
): OrderEventType[] {
  const attempt = attemptOf(state, request);
  if (attempt === undefined) return [];
  const { result, authcode, transactionId } = request;
  const transaction = transactionOf(state, attempt);
  const cause = transaction === undefined ? {} : gatewayCause(transaction.id);
  if (attempt.gateway?.result === result) {
    if (attempt.gateway.sent !== 'not-sent') return [];
    delete attempt.gateway.sent;
    Object.assign(attempt.gateway, defined({ authcode, transactionId }));
    clear(state, { codes: ['gateway-refused'], ...cause });
    return [];
  }
  const contradiction = contradictionOf(attempt, request.result);
  if (attempt.gateway !== undefined && contradiction !== undefined && attempt.gateway.result !== 'error') {
    const { contradictions = [] } = attempt.gateway;
    attempt.gateway.contradictions = [...contradictions, { result: request.result, at: now }];
    const own = { ...cause, ...attemptCause(attempt) };
    return raiseAttention(state, 'gateway-contradiction', contradiction.message, own, now);
  }
  const sent = attempt.decision === 'skipped' ? 'recorded' : undefined;
  attempt.gateway = { result, at: now, ...defined({ authcode, transactionId, sent }) };
  clear(state, { codes: ['gateway-late', 'gateway-error'], ...attemptCause(attempt) });
  for (const { id } of state.transactions.filter((one) => one.attempt === attempt.number))
    clear(state, { codes: ['gateway-refused'], ...gatewayCause(id) });
  if (attempt !== currentAttempt(state)) {
    if (!state.policy.passive) attempt.lastAction = result === 'fail' ? 'decline' : 'hold';
    return attentionToEarlier(state, attempt, result, now);
  }
  const isSettled = state.phase === 'canceled' || (state.wouldBe ?? state.action) === 'cancel';
  const events = isSettled ? [] : followResult(state, result, now);
  settlePhase(state, now);
  return events;
}

function followResult(state: OrderState, result: GatewayResult, now: Instant): OrderEventType[] {
  switch (result) {
    case 'fail':
      setAction(state, 'decline');
      clear(state, { codes: ['review-unresolved'] });
      if (state.action === 'decline') state.message = state.policy.declineMessage;
      return [];
    case 'error':
      setAction(state, 'hold');
      return attentionToError(state, currentAttempt(state), now);
    case 'pass':
      setAction(state, overrideOf(state)?.action ?? heldBack(state, actionMeant(state)));
      return [];
  }
}

/** A result of an earlier attempt changes no action of the order. */
function attentionToEarlier(
  state: OrderState,
  attempt: Attempt,
  result: GatewayResult,
  now: Instant,
): OrderEventType[] {
  return result === 'error' ? attentionToError(state, attempt, now) : attentionToPaid(state, attempt, now);
}

/** Raises attention if the payment of an earlier attempt succeeded: it may be one too many. @returns the events to send */
export function attentionToPaid(state: OrderState, attempt: Attempt, now: Instant): OrderEventType[] {
  if (attempt.gateway?.result !== 'pass') return [];
  const words = `The payment of attempt ${attempt.number} succeeded, but the order has a newer attempt. ${ADVICE.pass}`;
  return raiseAttention(state, 'gateway-contradiction', words, attemptCause(attempt), now);
}

function attentionToError(state: OrderState, attempt: Attempt, now: Instant): OrderEventType[] {
  const words = `The payment gateway returned \`error\` for attempt ${attempt.number}: find out whether the payment succeeded.`;
  return raiseAttention(state, 'gateway-error', words, attemptCause(attempt), now);
}

/** Gives up the results that could not be sent within a day of the order's end. @returns the events to send */
export function giveUpGateway(state: OrderState, now: Instant): OrderEventType[] {
  return state.attempts.flatMap((attempt) => {
    const transaction = owedFor(state, attempt);
    if (transaction === undefined || attempt.gateway === undefined) return [];
    attempt.gateway.sent = 'not-sent';
    return raiseAttention(state, 'gateway-not-sent', NOT_SENT, gatewayCause(transaction.id), now);
  });
}

/** Records the result. The reply contains the action to take, or says that the result contradicts the recorded one. */
export function takeGatewayResult({ state, now }: Order, request: GatewayResultRequest): Accepted {
  const { action } = state;
  const events = applyGatewayResult(state, request, now);
  // The event of new attention has the new action already.
  if (events.length === 0 && state.action !== action) events.push('order.decision_changed');
  return { taken: gatewayReply(state, request), events };
}

type GatewayReply = { gateway: GatewayResultAnswer } | { refusal: Refusal };

/**
 * Returns the reply of an ended order: it confirms a recorded result, and has a late or refused one sent on, which no record keeps. With
 * `sendFor` the caller sends the result for this transaction first: the order doesn't send any more.
 * @param state a copy of the record; a late result changes it
 */
export function gatewayReplyAfterEnd(
  state: OrderState,
  request: GatewayResultRequest,
  now: Instant,
): GatewayReply & { sendFor?: string } {
  const refused = gatewayRefusal({ state }, request);
  if (refused === undefined) return gatewayReply(state, request);
  const attempt = attemptOf(state, request);
  const sendFor = attempt && transactionOf(state, attempt)?.id;
  const isLate = refused.code === 'order-closed' && (attempt?.gateway?.result ?? 'error') === 'error';
  const isTaken = isLate && attempt === currentAttempt(state) && state.action !== 'decline';
  // A recorded result is refused only if the screening service hasn't taken it.
  const isAgain = attempt?.gateway?.result === request.result;
  if (sendFor !== undefined && (isTaken || isAgain)) {
    applyGatewayResult(state, request, now);
    return { ...gatewayReply(state, request), sendFor };
  }
  return { refusal: refused.code === 'gateway-result-out-of-turn' ? TOO_LATE : refused };
}

function gatewayReply(state: OrderState, request: GatewayResultRequest): GatewayReply {
  const attempt = attemptOf(state, request) ?? currentAttempt(state);
  const contradiction = contradictionOf(attempt, request.result);
  if (contradiction !== undefined) return { refusal: contradiction };
  const result = attempt.gateway?.result ?? request.result;
  const { wouldBe } = attempt === currentAttempt(state) ? state : {};
  return { gateway: { ...attemptSummary(state, attempt), ...defined({ wouldBe }), result } };
}

function attemptOf(state: OrderState, request: GatewayResultRequest): Attempt | undefined {
  if (request.attempt === undefined) return currentAttempt(state);
  return state.attempts.find((one) => one.number === request.attempt);
}

const NOT_SENT =
  'The payment gateway’s result could not be sent to the screening service within a day of the order’s end: report it again, or in the portal.';
