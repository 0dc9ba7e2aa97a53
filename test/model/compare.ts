/** Where an order differs from the model, in words. An empty list: it doesn't. */
import type { OrderEvent } from '../../src/orders/messages.ts';
import type { OrderState } from '../../src/orders/state.ts';
import type { Entry } from './log.ts';
import { type Cause, cancelByOf, current, type Model, SOON_MS, tooLateToCancel } from './model.ts';
import { deadlines } from './model-time.ts';
import { PAUSE_MS } from './scripted-service.ts';

const MINUTE = 60_000;
/** What a retried call may still be waiting for, and a little. */
const RETRY_MS = PAUSE_MS + SOON_MS;

const CODES: Record<Cause, string[]> = {
  'wrong key': ['wrong-key'],
  'no decision': ['no-decision'],
  'status trouble': ['status-error', 'unreadable-answer'],
  'gateway late': ['gateway-late'],
  'gateway error': ['gateway-error'],
  'review unresolved': ['review-unresolved'],
  'review limit': ['review-limit'],
  'cancel due': ['cancel-due'],
  'cancel refused': ['cancel-refused'],
  'cancel too late': ['cancel-too-late'],
  'failed after the window': ['failed-after-window'],
  'portal trouble': ['portal-refused', 'portal-unconfirmed'],
};

/** A deadline so near that what follows from it may or may not have happened yet. */
export function onTheEdge(model: Model, now: number): boolean {
  const cancelBy = cancelByOf(model);
  const recheck = cancelBy === undefined ? undefined : cancelBy - model.policy.recheckLeadTimeMs;
  const moments = [...deadlines(model).map((one) => one.at), recheck, cancelBy, model.since];
  return moments.some((at) => at !== undefined && at !== model.since && Math.abs(at - now) < SOON_MS);
}

export interface Seen {
  state: OrderState;
  events: readonly OrderEvent[];
  completed: boolean;
}

/** All differences between the order and the model at a moment of the server's clock. */
export function differences(model: Model, seen: Seen, log: readonly Entry[], now: number): string[] {
  return [
    ...model.faults,
    ...stateDiffers(model, seen),
    ...attentionDiffers(model, seen.state),
    ...eventsDiffer(model, seen.events),
    ...callsDiffer(log),
    ...overdue(model, log, now),
  ];
}

function stateDiffers(model: Model, { state, completed }: Seen): string[] {
  const found: string[] = [];
  const differ = (what: string, ours: unknown, theirs: unknown) => {
    if (ours !== theirs) found.push(`${what}: the design says ${ours}, the order ${theirs}`);
  };
  if (!model.silence.phase) differ('phase', model.phase, state.phase);
  if (!model.silence.action) differ('action', model.action, state.action);
  if (!model.silence.decision) differ('decision', model.decision, state.decision);
  differ('attempts', model.attempts.length, state.attempts.length);
  for (const [index, attempt] of model.attempts.entries()) {
    const theirs = state.attempts[index];
    differ(`transaction of attempt ${index + 1}`, attempt.txs.at(-1), theirs?.transactionId);
    const cancelBy = cancelByOf(model, attempt);
    if (cancelBy === undefined || attempt.txs.length === 0 || attempt.trying) continue;
    const apart = Math.abs(cancelBy - Date.parse(theirs?.cancelBy ?? ''));
    if (!(apart <= SOON_MS)) {
      found.push(`cancelBy of attempt ${index + 1} is ${apart} ms from where the design has it`);
    }
  }
  if (model.policy.passive) differ('action in passive mode', 'proceed', state.action);
  // A gateway result that the service doesn't take is still sent: something is left to wait for.
  if (model.phase === 'closed' && !model.silence.phase && model.mood === 'ok') {
    differ('completed', true, completed);
  }
  if (completed && !model.silence.phase && !['closed', 'canceled'].includes(model.phase)) {
    found.push(`the workflow has completed in phase ${model.phase}`);
  }
  return found;
}

function attentionDiffers(model: Model, state: OrderState): string[] {
  if (model.silence.attention) return [];
  const codes = state.attention.map((one) => one.code as string);
  const missing = [...model.causes].filter((cause) => !CODES[cause].some((code) => codes.includes(code)));
  const allowed = [...model.causes, ...model.perhaps].flatMap((cause) => CODES[cause]);
  return [
    ...missing.map((cause) => `attention is missing: ${cause}`),
    ...codes.filter((code) => !allowed.includes(code)).map((code) => `attention without a cause: ${code}`),
  ];
}

function eventsDiffer(model: Model, events: readonly OrderEvent[]): string[] {
  const found: string[] = [];
  const sequences = events.map((one) => one.sequence).join(' ');
  if (sequences !== events.map((_, index) => index + 1).join(' ')) found.push(`event sequence ${sequences}`);
  const types: string[] = events.map((one) => one.type);
  const count = (type: string) => types.filter((one) => one === type).length;
  const closedAt = types.indexOf('order.closed');
  if (closedAt >= 0 && types.slice(closedAt + 1).some((one) => one !== 'order.attention')) {
    found.push(`events after order.closed: ${types.join(' ')}`);
  }
  if (count('order.closed') > 1 || count('order.canceled') > 1) found.push(`told twice: ${types.join(' ')}`);
  // Whether an error that becomes a decision later is told as decided again isn't said; the same twice is too often.
  const decisions = events
    .filter((one) => one.type === 'order.decided')
    .map((one) => `${one.data.attempt} ${one.data.decision}`);
  if (new Set(decisions).size < decisions.length && model.rechecks === 0) {
    found.push(`decided too often: ${decisions.join(', ')}`);
  }
  const decided = types.indexOf('order.decided');
  const resolved = types.findIndex((one) => /review_resolved|decision_changed/.test(one));
  if (resolved >= 0 && (decided < 0 || resolved < decided)) found.push(`out of order: ${types.join(' ')}`);
  if (model.silence.events) return found;
  const ours = model.events.join(' ');
  const theirs = types.filter((one) => one !== 'order.attention').join(' ');
  // An order ends when nothing is left to wait for, which the model doesn't always know.
  const same =
    theirs === ours ||
    ((model.phase === 'canceled' || model.mood !== 'ok') && `${theirs} order.closed` === ours);
  if (!same) found.push(`events: the design says ${ours}, the order told ${theirs}`);
  if (model.causes.size > 0 && !model.silence.attention && count('order.attention') === 0) {
    found.push('attention was not told as an event');
  }
  return found;
}

/** What may be asked of the service only once. Sections 3 ("it makes each once") and 6. */
function callsDiffer(log: readonly Entry[]): string[] {
  const found: string[] = [];
  const seen = new Map<string, string>();
  for (const entry of log) {
    if (entry.kind === 'gateway-response' && entry.taken) {
      const key = `gateway ${entry.tx} ${entry.result}`;
      if (seen.has(key)) found.push(`the gateway result ${entry.result} was sent again`);
      seen.set(key, 'done');
    }
    if (entry.kind !== 'portal' || entry.result === 'unanswered' || entry.result === 'forbidden') continue;
    const key = entry.action === 'cancel' ? `cancel ${entry.tx}` : `${entry.tx} ${entry.subject}`;
    const before = seen.get(key);
    if (before === 'done' && !entry.forced) found.push(`${entry.action} was made again after it was done`);
    if (entry.action === 'chargeback' && before === 'unconfirmed' && !entry.forced) {
      found.push('a chargeback was sent again without force');
    }
    seen.set(key, entry.result);
  }
  return found;
}

/** What must have happened by now. */
function overdue(model: Model, log: readonly Entry[], now: number): string[] {
  if (model.silence.phase || model.mood !== 'ok' || now - model.moodSince < RETRY_MS) return [];
  const found: string[] = [];
  const cancelBy = cancelByOf(model);
  const { poll, recheckLeadTimeMs, autoCancel, passive } = model.policy;
  const open = !['canceled', 'closed'].includes(model.phase);
  const quietSince = Math.max(model.lastRead ?? 0, model.since, model.moodSince, model.fraudReported ?? 0);
  const beforeEnd = cancelBy !== undefined && now < cancelBy;
  const polled = model.phase === 'review' || (model.fraudReported !== undefined && model.phase === 'decided');
  if (polled && beforeEnd && now - quietSince > poll.maxMs + RETRY_MS) {
    found.push(`the status was not read for ${now - quietSince} ms`);
  }
  if (
    model.hinted !== undefined &&
    open &&
    now > Math.max(model.hinted, model.moodSince) + 5 * MINUTE + SOON_MS
  ) {
    if (model.moodSince < model.hinted) found.push('a hint was not followed by a reading');
  }
  if (recheckLeadTimeMs > 0 && beforeEnd && model.phase === 'decided' && model.decision === 'pass') {
    const at = cancelBy - recheckLeadTimeMs;
    const due = now > at + SOON_MS && model.since < at && model.moodSince < at && model.action === 'proceed';
    if (due && (model.lastRead ?? 0) < at - SOON_MS) found.push('a pass was not read once more');
  }
  const tried = log.some(
    (one) =>
      one.kind === 'portal' &&
      one.action === 'cancel' &&
      one.tx === current(model).txs.at(-1) &&
      one.result !== 'unanswered' &&
      one.result !== 'forbidden',
  );
  const asked = autoCancel && model.action === 'cancel' && model.phase === 'decided' && !passive;
  if (asked && !tried && !tooLateToCancel(model, now)) found.push('the policy’s cancel was not sent');
  for (const attempt of model.attempts) {
    const tx = attempt.txs.at(-1);
    if (attempt.gateway === undefined || tx === undefined) continue;
    const sent = log.some(
      (one) =>
        one.kind === 'gateway-response' &&
        attempt.txs.includes(one.tx) &&
        one.result === attempt.gateway &&
        one.taken,
    );
    if (!sent) found.push(`the gateway result ${attempt.gateway} was not sent`);
  }
  return found;
}
