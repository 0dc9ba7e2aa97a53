/** What hints, readings of the status and gateway results mean. Design section 3. */
import type { OrderDecision } from '../../src/orders/words.ts';
import type { Entry } from './log.ts';
import {
  cancelByOf,
  clearTrouble,
  current,
  fallSilent,
  type Model,
  move,
  raiseWrongKey,
  SOON_MS,
  tooLateToCancel,
} from './model.ts';
import { later } from './model-screening.ts';

/** "In `awaiting-gateway`, `review`, `declined`, `decided` it makes us read"; one for another transaction is ignored. */
export function hint(model: Model, entry: Extract<Entry, { kind: 'hint' }>): void {
  const own = entry.tx === undefined || current(model).txs.includes(entry.tx);
  const reads = ['awaiting-gateway', 'review', 'declined', 'decided'].includes(model.phase);
  const readable =
    current(model).txs.length > 0 && model.decision !== 'error' && model.decision !== 'pending';
  if (own && reads && readable && !model.silence.phase) model.hinted ??= entry.at;
}

export function read(model: Model, entry: Extract<Entry, { kind: 'read' }>): void {
  const attempt = current(model);
  if (!attempt.txs.includes(entry.tx)) return;
  const over = model.phase === 'canceled' || model.phase === 'closed';
  if (over && !model.silence.phase && entry.at > model.since + SOON_MS) {
    model.faults.push(`the status was read in phase ${model.phase}`);
  }
  model.lastRead = entry.at;
  if (entry.got !== 'unanswered') delete model.hinted;
  if (entry.got === 'forbidden') {
    raiseWrongKey(model);
    return;
  }
  if (entry.got === 'unanswered') return;
  clearTrouble(model);
  if (model.phase === 'canceled' || model.phase === 'closed') return; // "ignores readings once `canceled`"
  if (entry.got === 'unreadable' || entry.got === 'error') {
    // "`error`, 404 or an unknown word never replaces a decision: attention." An acknowledged one: silent.
    if (model.decision === 'error') return;
    if (!model.perhaps.has('status trouble')) model.causes.add('status trouble');
    return;
  }
  model.causes.delete('status trouble');
  model.perhaps.delete('status trouble');
  const before = model.decision;
  const now = entry.got;
  if (before === now) return;
  if (model.cancelAsked) {
    fallSilent(model, 'a reading while a cancel is on its way or was refused');
    return;
  }
  if (model.phase === 'screening' || before === 'error' || before === 'pending') {
    fallSilent(model, 'a reading over no decision');
    return;
  }
  const bad = (one: OrderDecision) => one === 'fail' || one === 'fraudulent';
  model.decision = attempt.decision = now;
  model.fraudReported = undefined;
  model.events.push(before === 'review' ? 'order.review_resolved' : 'order.decision_changed');
  if (model.phase === 'declined') {
    // "fail → pass: an event, the action stays." Others of a declined order: silent.
    if (!(bad(before) && now === 'pass'))
      fallSilent(model, 'a declined order is read', 'phase', 'action', 'events');
    return;
  }
  if (before === 'review') {
    model.causes.delete('review unresolved');
    model.perhaps.delete('review unresolved');
    if (bad(now) && tooLateToCancel(model, entry.at)) {
      // "A later fail means action `cancel` and attention, no portal call."
      model.causes.add('failed after the window');
      move(model, 'decided', entry.at, 'cancel');
      fallSilent(model, 'when a review that was resolved after the window is closed', 'phase', 'events');
      return;
    }
    const cancelBy = cancelByOf(model);
    later(model, now, entry.at);
    if (cancelBy !== undefined && entry.at > cancelBy && model.phase === 'decided') {
      fallSilent(model, 'when a review that was resolved after the window is closed', 'phase', 'events');
    }
    return;
  }
  if (before === 'pass') {
    if (model.phase === 'awaiting-gateway' && now === 'review') {
      fallSilent(model, 'pass becomes review before the gateway answered');
      return;
    }
    later(model, now, entry.at);
    return;
  }
  if (bad(before) && now === 'review') fallSilent(model, 'fail becomes review');
}

export function gatewayResult(model: Model, entry: Extract<Entry, { kind: 'gateway-result' }>): void {
  const attempt = model.attempts.find((one) => one.number === entry.attempt);
  if (attempt === undefined) return;
  const before = attempt.gateway;
  if (before === entry.result) return;
  attempt.gateway = entry.result;
  if (model.causes.delete('gateway late')) model.perhaps.delete('gateway late');
  model.perhaps.delete('gateway late');
  if (attempt !== current(model)) return;
  if (before === 'error') {
    model.causes.delete('gateway error');
    model.perhaps.delete('gateway error');
  }
  if (model.decision === 'skipped' || model.phase === 'canceled' || model.phase === 'closed') return;
  if (model.action === 'cancel') return; // "A later approval is sent on and doesn't change it."
  if (model.cancelAsked) {
    fallSilent(model, 'a gateway result while a cancel is on its way');
    return;
  }
  if (model.policy.passive) {
    fallSilent(model, 'a passive order after the gateway', 'phase', 'attention', 'events');
    return;
  }
  if (model.phase === 'screening') {
    if (entry.result !== 'pass') fallSilent(model, 'a gateway result that is no pass without a decision');
    return;
  }
  switch (entry.result) {
    case 'pass':
      if (model.decision === 'pass') {
        move(model, 'decided', entry.at, 'proceed');
        return;
      }
      if (model.decision === 'review') {
        move(model, 'review', entry.at, 'hold');
        return;
      }
      {
        fallSilent(model, 'an approval over another decision');
        return;
      }
    case 'fail': {
      move(model, 'declined', entry.at, 'decline');
      return;
    }
    case 'error':
      // "Sent; `hold`, attention." The phase isn't said.
      model.causes.add('gateway error');
      model.action = 'hold';
      {
        fallSilent(model, 'the phase after the gateway result error', 'phase');
        return;
      }
  }
}
