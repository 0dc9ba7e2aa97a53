/** What the answers to creates and look-ups mean. Design sections 2 (the table) and 3. */
import type { Decision } from '../../src/orders/words.ts';
import type { Entry } from './log.ts';
import {
  clearTrouble,
  closed,
  current,
  decidedEvent,
  fallSilent,
  type Model,
  move,
  raiseWrongKey,
  SOON_MS,
} from './model.ts';
import { canceled } from './model-portal.ts';

export function screened(model: Model, entry: Extract<Entry, { kind: 'screened' }>): void {
  const attempt = current(model);
  const { result } = entry;
  const first = attempt.answer === undefined;
  checkCreate(model, entry);
  // "`cancelBy` counts from the first try": also one with a wrong key, behind which the next may be sent any moment.
  // Each transaction has a window of its own: one that a rescreen makes counts from the rescreen.
  if (result.is !== 'skipped' && !attempt.trying) attempt.firstTry = entry.at;
  attempt.trying = result.is === 'unanswered' || result.is === 'forbidden';
  if (result.is === 'refused' && attempt.txs.length === 0) {
    fallSilent(model, 'whether a refused create opens a window', 'phase', 'events', 'attention');
  }
  if (result.is === 'forbidden') {
    // "403 is a wrong key, an operator's mistake: attention at once."
    raiseWrongKey(model);
  } else if (result.is !== 'unanswered') clearTrouble(model);
  if (model.cancelAsked && !first) {
    if (result.is === 'answered') attempt.txs.push(result.tx);
    fallSilent(
      model,
      'a decision arrives while the cancel is on its way',
      'decision',
      'action',
      'phase',
      'events',
    );
    return;
  }
  switch (result.is) {
    case 'skipped':
      model.decision = attempt.decision = 'skipped';
      move(model, 'decided', entry.at, 'proceed');
      decidedEvent(model);
      // A gateway result is still "recorded": how long it is waited for is not said.
      if (model.policy.workflow === 'pre-gateway')
        fallSilent(model, 'when a skipped order before the gateway is closed', 'phase', 'events');
      closed(model);
      break;
    case 'unanswered':
    case 'forbidden':
      if (first) unavailable(model, 'pending', entry.at);
      break;
    case 'refused':
      model.decision = attempt.decision = 'error';
      if (first) unavailable(model, 'error', entry.at);
      model.causes.add('no decision');
      if (model.action !== 'decline') move(model, 'decided', entry.at);
      decidedEvent(model);
      break;
    case 'answered':
      if (!attempt.txs.includes(result.tx)) attempt.txs.push(result.tx);
      answered(model, result.decision, entry.at, first);
      break;
  }
  if (first) attempt.answer = { decision: model.decision, action: model.action, phase: model.phase };
  // Skipped orders are "`decided`, then `closed`": which of them the caller sees is not said.
  if (first && result.is === 'skipped') delete attempt.answer?.phase;
}

/** "Before any second POST, `GET /status_by_invoice`"; "no further create"; "`rescreenOnError` 3 tries". */
function checkCreate(model: Model, entry: Extract<Entry, { kind: 'screened' }>): void {
  const attempt = current(model);
  if (attempt.maybeMade && !entry.lookedFirst) model.faults.push('a second create without a look first');
  attempt.maybeMade = entry.result.is === 'unanswered';
  if (attempt.answer === undefined) return;
  const late = entry.at > model.since + SOON_MS;
  if ((model.phase === 'canceled' || model.phase === 'closed') && late && !model.silence.phase) {
    model.faults.push(`screened in phase ${model.phase}`);
  }
  const final = !['error', 'pending'].includes(attempt.decision);
  if (final) model.faults.push(`screened again after the decision ${attempt.decision}`);
  if (attempt.errors > model.policy.rescreenOnError.tries && model.rechecks === 0) {
    model.faults.push('screened again after the last rescreen');
  }
}

function answered(model: Model, decision: Decision, at: number, first: boolean): void {
  const attempt = current(model);
  if (decision === 'error') {
    attempt.errors += 1;
    model.decision = attempt.decision = 'error';
    if (first) unavailable(model, 'error', at);
    else if (model.phase === 'decided') return;
    // "`rescreenOnError`: 3 tries, 1m apart"; after them "`error` to the end".
    const over = attempt.errors > model.policy.rescreenOnError.tries;
    if (model.phase === 'screening' && over) {
      move(model, 'decided', at);
      model.causes.add('no decision');
    }
    fallSilent(model, 'when the event of the decision error is sent', 'events');
    if (model.phase === 'declined') fallSilent(model, 'a declined error', 'phase', 'attention');
    return;
  }
  model.decision = attempt.decision = decision;
  model.causes.delete('no decision');
  model.perhaps.delete('no decision');
  decidedEvent(model);
  if (first) atCheckout(model, decision, at);
  else later(model, decision, at);
}

/** The table of section 2, columns "at checkout". */
function atCheckout(model: Model, decision: Decision, at: number): void {
  const { workflow, reviewBeforeGateway, passive } = model.policy;
  const pre = workflow === 'pre-gateway';
  if (decision === 'pass') {
    move(model, pre ? 'awaiting-gateway' : 'decided', at, 'proceed');
    return;
  }
  if (decision === 'review') {
    if (passive && pre) fallSilent(model, 'the phase of a passive review before the gateway', 'phase');
    if (pre && reviewBeforeGateway === 'proceed') {
      move(model, 'awaiting-gateway', at, 'proceed');
      return;
    }
    move(model, 'review', at, 'hold');
    return;
  }
  if (passive) fallSilent(model, 'the phase of a passive fail', 'phase', 'events', 'attention');
  if (workflow === 'post-acceptance') {
    move(model, 'decided', at, 'cancel');
    return;
  }
  move(model, 'declined', at, 'decline');
}

/** The table's last column, and "pre-gateway `proceed`: phase `awaiting-gateway` until the gateway's result". */
export function later(model: Model, decision: Decision, at: number): void {
  const { gateway } = current(model);
  const pre = model.policy.workflow === 'pre-gateway';
  if (model.phase === 'declined') return; // "a transaction that turns up late is recorded, not acted on"
  if (model.policy.passive) fallSilent(model, 'phases of a passive order after a review', 'phase', 'events');
  if (gateway === 'error') {
    fallSilent(model, 'a new decision over the gateway result error');
    return;
  }
  switch (decision) {
    case 'pass':
      if (pre && gateway === undefined) {
        move(model, 'awaiting-gateway', at, 'proceed');
        return;
      }
      {
        move(model, 'decided', at, 'proceed');
        return;
      }
    case 'review':
      if (pre && gateway === undefined)
        fallSilent(model, 'a late review before the gateway', 'phase', 'action');
      {
        move(model, 'review', at, 'hold');
        return;
      }
    case 'fail':
    case 'fraudulent': {
      move(model, 'decided', at, 'cancel');
      return;
    }
    case 'error':
      return;
  }
}

/** "error, pending: policy `whenUnavailable`"; "`hold` and `proceed` stay in `screening`; `decline` is `declined`; in post-acceptance it reads as `hold`". */
function unavailable(model: Model, decision: 'pending' | 'error', at: number): void {
  const { whenUnavailable, workflow, passive } = model.policy;
  model.decision = current(model).decision = decision;
  const action = whenUnavailable === 'decline' && workflow === 'post-acceptance' ? 'hold' : whenUnavailable;
  model.action = passive ? 'proceed' : action;
  if (action !== 'decline') return;
  if (passive) {
    fallSilent(model, 'a passive decline without an answer', 'phase', 'events', 'decision');
    return;
  }
  move(model, 'declined', at, 'decline');
  // The attempt has ended and its decision is `pending` (or `error`); when the event goes is not said.
  decidedEvent(model);
}

export function lookedUp(model: Model, entry: Extract<Entry, { kind: 'looked-up' }>): void {
  if (entry.forbidden) {
    raiseWrongKey(model);
    return;
  }
  clearTrouble(model);
  const { found } = entry;
  const attempt = current(model);
  if (found === undefined) {
    if (!model.cancelAsked) return;
    // "None: `canceled` locally."
    canceled(model, entry.at);
    fallSilent(model, 'events of a cancel without a decision', 'events');
    return;
  }
  attempt.txs.push(found.tx);
  attempt.decision = found.decision;
  fallSilent(model, 'how a transaction that was looked up is shown', 'decision', 'events');
}
