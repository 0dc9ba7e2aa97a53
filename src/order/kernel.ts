/**
 * The kernel of an order: applies an input, collects the effects that each concern requires, and returns the difference to the running
 * effects as commands. Pure: its only clock is the time of the inputs. It reaches the concerns through one list.
 */
import type { AttentionCause } from '../contract/order/state.ts';
import { type Instant, laterBy, type OrderEventType } from '../contract/words.ts';
import { clear, isSameCause, raiseWrongKey, wrongKeyKnown } from './attention.ts';
import { CONCERNS } from './concerns/index.ts';
import { RETRY_AFTER_MS } from './deadlines.ts';
import { announce, closingEvents } from './events.ts';
import { takeRequest } from './messages/used-messages.ts';
import {
  type Command,
  type Effect,
  type Input,
  isWrite,
  isWriting,
  type Order,
  type Outcome,
  type Request,
  type RequestInput,
  type Running,
  type Signal,
} from './order.ts';

/**
 * Applies an input and all its consequences. Sets `taken` of a request.
 * @returns the effects to start and stop, in this order
 */
export function step(order: Order, input: Input): Command[] {
  if (input.kind === 'signal') return takeSignal(order, input.signal);
  if (input.kind === 'effect-ended') applyEnd(order, input.id, input.outcome);
  else applyRequest(order, input);
  return begin(order);
}

/**
 * The task of a signal must record a command, so that a replay handles the signal in the same task. A signal that changes nothing is only
 * counted: one task may contain ten thousand of them.
 */
function takeSignal(order: Order, signal: Signal): Command[] {
  order.signals += 1;
  const count = { do: 'count-signals' } as const;
  const events = CONCERNS.map((one) => one.signaled?.(order, signal)).filter((one) => one !== undefined);
  if (events.length === 0) return [{ ...count, nothingElse: true }];
  announce(order, events.flat());
  const commands = begin(order);
  return commands.some((one) => one.do === 'start') ? commands : [...commands, count];
}

function applyRequest(order: Order, input: RequestInput): void {
  passTime(order, input.at);
  settle(order);
  if (isEarly(order, input.request)) order.earlyRetries.push(input);
  else takeRequest(order, input);
}

function applyEnd(order: Order, id: number, outcome: Outcome): void {
  const running = order.running.find((one) => one.id === id);
  // The effect was dropped: the history does not record in which task its outcome arrived.
  if (running === undefined) return;
  order.running = order.running.filter((one) => one !== running);
  const concern = CONCERNS.find(({ name }) => name === running.effect.concern);
  passTime(order, momentOf(running, outcome));
  // The server does not retry a canceled activity, and reports the failure of its last attempt.
  const isCanceled = running.canceled === true && outcome.status === 'failed';
  const wrongKey = noteWrongKey(order, running.effect, outcome);
  const events = concern?.ended?.(order, running, isCanceled ? { status: 'canceled' } : outcome) ?? [];
  if (events === 'retry-later') order.retryAt[running.effect.key] = laterBy(RETRY_AFTER_MS, order.now);
  else announce(order, [...wrongKey, ...events]);
}

/** Rule «wrong key». Raises or clears the attention to the API key of the call. Returns the event to send. */
function noteWrongKey(order: Order, { cause }: Effect, outcome: Outcome): OrderEventType[] {
  if (cause === undefined || outcome.status !== 'completed') return [];
  const { state, now } = order;
  const { result } = outcome;
  if ('outcome' in result && result.outcome?.kind === 'forbidden')
    return isRequired(order, cause) ? raiseWrongKey(state, cause, now) : [];
  clear(state, { codes: ['wrong-key'], ...cause });
  return [];
}

/** Returns a result's own time, or a timer's due time, but never a time before the effect started. */
function momentOf({ effect: { call }, since }: Running, outcome: Outcome): Instant {
  const time =
    call.kind === 'timer' ? call.at : outcome.status === 'completed' ? outcome.result.at : undefined;
  return time !== undefined && time > since ? time : since;
}

function passTime(order: Order, until: Instant): boolean {
  let passed = false;
  for (const concern of CONCERNS) passed = concern.passTime?.(order, until) === true || passed;
  if (until > order.now) order.now = until;
  return passed;
}

/**
 * After a reset Temporal sends updates again, possibly a retry while the attempt before it is still being screened, and a gateway result of
 * the retry's attempt.
 */
function isEarly({ state, earlyRetries }: Order, asked: Request): boolean {
  if (asked.kind === 'gateway-result') {
    const { attempt } = asked.request;
    return earlyRetries.some(
      ({ request: { kind, request } }) => kind === 'retry' && request.attempt === attempt,
    );
  }
  const isScreened = state.attempts.every(({ answer }) => answer !== undefined);
  return asked.kind === 'retry' && !isScreened && asked.request.attempt > state.attempts.length;
}

/** Applies consequences until nothing changes. */
function settle(order: Order): void {
  for (const input of order.earlyRetries) {
    if (isEarly(order, input.request)) continue;
    order.earlyRetries = order.earlyRetries.filter((one) => one !== input);
    input.at = order.now;
    takeRequest(order, input);
  }
  do {
    for (const concern of CONCERNS) announce(order, concern.followUp?.(order) ?? []);
  } while (passTime(order, order.now));
  clearWrongKeys(order);
  if (order.over !== true && order.state.endedAt !== undefined && !isKeptOpen(order)) {
    order.over = true;
    announce(order, closingEvents(order.state));
  }
}

/** Clears attention to a wrong API key once no concern requires the call that failed. */
function clearWrongKeys(order: Order): void {
  const { state } = order;
  state.attention = state.attention.filter(
    ({ code, cause }) => code !== 'wrong-key' || isRequired(order, cause),
  );
}

function isRequired(order: Order, cause: AttentionCause): boolean {
  return requiredEffects(order).some((one) => one.cause && isSameCause(one.cause, cause));
}

function isKeptOpen(order: Order): boolean {
  return isWriting(order) || CONCERNS.some((one) => one.keepsOpen && one.desired(order).length > 0);
}

function requiredEffects(order: Order): Effect[] {
  return CONCERNS.flatMap(({ name: concern, desired }) =>
    desired(order).map((effect) => {
      const forbiddenKnown = wrongKeyKnown(order.state, effect.cause);
      return { ...effect, concern, forbiddenKnown };
    }),
  );
}

/**
 * Sets the time of the messages that arrived with the start: they are applied when the checkout has ended. If the first task times out
 * meanwhile, the SDK completes the task's next attempt with what it did at the time of the first, which a replay does not see.
 */
export function arriveNow(inputs: readonly Input[], { now }: Order): void {
  for (const one of inputs) if (one.kind === 'request') one.at = now;
}

/** Sorts the inputs of an activation: results first, in the order of history, then messages. */
export function resultsFirst(inputs: readonly Input[]): Input[] {
  const isResult = ({ kind }: Input): boolean => kind === 'effect-ended';
  return [...inputs.filter(isResult), ...inputs.filter((one) => !isResult(one))];
}

/** Applies consequences and returns the commands: after an input, and at the start of a run, which follows the checkout or another run. */
export function begin(order: Order): Command[] {
  settle(order);
  return reconcile(order);
}

/** Updates the order's running effects and returns the commands that start and stop them, in this order. */
function reconcile(order: Order): Command[] {
  const desired = requiredEffects(order);
  return [...stops(order, desired), ...starts(order, desired)];
}

function stops(order: Order, desired: readonly Effect[]): Command[] {
  const keys = new Set(desired.map(({ key }) => key));
  for (const key of Object.keys(order.retryAt)) if (!keys.has(key)) delete order.retryAt[key];
  // A read starts again once it has to report a wrong key, or need not any more.
  const isDesired = ({ effect }: Running): boolean =>
    desired.some(
      ({ key, forbiddenKnown }) =>
        key === effect.key && (isWrite(effect) || forbiddenKnown === effect.forbiddenKnown),
    );
  const obsolete = order.running.filter((one) => one.canceled !== true && !isDesired(one));
  order.running = order.running.filter((one) => !obsolete.includes(one) || isWrite(one.effect));
  return obsolete.map((one) => {
    if (!isWrite(one.effect)) return { do: 'drop', id: one.id };
    one.canceled = true;
    return { do: 'cancel', id: one.id };
  });
}

function starts(order: Order, desired: readonly Effect[]): Command[] {
  const commands: Command[] = [];
  for (const effect of desired) {
    const blocks = ({ effect: other }: Running): boolean =>
      other.key === effect.key || (effect.resource !== undefined && other.resource === effect.resource);
    if (effect.key in order.retryAt || order.running.some(blocks)) continue;
    order.started += 1;
    const running: Running = { id: order.started, effect, since: order.now };
    order.running.push(running);
    CONCERNS.find(({ name }) => name === effect.concern)?.started?.(order, effect);
    commands.push({ do: 'start', running });
  }
  return commands;
}

export function isFinished(order: Order): boolean {
  return order.over === true && order.outbox.length + order.running.length === 0 && !isAwaited(order);
}

/**
 * Prepares continue-as-new because the history is long. If only a delivery's pause prevents it, the delivery is canceled and restarts in
 * the next run.
 */
export function wrapUp(order: Order): Command[] {
  if (order.continues === true || isAwaited(order) || isWriting(order)) return [];
  order.continues = true;
  return reconcile(order);
}

/** Returns whether the order can continue as new now. Reads and timers restart in the next run. */
export function mayContinueAsNew(order: Order): boolean {
  return !isAwaited(order) && !order.running.some(({ effect }) => isWrite(effect));
}

function isAwaited({ replies, earlyRetries, state }: Order): boolean {
  return (
    replies.length + earlyRetries.length > 0 || state.attempts.some(({ answer }) => answer === undefined)
  );
}

export function resumed(order: Order): Order {
  const { continues: _ended, ...next } = order;
  return { ...next, running: [] };
}
