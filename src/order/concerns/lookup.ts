/**
 * The lookup of an unconfirmed create: its request or response was lost. If the order has no decision, the found decision becomes the
 * order's. Otherwise it counts as a later decision.
 */
import type { ScreeningOutcome } from '../../contract/activity-contract.ts';
import type { CallResult } from '../../contract/calls.ts';
import type { Attempt, UnseenCreate } from '../../contract/order/state.ts';
import { laterBy, type OrderEventType } from '../../contract/words.ts';
import { raiseAttention } from '../attention.ts';
import type { Concern, Order, RequiredEffect } from '../order.ts';
import { attemptNumbered, currentAttempt } from '../record.ts';
import { applyScreening, CREATE, HIDDEN } from '../screening/apply-screening.ts';
import { isAwaited, noneUnseen, recordLate, withoutOthers } from '../screening/record-screening.ts';
import { createUnderWay, knownTransactionIds, mayBeSeen } from '../transactions.ts';

export const lookup: Concern = {
  name: 'lookup',
  keepsOpen: true,

  desired: (order) =>
    order.state.attempts.flatMap((attempt) => {
      const { unseen } = attempt;
      const isDue = unseen !== undefined && mayBeSeen(attempt) && isTime(order, attempt);
      return isDue ? [look(order, attempt, unseen)] : [];
    }),

  ended(order, { effect: { call } }, outcome) {
    if (outcome.status !== 'completed') return 'retry-later';
    if (call.kind !== 'look-up' || outcome.result.kind !== call.kind) return [];
    return applyLookup(order, attemptNumbered(order.state, call.request.attempt), outcome.result);
  },
};

/**
 * Returns whether a lookup may run: not before the policy is known, nor during a screening, whose transaction it could find instead, unless
 * a cancel waits for it.
 */
function isTime(order: Order, attempt: Attempt): boolean {
  const { state } = order;
  if (order.policyMissing) return false;
  if (state.phase !== 'screening') return true;
  const isCanceling = state.actions.some(
    ({ kind, status, number }) =>
      kind === 'cancel' && status === 'queued' && order.fields[number]?.transactionId === undefined,
  );
  return isCanceling && attempt === currentAttempt(state) && !createUnderWay(order);
}

function look({ state }: Order, attempt: Attempt, unseen: UnseenCreate): RequiredEffect {
  const { number } = attempt;
  const request = {
    integration: state.integration,
    attempt: number,
    invoiceNumber: unseen.invoiceNumber,
    unseenSince: unseen.since,
    startedAt: state.startedAt,
    cancelBy: laterBy(state.policy.cancelWindowMs, unseen.since),
    knownTransactionIds: knownTransactionIds(state, attempt),
  };
  const cause = { operation: 'lookup' } as const;
  const call = { kind: 'look-up', request } as const;
  return { key: `look-up:${number}`, resource: 'create', whenObsolete: 'drop', cause, call };
}

function applyLookup(
  order: Order,
  attempt: Attempt,
  result: Extract<CallResult, { kind: 'look-up' }>,
): OrderEventType[] {
  const { state, now } = order;
  const { outcome, sentFrom } = result;
  if (outcome.kind === 'forbidden') return [];
  if (outcome.kind === 'hidden') {
    if (attempt.unseen !== undefined) attempt.unseen.hidden = true;
    return raiseAttention(state, 'transaction-unseen', HIDDEN, CREATE, now);
  }
  if (outcome.kind === 'none') {
    noneUnseen(state, attempt);
    return [];
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
