/**
 * The lookup of an unconfirmed create: its request or response was lost. If the order has no decision, the found decision becomes the
 * order's. Otherwise it counts as a later decision.
 */
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { CallResult } from '../../contract/calls.ts';
import type { Attempt } from '../../contract/order/state.ts';
import type { OrderEventType } from '../../contract/words.ts';
import { clear, raiseAttention, raiseWrongKey, wrongKeyKnown } from '../attention.ts';
import type { Concern, Order, RequiredEffect } from '../order.ts';
import { attemptNumbered, currentAttempt } from '../record.ts';
import { applyScreening, HIDDEN } from '../screening/apply-screening.ts';
import { notePolicy, screenRequest } from '../screening/checkout.ts';
import { isAwaited, noneUnseen, recordLate, withoutOthers } from '../screening/record-screening.ts';
import { createUnderWay, knownTransactionIds, mayBeSeen } from '../transactions.ts';

const LOOKUP = { operation: 'lookup' } as const;

export const lookup: Concern = {
  name: 'lookup',
  keepsOpen: true,

  desired: (order) =>
    order.state.attempts
      .filter((attempt) => mayBeSeen(attempt) && isTime(order, attempt))
      .map((attempt) => look(order, attempt)),

  ended(order, { effect: { call } }, outcome) {
    if (outcome.status === 'failed') return 'retry-later';
    if (call.kind !== 'look-up' || outcome.status === 'canceled' || outcome.result.kind !== call.kind)
      return [];
    return applyLookup(order, attemptNumbered(order.state, call.request.attempt), outcome.result);
  },
};

/** Returns whether a lookup may run: not during a screening, whose transaction it could find instead, unless a cancel waits for it. */
function isTime(order: Order, attempt: Attempt): boolean {
  const { state } = order;
  if (state.phase !== 'screening') return true;
  const isCanceling = state.actions.some(
    ({ kind, status, number }) =>
      kind === 'cancel' && status === 'queued' && order.fields[number]?.transactionId === undefined,
  );
  return isCanceling && attempt === currentAttempt(state) && !createUnderWay(order);
}

function look(order: Order, attempt: Attempt): RequiredEffect {
  const { state, policyMissing } = order;
  const { number, unseen } = attempt;
  const { integration, orderId, startedAt } = state;
  const { invoiceNumber, since: unseenSince } = unseen ?? { invoiceNumber: orderId, since: startedAt };
  const known = {
    knownTransactionIds: knownTransactionIds(state, attempt),
    forbiddenKnown: wrongKeyKnown(state, LOOKUP),
    ...(policyMissing && { policyOf: screenRequest(order, currentAttempt(state)) }),
  };
  const request = { integration, attempt: number, invoiceNumber, unseenSince, startedAt, ...known };
  const call = { kind: 'look-up', request } as const;
  return { key: `look-up:${number}`, resource: 'create', whenObsolete: 'drop', cause: LOOKUP, call };
}

function applyLookup(
  order: Order,
  attempt: Attempt,
  result: Extract<CallResult, { kind: 'look-up' }>,
): OrderEventType[] {
  const { state, now } = order;
  const { outcome, sentFrom } = result;
  notePolicy(order, result);
  if (outcome.kind === 'forbidden') return raiseWrongKey(state, LOOKUP, now);
  clear(state, { codes: ['wrong-key'], ...LOOKUP });
  switch (outcome.kind) {
    case 'hidden':
      if (attempt.unseen === undefined) return [];
      attempt.unseen.hidden = true;
      return raiseAttention(state, 'transaction-unseen', HIDDEN, { operation: 'create' }, now);
    case 'none':
      noneUnseen(state, attempt);
      return [];
    case 'found':
      break;
  }
  const { transactionId, decision } = outcome;
  const seen = { transactionId, found: true, sentFrom, sentUntil: now };
  const found: ScreeningOutcome =
    decision === undefined
      ? { kind: 'unreadable', reason: 'unknown-decision', seen }
      : { ...outcome, ...seen, kind: 'answered', decision };
  if (decision !== undefined && isAwaited(state, attempt, decision))
    return applyScreening(state, found, { source: 'catch-up', now });
  return recordLate(state, attempt, withoutOthers(state, attempt, found, now), now);
}
