/** What follows by itself when time passes. Design section 3. */
import { cancelByOf, closed, current, decidedEvent, fallSilent, type Model, SOON_MS } from './model.ts';

interface Deadline {
  name: string;
  at: number;
  pass: (model: Model) => void;
}

/** Everything that follows by itself when time passes, and is not behind us yet. */
export function deadlines(model: Model): Deadline[] {
  const { policy, phase } = model;
  const attempt = current(model);
  const key = (name: string) => `${name} ${attempt.number}`;
  const list: Deadline[] = [];
  const cancelBy = cancelByOf(model);
  const add = (name: string, at: number | undefined, pass: Deadline['pass']) => {
    if (at !== undefined && !model.done.has(key(name))) list.push({ name: key(name), at, pass });
  };
  if (phase === 'screening') {
    add('screening deadline', attempt.startedAt + policy.screeningDeadlineMs, (m) => giveUpScreening(m));
  }
  if (phase === 'awaiting-gateway' && attempt.gateway === undefined) {
    add('gateway late', model.since + policy.gatewayResultWithinMs, (m) => m.causes.add('gateway late'));
  }
  const gone = policy.workflow === 'pre-gateway' && attempt.answer?.action === 'proceed';
  if (gone && attempt.gateway === undefined && ['screening', 'decided'].includes(phase)) {
    // "After `proceed` … no result within `gatewayResultWithin`": from when on, without a decision, is not said.
    add('gateway perhaps late', attempt.startedAt + policy.gatewayResultWithinMs - SOON_MS, (m) =>
      m.perhaps.add('gateway late'),
    );
  }
  if (cancelBy !== undefined) {
    if (model.decision === 'review' && ['review', 'awaiting-gateway'].includes(phase)) {
      add('review lead', cancelBy - policy.reviewLeadTimeMs, reviewUnresolved);
    }
    if (phase === 'review') add('review limit', reviewLimitAt(model), reviewLimit);
    if (phase === 'decided' && model.action === 'cancel') {
      add('cancel reminder', cancelBy - policy.reviewLeadTimeMs, cancelReminder);
    }
    if (phase === 'decided') add('window', cancelBy, windowCloses);
    if (phase === 'awaiting-gateway') {
      add('window', cancelBy, (m) => fallSilent(m, 'the window of an order without a gateway result closes'));
    }
  }
  if (phase === 'declined') {
    add('retry over', model.since + policy.retryWithinMs, (m) => {
      if (m.fraudReported) fallSilent(m, 'a declined order reported as fraud: closed or still polled');
      closed(m);
    });
  }
  return list.sort((a, b) => a.at - b.at);
}

function reviewLimitAt(model: Model): number | undefined {
  const { firstTry } = current(model);
  return firstTry === undefined ? undefined : firstTry + model.policy.reviewLimitMs;
}

export function advance(model: Model, now: number): void {
  for (;;) {
    const [next] = deadlines(model);
    if (next === undefined || next.at > now) return;
    model.done.add(next.name);
    next.pass(model);
    model.since = model.phase === 'closed' ? next.at : model.since;
  }
}

/** "`error` to the end, or `screeningDeadline` passed: decision `error`, phase `decided`, attention; the action given at checkout stands." */
function giveUpScreening(model: Model): void {
  if (model.cancelAsked)
    fallSilent(model, 'a cancel that still looks for a transaction at the screening deadline');
  const attempt = current(model);
  model.decision = 'error';
  attempt.decision = 'error';
  model.phase = 'decided';
  model.since = attempt.startedAt + model.policy.screeningDeadlineMs;
  // Nothing is tried any more: whether the wrong key still matters isn't said.
  if (model.causes.delete('wrong key')) model.perhaps.add('wrong key');
  model.causes.add('no decision');
  decidedEvent(model);
}

/** "Unresolved `reviewLeadTime` before `cancelBy`: policy `onUnresolvedReview`, `alert` (attention) or `cancel`." */
function reviewUnresolved(model: Model): void {
  if (model.policy.passive) {
    fallSilent(model, 'an unresolved review in passive mode', 'attention');
    return;
  }
  if (model.phase === 'awaiting-gateway') {
    fallSilent(model, 'unresolved before the gateway answered');
    return;
  }
  if (model.policy.onUnresolvedReview === 'alert') model.causes.add('review unresolved');
  else {
    model.cancelAsked = true;
    model.perhaps.add('review unresolved');
    fallSilent(model, 'action between asking for the cancel and its end', 'action', 'phase');
  }
}

/** "At `reviewLimit` (from the create): `hold`, attention, closed." */
function reviewLimit(model: Model): void {
  model.action = model.policy.passive ? 'proceed' : 'hold';
  model.causes.add('review limit');
  model.perhaps.add('review unresolved');
  closed(model);
}

/** "Attention `reviewLeadTime` before `cancelBy` if still not canceled." */
function cancelReminder(model: Model): void {
  if (model.policy.passive) return;
  if (model.policy.autoCancel) model.perhaps.add('cancel due');
  else model.causes.add('cancel due');
}

/** "Closed. At `cancelBy` the window shuts. The workflow completes when nothing is left to wait for." */
function windowCloses(model: Model): void {
  model.perhaps.add('cancel due');
  model.perhaps.add('cancel too late');
  closed(model);
}
