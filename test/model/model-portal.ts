/** What cancels and other portal actions mean. Design sections 3 and 6. */
import type { Entry } from './log.ts';
import {
  clearTrouble,
  current,
  fallSilent,
  type Model,
  move,
  raiseWrongKey,
  SOON_MS,
  tooLateToCancel,
} from './model.ts';

export function cancelAsked(model: Model, entry: Extract<Entry, { kind: 'cancel' }>): void {
  const { txs, maybeMade } = current(model);
  const { phase } = model;
  if (entry.tx !== undefined && !txs.includes(entry.tx)) return;
  if (model.phase === 'canceled') return;
  model.cancelAsked = true;
  // "None: `canceled` locally."
  if (txs.length > 0 || maybeMade || phase === 'screening') return;
  canceled(model, entry.at);
  fallSilent(model, 'events of a cancel without a decision', 'events');
}

export function canceled(model: Model, at: number): void {
  model.phase = 'canceled';
  model.since = at;
  model.action = 'cancel';
  model.cancelAsked = false;
  model.causes.clear();
  model.events.push('order.canceled', 'order.closed');
  delete model.silence.phase;
  delete model.silence.action;
  fallSilent(model, 'which attention a cancel ends', 'attention');
}

/** "`autoCancel`", "`onUnresolvedReview: cancel` calls the service whatever `autoCancel` says", "passive: no portal call". */
function checkPortal(model: Model, entry: Extract<Entry, { kind: 'portal' }>): void {
  if (model.policy.passive) model.faults.push(`a portal call in passive mode: ${entry.action}`);
  if (entry.action !== 'cancel' || entry.result === 'too-late') return;
  const attempt = model.attempts.find((one) => entry.tx !== undefined && one.txs.includes(entry.tx));
  if (attempt === undefined) {
    model.faults.push('a cancel of a transaction that is not the order’s');
  } else if (tooLateToCancel(model, entry.at - SOON_MS / 30, attempt)) {
    model.faults.push('a cancel was sent after the last moment');
  }
  const wanted = model.cancelAsked || (model.policy.autoCancel && model.action === 'cancel');
  if (attempt === current(model) && !wanted && !model.silence.action) {
    model.faults.push('a cancel that nobody asked for');
  }
}

export function portal(model: Model, entry: Extract<Entry, { kind: 'portal' }>): void {
  checkPortal(model, entry);
  if (entry.result === 'forbidden') {
    raiseWrongKey(model);
    return;
  }
  if (entry.result === 'unanswered') return;
  clearTrouble(model);
  const own = entry.tx !== undefined && current(model).txs.includes(entry.tx);
  if (entry.action === 'cancel' && own) {
    if (entry.result === 'done') {
      canceled(model, entry.at);
      return;
    }
    // "Cancel refused: phase `decided`, action `cancel`, attention; may be asked again."
    model.causes.add(entry.result === 'too-late' ? 'cancel too late' : 'cancel refused');
    model.action = 'cancel';
    if (entry.result === 'refused') move(model, 'decided', entry.at, 'cancel');
    delete model.silence.phase;
    delete model.silence.action;
    if (entry.result === 'too-late') {
      fallSilent(model, 'the phase after a cancel that came too late', 'phase', 'events');
    }
    if (model.decision === 'review')
      fallSilent(model, 'a review whose cancel was refused', 'phase', 'events');
    model.cancelAsked = true;
    return;
  }
  if (entry.result === 'refused' || entry.result === 'unconfirmed') model.perhaps.add('portal trouble');
  if (entry.action === 'cancel') return; // of an earlier attempt
  if (entry.action === 'report-fraud' && entry.result === 'done' && own) model.fraudReported = entry.at;
}
