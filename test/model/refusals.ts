/** Which requests the design refuses, in which state of the model. */
import type { GatewayResult } from '../../src/orders/words.ts';
import { current, type Model, tooLateToCancel } from './model.ts';

/** A code of the design, `refused` where it says 409 without a name, `taken`, or `silent`. */
export type Expected = string;

export type Request =
  | { do: 'decision'; attempt: number; otherContent: boolean }
  | { do: 'retry'; attempt: number; otherContent: boolean }
  | { do: 'gateway-result'; attempt: number; result: GatewayResult }
  | { do: 'cancel' | 'report-fraud'; tx?: string }
  | { do: 'chargeback'; unconfirmedBefore: boolean; force: boolean }
  | { do: 'customer-code' };

/** What the design answers to a request at a moment. Sections 3 (corners) and 5 (messages, table of errors). */
export function expected(model: Model, request: Request, now: number): Expected {
  if (model.phase === 'closed') return request.do === 'decision' ? decision(model, request) : 'silent';
  switch (request.do) {
    case 'decision':
      return decision(model, request);
    case 'retry':
      return retry(model, request);
    case 'gateway-result':
      return gatewayResult(model, request);
    default:
      return portal(model, request, now);
  }
}

function decision(model: Model, request: { attempt: number; otherContent: boolean }): Expected {
  if (request.attempt > model.attempts.length) return 'unknown-attempt';
  return request.otherContent ? 'attempt-mismatch' : 'taken';
}

/** "The next attempt; in phase `declined`, or when the decision is `error`." */
function retry(model: Model, request: { attempt: number; otherContent: boolean }): Expected {
  if (request.attempt <= model.attempts.length) return request.otherContent ? 'attempt-mismatch' : 'same';
  if (request.attempt > model.attempts.length + 1) return 'refused';
  if (model.silence.phase || model.silence.decision) return 'silent';
  if (model.phase === 'declined' && !model.cancelAsked) return 'taken';
  if (model.phase === 'decided' && model.decision === 'error') return model.cancelAsked ? 'silent' : 'taken';
  if (model.decision === 'error') return 'silent';
  return model.phase === 'canceled' ? 'refused' : 'retry-out-of-turn';
}

function gatewayResult(model: Model, request: { attempt: number; result: GatewayResult }): Expected {
  if (model.policy.workflow !== 'pre-gateway') return 'refused';
  const attempt = model.attempts.find((one) => one.number === request.attempt);
  if (attempt === undefined) return 'refused';
  if (attempt.gateway === request.result) return 'same';
  if (attempt.gateway === 'error') return model.phase === 'canceled' ? 'silent' : 'taken';
  if (attempt.gateway !== undefined) return 'gateway-result-mismatch';
  if (attempt !== current(model) || model.silence.phase) return 'silent';
  if (model.phase === 'awaiting-gateway') return 'taken';
  if (model.phase === 'screening' && model.policy.whenUnavailable === 'proceed') return 'taken';
  if (model.phase === 'declined' && attempt.answer?.phase === 'declined') return 'refused';
  return 'silent';
}

function portal(
  model: Model,
  request: Exclude<Request, { do: 'decision' | 'retry' | 'gateway-result' }>,
  now: number,
): Expected {
  if (model.policy.passive) return 'passive';
  const named = 'tx' in request ? request.tx : undefined;
  const attempt =
    named === undefined ? current(model) : model.attempts.find((one) => one.txs.includes(named));
  if (attempt === undefined) return model.silence.decision ? 'silent' : 'unknown-transaction';
  const none = attempt.txs.length === 0;
  if (request.do === 'cancel') {
    if (model.phase === 'canceled') return attempt === current(model) ? 'same' : 'silent';
    if (none && model.decision !== 'pending') return 'silent';
    return tooLateToCancel(model, now, attempt) ? 'cancel-window-closed' : 'taken';
  }
  if (none)
    return model.phase === 'screening' || request.do === 'customer-code' ? 'silent' : 'no-transaction';
  if (request.do === 'chargeback' && request.unconfirmedBefore && !request.force)
    return 'outcome-unknown-before';
  return 'taken';
}
