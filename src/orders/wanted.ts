/**
 * What an order wants to be under way, derived from all that decides it. What is listed first is begun first. A key names
 * every argument that can change, but for what was reported to a person already: a call that knows less only reports it again.
 */
import { actionCause, gatewayCause, statusCause, statusTrouble } from './attention.ts';
import { transactionToLookAt } from './begin.ts';
import { actionBound, hintReadable, leftoversBound, nextDeadline, spacingDeadline } from './deadlines.ts';

import type { Effect, EffectKind, Order } from './order.ts';
import { actionNumbered } from './portal.ts';
import { isUnderWay, namedTransaction } from './portal-requests.ts';
import { currentAttempt } from './record.ts';
import type { ActionRecord, Attempt, AttentionCause, OrderState } from './state.ts';
import { ticketsUntil } from './tickets.ts';
import { mayBeSeen, transactionOf } from './transactions.ts';
import type { Instant, Phase } from './words.ts';

/** Local activities: run inside the workflow task. */
export const LOCAL: readonly EffectKind[] = ['first-screening', 'look'];
/** May create a transaction. */
const CREATES: readonly EffectKind[] = ['first-screening', 'retry-screening', 'catch-up'];
/** May write: not over because nobody wants it any more. */
const WRITES: readonly EffectKind[] = [...CREATES, 'gateway', 'portal', 'deliver'];
/** Writes whose end an order that is over waits for, wanted or not. A read that is stopped has no end. */
const MUST_FINISH: readonly EffectKind[] = [...CREATES, 'gateway', 'portal'];

/** @returns whether the effect may write */
export function isWrite({ kind }: Effect): boolean {
  return WRITES.includes(kind);
}

/** @returns whether a create is on its way, wanted or not */
export function createUnderWay(order: Order): boolean {
  return (
    currentAttempt(order.state).answer === undefined ||
    order.effects.some(({ effect }) => CREATES.includes(effect.kind))
  );
}

/** @returns everything that the order wants under way */
export function wanted(order: Order): Effect[] {
  if (order.refused !== undefined) return [];
  const effects = [...work(order), ...delivery(order)].map((effect) =>
    order.paused.includes(effect.key)
      ? { key: `pause:${effect.key}`, kind: 'pause' as const, paused: effect.key }
      : effect,
  );
  return [...effects, ...timers(order)];
}

/** Returns the cause that attention names when the call of the effect fails. */
export function causeOf({ state }: Order, effect: Effect): AttentionCause | undefined {
  switch (effect.kind) {
    case 'first-screening':
    case 'retry-screening':
    case 'catch-up':
      return { operation: 'create' };
    case 'look':
    case 'read':
    case 'poll':
      return statusCause(transactionOf(state, currentAttempt(state))?.id);
    case 'look-up':
      return { operation: 'lookup' };
    case 'gateway':
      return gatewayCause(effect.transactionId);
    case 'portal':
      return actionCause(actionNumbered(state, effect.action));
    default:
      return undefined;
  }
}

/** @returns whether an order that is over has nothing to do any more but to say so */
export function isDone(order: Order): boolean {
  const running = order.effects.some(({ effect }) => MUST_FINISH.includes(effect.kind));
  return (
    order.state.endedAt !== undefined &&
    !running &&
    work(order).length === 0 &&
    !order.state.actions.some(isUnderWay)
  );
}

function work(order: Order): Effect[] {
  const { state } = order;
  const attempt = currentAttempt(state);
  if (state.policy === undefined) {
    return [{ key: 'first', kind: order.brokeDown === true ? 'policy' : 'first-screening' }];
  }
  const effects: Effect[] = [];
  if (state.endedAt === undefined) {
    if (attempt.answer === undefined) {
      effects.push({ key: `retry:${attempt.number}`, kind: 'retry-screening', attempt: attempt.number });
    } else if (wantsCatchUp(state, attempt)) effects.push(catchUp(state, attempt));
    effects.push(...reads(order, attempt));
  }
  for (const one of state.attempts) effects.push(...afterScreening(order, one));
  effects.push(...portal(order));
  return effects;
}

function catchUp(state: OrderState, { number, rescreens }: Attempt): Effect {
  return {
    key: `catch-up:${number}:${rescreens}`,
    kind: 'catch-up',
    attempt: number,
    rescreen: state.decision === 'error',
  };
}

function wantsCatchUp(state: OrderState, attempt: Attempt): boolean {
  if (state.phase !== 'screening' || state.cancelAsked || attempt.screeningOver) return false;
  return state.decision === 'pending' || attempt.rescreenDue === true;
}

function reads(order: Order, attempt: Attempt): Effect[] {
  const { state, readAgain } = order;
  const { number } = attempt;
  const { id: transactionId } = transactionOf(state, attempt) ?? {};
  const effects: Effect[] = wantsLook(order) ? [{ key: 'look', kind: 'look' }] : [];
  if (transactionId === undefined || state.phase === 'canceled') return effects;
  if (wantsPoll(order, attempt)) {
    // A poll that doesn't know of the trouble doesn't report its end.
    const { forbiddenKnown, troubleKnown } = statusTrouble(state, transactionId);
    effects.push({
      key: `poll:${transactionId}:${state.decision}${forbiddenKnown || troubleKnown ? ':troubled' : ''}`,
      kind: 'poll',
      attempt: number,
    });
  }
  if (readAgain !== undefined && state.phase !== 'screening') {
    effects.push({ key: `read:${transactionId}`, kind: 'read', attempt: number, source: readAgain });
  }
  return effects;
}

/** @returns whether the status, or only the clock, is to be looked at now */
export function wantsLook(order: Order): boolean {
  const { state, look } = order;
  if (state.endedAt !== undefined || state.policy === undefined) return false;
  if (look.signal) return true;
  if (currentAttempt(state).answer === undefined) return false;
  if (look.recheck || look.cancellation) return true;
  const toRead = hintReadable(state) || look.because !== undefined;
  return toRead && transactionToLookAt(order).transactionId !== undefined;
}

/** A review is polled until it resolves, an order reported as fraud until its decision changes or the window ends. */
function wantsPoll({ state, now }: Order, attempt: Attempt): boolean {
  const { decision, phase, fraudReportedAt } = state;
  const { cancelBy } = transactionOf(state, attempt) ?? {};
  if (decision === 'review') return phase === 'review' || phase === 'awaiting-gateway';
  return (
    fraudReportedAt !== undefined &&
    fraudReportedAt === decision &&
    decision !== 'pending' &&
    decision !== 'skipped' &&
    POLLED_AFTER_REPORT.includes(phase) &&
    cancelBy !== undefined &&
    now < cancelBy
  );
}

const POLLED_AFTER_REPORT: Phase[] = ['decided', 'awaiting-gateway', 'declined'];

/** What each attempt leaves to be done. */
function afterScreening({ state }: Order, attempt: Attempt): Effect[] {
  const { number, gateway, cardRef } = attempt;
  const { id: transactionId } = transactionOf(state, attempt) ?? {};
  const effects: Effect[] = [];
  if (gateway !== undefined && gateway.sent === undefined && transactionId !== undefined) {
    const { result } = gateway;
    const key = `gateway:${number}:${result}:${transactionId}`;
    effects.push({ key, kind: 'gateway', attempt: number, result, transactionId });
  }
  if (wantsLookUp(state, attempt)) effects.push(lookUp(attempt));
  if (cardRef !== undefined && !attempt.cardForgotten && cardIsDone(state, attempt)) {
    effects.push({ key: `forget-card:${number}`, kind: 'forget-card', attempt: number });
  }
  return effects;
}

function lookUp({ number }: Attempt): Effect {
  return { key: `look-up:${number}`, kind: 'look-up', attempt: number };
}

/**
 * An attempt whose screening ended without an answer may have left a transaction. Never while another attempt is being screened,
 * whose transaction would be found in its place.
 */
function wantsLookUp({ phase }: OrderState, attempt: Attempt): boolean {
  return phase !== 'screening' && mayBeSeen(attempt);
}

/** The card is needed until a decision other than `error` is recorded, or nothing screens it again. */
function cardIsDone(state: OrderState, attempt: Attempt): boolean {
  return attempt.number < state.attempts.length || state.phase !== 'screening';
}

/** Rule «two lanes»: of the other actions the oldest comes first. */
function portal(order: Order): Effect[] {
  const underWay = order.state.actions.filter(isUnderWay);
  const cancels = underWay.filter(({ kind }) => kind === 'cancel');
  const [oldest] = underWay.filter(({ kind }) => kind !== 'cancel');
  return [
    ...cancels.flatMap((record) => cancel(order, record)),
    ...(oldest === undefined ? [] : send(oldest)),
  ];
}

/** A screening under way ends first; a transaction that may exist is looked up. One that is named has nothing to do with that. */
function cancel(order: Order, record: ActionRecord): Effect[] {
  const { state, fields } = order;
  const named = namedTransaction(fields[record.number]);
  const attempt = currentAttempt(state);
  if (named !== undefined && named !== transactionOf(state, attempt)?.id) return send(record);
  if (record.status === 'running') return send(record);
  if (createUnderWay(order)) return [];
  return named === undefined && mayBeSeen(attempt) ? [lookUp(attempt)] : send(record);
}

function send({ number, stop }: ActionRecord): Effect[] {
  return stop === undefined ? [{ key: `portal:${number}`, kind: 'portal', action: number }] : [];
}

/** Events leave in order, one batch at a time. A batch is fixed when it is begun. */
function delivery({ outbox, effects }: Order): Effect[] {
  const under = effects.find(({ effect }) => effect.kind === 'deliver')?.effect;
  if (under !== undefined) return [under];
  const first = outbox[0]?.sequence;
  const upTo = outbox.at(-1)?.sequence;
  if (first === undefined || upTo === undefined) return [];
  return [{ key: `deliver:${first}:${upTo}`, kind: 'deliver', upTo }];
}

function timers(order: Order): Effect[] {
  const { state } = order;
  const found: Effect[] = [];
  const ring = (
    name: string,
    next: { kind: Extract<Effect, { kind: 'timer' }>['deadline']; at: Instant } | undefined,
  ) => {
    if (next !== undefined && next.at > order.now)
      found.push({ key: `${name}:${next.at}`, kind: 'timer', deadline: next.kind, at: next.at });
  };
  // A checkout's screening ends in a moment: nothing is due by then that can't wait for it.
  if (state.endedAt !== undefined) ring('leftovers', leftoversBound(state));
  else if (currentAttempt(state).answer !== undefined) {
    ring('deadline', nextDeadline(state));
    ring('spacing', spacingDeadline(state));
  }
  ring('action', actionBound(state));
  const until = order.tickets.length + order.held.length > 0 ? ticketsUntil(order) : undefined;
  ring('ticket', until === undefined ? undefined : { kind: 'answer-late', at: until });
  return found;
}
