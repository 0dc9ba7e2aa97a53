/** What must be under way, said a second time and from the order's state alone. */
import type { Call } from '../../../src/contract/calls.ts';
import type { Order } from '../../../src/order/order.ts';
import { cancelAsked, transactionOf } from '../../../src/order/transactions.ts';

/** @returns what should be under way and isn't, in words */
export function missingWork(order: Order): string | undefined {
  const { state, outbox } = order;
  const attempt = state.attempts.at(-1);
  if (attempt === undefined) return 'an order without an attempt';
  if (outbox.length > 0 && !runs(order, 'deliver') && order.continues !== true)
    return `${outbox.length} events wait, and none is delivered`;
  for (const one of state.attempts) {
    const { number, gateway } = one;
    if (gateway === undefined || gateway.sent !== undefined || transactionOf(state, one) === undefined)
      continue;
    if (!runs(order, 'gateway', number)) return `the gateway's result of attempt ${number} isn't sent`;
  }
  if (state.endedAt !== undefined) return undefined;
  if (attempt.answer === undefined) {
    return creates(order) ? undefined : 'nobody screens for a caller who waits';
  }
  const { phase, decision } = state;
  if (phase === 'screening' && decision === 'pending' && !cancelAsked(state) && !creates(order))
    return 'nobody screens an order that has no decision';
  if (phase === 'review' && decision === 'review' && !runs(order, 'poll')) return 'nobody polls a review';
  for (const { number, status, kind, transactionId } of state.actions) {
    if (status !== 'queued' && status !== 'running') continue;
    const moves = kind === 'cancel' ? creates(order) || cancels(order, transactionId) : runs(order, 'portal');
    if (!moves) return `action ${number} (${kind}) is ${status}, and nothing moves it`;
  }
  if (order.reads.length > 0 && phase !== 'screening' && phase !== 'canceled' && !runs(order, 'read'))
    return 'a read is pending, and nobody reads';
  const moves = runs(order, 'timer') || runs(order, 'look-up') || runs(order, 'portal');
  return moves || phase === 'screening' ? undefined : `no deadline is kept in phase ${phase}`;
}

function runs({ running, retryAt }: Order, kind: Call['kind'], about?: number): boolean {
  if (Object.keys(retryAt).length > 0) return true;
  return running.some(
    ({ effect: { call } }) =>
      call.kind === kind &&
      (about === undefined || (call.kind === 'gateway' && call.request.attempt === about)),
  );
}

/** A create that isn't wanted any more is waited for. */
function creates(order: Order): boolean {
  return runs(order, 'catch-up') || runs(order, 'retry-screening') || runs(order, 'look-up');
}

/** A cancel waits for an earlier one of the same transaction. */
function cancels({ running }: Order, transactionId: string | undefined): boolean {
  return running.some(
    ({ effect: { call } }) =>
      call.kind === 'portal' &&
      call.request.fields.kind === 'cancel' &&
      call.request.transactionId === transactionId,
  );
}
