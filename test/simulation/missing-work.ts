/** What must be under way, said a second time and from the order's state alone. */
import type { EffectKind, Order } from '../../src/orders/order.ts';
import { transactionOf } from '../../src/orders/transactions.ts';

/** @returns what should be under way and isn't, in words */
export function missingWork(order: Order): string | undefined {
  const { state, outbox } = order;
  if (order.refused !== undefined) return undefined;
  const attempt = state.attempts.at(-1);
  if (attempt === undefined) return 'an order without an attempt';
  if (outbox.length > 0 && !runs(order, 'deliver'))
    return `${outbox.length} events wait, and none is delivered`;
  for (const one of state.attempts) {
    const { number, gateway } = one;
    if (gateway === undefined || gateway.sent !== undefined || transactionOf(state, one) === undefined)
      continue;
    if (!runs(order, 'gateway', number)) return `the gateway's result of attempt ${number} isn't sent`;
  }
  if (state.endedAt !== undefined) return undefined;
  if (attempt.answer === undefined) {
    return runs(order, 'first-screening') ||
      runs(order, 'policy') ||
      runs(order, 'retry-screening') ||
      createsStill(order)
      ? undefined
      : 'nobody screens for a caller who waits';
  }
  const { phase, decision } = state;
  if (phase === 'screening' && decision === 'pending' && !state.cancelAsked) {
    if (!runs(order, 'catch-up') && !createsStill(order))
      return 'nobody screens an order that has no decision';
  }
  // What a look's end may stop begins after it.
  const looks = runs(order, 'look');
  if (phase === 'review' && decision === 'review' && !runs(order, 'poll') && !looks)
    return 'nobody polls a review';
  for (const { number, status, kind } of state.actions) {
    if (status !== 'queued' && status !== 'running') continue;
    if (kind === 'cancel' ? cancelMoves(order, number) : anyMoves(order)) continue;
    // What says which transaction it is about begins after the look.
    if (looks && transactionOf(state, attempt) === undefined) continue;
    return `action ${number} (${kind}) is ${status}, and nothing moves it`;
  }
  if (
    state.hints.unread &&
    state.hints.until === undefined &&
    isRead(phase) &&
    transactionOf(state, attempt) !== undefined
  ) {
    if (!looks) return 'a hint is kept, and nobody reads it';
  }
  if (state.hints.unread && state.hints.until !== undefined && isRead(phase) && !rings(order) && !looks) {
    return 'a hint is kept, and nothing will read it';
  }
  return rings(order) || looks || runs(order, 'look-up') || runs(order, 'portal') || phase === 'screening'
    ? undefined
    : `no deadline is kept in phase ${phase}`;
}

function isRead(phase: string): boolean {
  return phase === 'review' || phase === 'decided' || phase === 'awaiting-gateway' || phase === 'declined';
}

function runs({ effects }: Order, kind: EffectKind, about?: number): boolean {
  for (const { effect } of effects) {
    if (effect.kind === 'pause') return true;
    if (effect.kind !== kind) continue;
    if (about === undefined || ('attempt' in effect && effect.attempt === about)) return true;
  }
  return false;
}

/** A create that isn't wanted any more is waited for. */
function createsStill(order: Order): boolean {
  return order.effects.some(
    ({ effect }) =>
      effect.kind === 'catch-up' || effect.kind === 'retry-screening' || effect.kind === 'look-up',
  );
}

function cancelMoves(order: Order, number: number): boolean {
  return (
    createsStill(order) ||
    order.effects.some(
      ({ effect }) =>
        effect.kind === 'first-screening' || (effect.kind === 'portal' && effect.action === number),
    )
  );
}

function anyMoves(order: Order): boolean {
  return runs(order, 'portal');
}

function rings(order: Order): boolean {
  return runs(order, 'timer');
}
