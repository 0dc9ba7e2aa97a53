/** What is sent to the service after a screening, and the events that leave, as the real activities behave. */
import type { Call, GatewayOutcome, PortalOutcome } from '../../src/orders/activity-contract.ts';
import { millis } from '../../src/orders/words.ts';
import {
  answered,
  askedPauseMs,
  type Context,
  earlierTryMayBeDone,
  grownPauseMs,
  moment,
  PATIENT_MS,
  retryWrongKey,
  type Try,
  type TryEnd,
  WRONG_KEY_PAUSE_MS,
  wallClock,
} from './tries.ts';

type PortalRequest = Extract<Call, { kind: 'portal' }>['request'];

/** Sends the gateway's result until the service accepts it. */
export function* sendGatewayResult(
  context: Context,
  { transactionId, gateway, forbiddenKnown }: Extract<Call, { kind: 'gateway' }>['request'],
): Try {
  const ask = { operation: 'gateway-response' as const, transactionId, result: gateway.result };
  const heard = answered(yield { ask, timeoutMs: PATIENT_MS });
  const ended = (outcome: GatewayOutcome): TryEnd => ({
    end: { how: 'done', result: { kind: 'gateway', outcome, ...moment(context) } },
  });
  if (heard.is === 'done') return ended({ kind: 'sent' });
  if (heard.is !== 'failed') return ended({ kind: 'refused', words: heard.is });
  if (heard.reason === 'forbidden') return forbiddenKnown ? retryWrongKey() : ended({ kind: 'forbidden' });
  const pauseMs = askedPauseMs(heard);
  return { again: heard.reason, ...(pauseMs !== undefined && { pauseMs }) };
}

/** Sends one portal action; after an unknown outcome a chargeback isn't sent again, and a cancel is never sent late. */
export function* portalAction(context: Context, request: PortalRequest, begunHere: boolean): Try {
  const { fields, transactionId } = request;
  const earlier = earlierTryMayBeDone(context);
  const mayBeDone = earlier || request.maybeDone === true || !begunHere;
  const ended = (outcome: PortalOutcome): TryEnd => ({
    end: { how: 'done', result: { kind: 'portal', outcome, ...moment(context) } },
  });
  if (!mayBeDone && context.askedToStop()) return ended({ kind: 'not-sent' });
  const repeatable = fields.kind !== 'chargeback' || (fields.force === true && !earlier);
  if (mayBeDone && !repeatable) return ended({ kind: 'unconfirmed' });
  if (fields.kind !== 'customer-code' && transactionId === undefined) {
    return ended({ kind: 'refused', message: 'No transaction is named.' });
  }
  const left = timeLeftMs(context, request);
  if (!(left > 0)) return ended(mayBeDone ? { kind: 'unconfirmed' } : { kind: 'too-late' });
  const { email } = request;
  const ask = {
    operation: 'portal' as const,
    fields,
    ...(transactionId !== undefined && { transactionId }),
    ...(email !== undefined && { email }),
  };
  const heard = answered(yield { ask, timeoutMs: Math.min(PATIENT_MS, left) });
  if (heard.is === 'done') return ended({ kind: 'done', code: '200' });
  if (heard.is === 'refused') {
    if (mayBeDone) return ended({ kind: 'unconfirmed', message: heard.words });
    return ended({ kind: 'refused', code: heard.code, message: heard.words });
  }
  if (heard.is !== 'failed') throw new TypeError(`a portal action was answered ${heard.is}`);
  const forbidden = heard.reason === 'forbidden';
  if (forbidden || heard.outcome === 'not-done') {
    if (!mayBeDone && context.askedToStop()) return ended({ kind: 'not-sent' });
    if (!earlier) context.tellNext(context.attempt);
  }
  if (forbidden) {
    if (!request.forbiddenKnown) return ended({ kind: 'forbidden', ...(mayBeDone && { maybeDone: true }) });
    return retryWrongKey(beforeTheEnd(context, request, WRONG_KEY_PAUSE_MS));
  }
  if (heard.outcome === 'unknown' && fields.kind === 'chargeback') return ended({ kind: 'unconfirmed' });
  const pauseMs = askedPauseMs(heard) ?? grownPauseMs(context, 1_000);
  return { again: heard.reason, pauseMs: beforeTheEnd(context, request, pauseMs) };
}

/** A cancel is sent once more before its last moment, however long the pause would be. */
function beforeTheEnd(context: Context, request: PortalRequest, pauseMs: number): number {
  const left = timeLeftMs(context, request);
  return Math.max(1, Math.round(Math.min(pauseMs, Math.max(1_000, left / 2), left)));
}

function timeLeftMs(context: Context, { notAfter }: PortalRequest): number {
  return notAfter === undefined ? Number.MAX_SAFE_INTEGER : millis(notAfter) - wallClock(context);
}

/** Delivers in order; a second try goes on after the last event that arrived. */
export function* deliver(context: Context, { events }: Extract<Call, { kind: 'deliver' }>): Try {
  const arrived = context.told ?? 0;
  for (const event of events) {
    if (event.sequence <= arrived) continue;
    yield 3;
    if (!context.receiver.take(event, context.agenda.now)) return { again: 'not-delivered' };
    context.tellNext(event.sequence);
  }
  return { end: { how: 'done', result: { kind: 'deliver', ...moment(context) } } };
}

export function* forgetCard(
  context: Context,
  { cardRef }: Extract<Call, { kind: 'forget-card' }>['request'],
): Try {
  yield 2;
  context.stash.until.delete(cardRef);
  return { end: { how: 'done', result: { kind: 'forget-card', ...moment(context) } } };
}
