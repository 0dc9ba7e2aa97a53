/** The model as a fold over what happened. */
import type { Policy } from '../../src/orders/policy.ts';
import type { Entry } from './log.ts';
import { clearTrouble, fallSilent, type Model, newAttempt, newModel, raiseWrongKey } from './model.ts';
import { cancelAsked, portal } from './model-portal.ts';
import { gatewayResult, hint, read } from './model-readings.ts';
import { lookedUp, screened } from './model-screening.ts';
import { advance } from './model-time.ts';

/** By how much an order's own moments may come before the model's. */
const EARLY_MS = 500;

/** The model after all that is in the log, at a moment. */
export function fold(policy: Policy, startedAt: number, log: readonly Entry[], now: number): Model {
  const model = newModel(policy, startedAt);
  for (const entry of log) {
    if (entry.refused) continue;
    // The order's clock began a little before the first try: its moments come that much earlier.
    advance(model, entry.at + EARLY_MS);
    apply(model, entry);
  }
  advance(model, now);
  return model;
}

function apply(model: Model, entry: Entry): void {
  switch (entry.kind) {
    case 'screened': {
      screened(model, entry);
      return;
    }
    case 'looked-up': {
      lookedUp(model, entry);
      return;
    }
    case 'read': {
      read(model, entry);
      return;
    }
    case 'portal': {
      portal(model, entry);
      return;
    }
    case 'gateway-response':
      if (entry.taken) clearTrouble(model);
      else if (model.mood === 'wrong-key') raiseWrongKey(model);
      return;
    case 'service':
      model.mood = entry.turns;
      model.moodSince = entry.at;
      return;
    case 'retry': {
      model.attempts.push(newAttempt(entry.attempt, entry.at));
      model.decision = 'pending';
      model.fraudReported = undefined;
      model.phase = 'screening';
      model.since = entry.at;
      for (const cause of model.causes) model.perhaps.add(cause);
      model.causes.clear();
      return;
    }
    case 'gateway-result': {
      gatewayResult(model, entry);
      return;
    }
    case 'cancel': {
      cancelAsked(model, entry);
      return;
    }
    case 'acknowledge':
      // "Attention is cleared … by the update `acknowledge`." Whether a cause that lasts is raised again: silent.
      for (const cause of model.causes) {
        model.perhaps.add(cause);
        model.seen.add(cause);
      }
      model.causes.clear();
      return;
    case 'recheck':
      model.rechecks += 1;
      // "`recheck` (which screens again)": how that looks until the service has answered is not said.
      if (model.decision === 'error')
        fallSilent(model, 'an error that is screened again', 'phase', 'events', 'attention');
      return;
    case 'hint': {
      hint(model, entry);
      return;
    }
    case 'report-fraud':
      return;
  }
}
