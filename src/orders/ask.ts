/** What an order does with what it is asked, and what its validators refuse. */

import { emit, emitUnheard, followUp, stopAction } from './advance.ts';
import { note, override, overrideRefusal } from './apply-reading.ts';
import { resolveAttention } from './attention.ts';
import {
  acknowledgeRefusal,
  adoptRefusal,
  byRefusal,
  decisionRefusal,
  gatewayFieldsRefusal,
  retryRefusal,
} from './check-messages.ts';
import { applyGatewayResult, gatewayRefusal, gatewayReply, gatewayResultRefusal } from './gateway.ts';
import type {
  Attributed,
  OverrideAnswer,
  OverrideRequest,
  PortalFields,
  WithdrawRequest,
} from './messages.ts';
import type { Ask, Asked, Input, Order, Refusal, Reply } from './order.ts';
import {
  actionNumbered,
  applyPortalOutcome,
  attemptFor,
  concernsNewest,
  portalAnswer,
  portalRefusal,
  queueAction,
} from './portal.ts';
import {
  earlier,
  emailRefusal,
  identified,
  isUnderWay,
  portalFieldsRefusal,
  stands,
  tooManyActions,
  withdrawRefusal,
} from './portal-requests.ts';
import { addAttempt, currentAttempt } from './record.ts';
import type { ActionRecord } from './state.ts';
import { heldUntil, MOST_WAITING, mayWait, tellThatItGoesOn, waitForAction } from './tickets.ts';
import { cancelByOf, transactionOf } from './transactions.ts';
import { millis } from './words.ts';

const LATE: Refusal = {
  code: 'late',
  message: 'The order changed in the moment in which it was asked: send the same request again.',
};

/** Takes what was asked: answers it, has it wait, or keeps it until it can be judged. */
export function ask(order: Order, asked: Asked, replies: Reply[]): void {
  if (mustWait(order, asked.ask)) {
    order.held.push(asked);
    return;
  }
  if (refusalNow(order, asked.ask, millis(order.now)) !== undefined) {
    replies.push({ ticket: asked.ticket, refusal: LATE });
    return;
  }
  take(order, asked, asked.ask, replies);
}

/** Judges again what had to wait; what waited for too long is to be sent again. */
export function askHeld(order: Order, replies: Reply[]): void {
  if (order.held.length === 0) return;
  const held = order.held;
  order.held = [];
  for (const asked of held) {
    if (heldUntil(asked) <= order.now) replies.push({ ticket: asked.ticket, refusal: LATE });
    else ask(order, asked, replies);
  }
}

/** Before an order continues as new: everybody who waits for something is told that it goes on, or to send it again. */
export function answerBeforeContinuing(order: Order): Reply[] {
  const replies: Reply[] = order.held.map(({ ticket }) => ({ ticket, refusal: LATE }));
  order.held = [];
  tellThatItGoesOn(order, replies, true);
  return replies;
}

/** Until the first answer the policy isn't known, which may forbid a portal action or name a gateway. A person decides about what was answered. */
function mustWait(order: Order, asked: Ask): boolean {
  const { state } = order;
  if (asked.kind === 'portal') return state.policy === undefined;
  if (asked.kind === 'gateway-result') return state.policy === undefined && state.workflow !== 'pre-gateway';
  if (asked.kind === 'override') return currentAttempt(state).answer === undefined;
  return asked.kind === 'retry' && comesEarly(order, asked.request.attempt);
}

function take(order: Order, asked: Asked, what: Ask, replies: Reply[]): void {
  const { state, now } = order;
  const { ticket } = asked;
  switch (what.kind) {
    case 'decision':
      if (what.request.unheard === true) emitUnheard(order, what.request.attempt);
      order.tickets.push({ number: ticket, attempt: what.request.attempt });
      return;
    case 'adopt':
      if (state.adopted !== undefined && !state.journal?.some((one) => one.what === 'adopt'))
        note(order, 'adopt', what.request.by);
      order.tickets.push({ number: ticket, attempt: attemptOf(order, what) ?? 1 });
      return;
    case 'retry':
      if (state.attempts.length < what.request.attempt) {
        addAttempt(state, what.request, now);
        order.transactions = { [what.request.attempt]: what.request.transaction };
        delete order.readAgain;
      }
      order.tickets.push({ number: ticket, attempt: what.request.attempt });
      return;
    case 'gateway-result':
      emit(order, applyGatewayResult(state, what.request, now));
      replies.push({ ticket, ...gatewayReply(state, what.request) });
      return;
    case 'portal':
      takePortalAction(order, asked, what, replies);
      return;
    case 'withdraw':
      withdraw(order, asked, what.request, replies);
      return;
    case 'override':
      replies.push({ ticket, override: takeOverride(order, what.request) });
      return;
    case 'acknowledge':
      note(order, 'acknowledge', what.request.by, { because: what.request.reason });
      replies.push({ ticket, cleared: resolveAttention(state, millis(now)) });
      return;
  }
}

/** Done already: its answer. Under way: joins it. Else it is queued; behind another one nobody is kept waiting. */
function takePortalAction(
  order: Order,
  asked: Asked,
  { fields, by }: Extract<Ask, { kind: 'portal' }>,
  replies: Reply[],
): void {
  const { state } = order;
  const same = identified(order, fields);
  const before = earlier(state, same);
  if (stands(before)) {
    if (before.status === 'done') replies.push({ ticket: asked.ticket, portal: portalAnswer(state, before) });
    else waitForAction(order, asked, before, replies);
    return;
  }
  const behind =
    fields.kind !== 'cancel' && state.actions.some((one) => isUnderWay(one) && one.kind !== 'cancel');
  const record = queueAction(state, same, 'caller', order.now);
  order.fields[record.number] = fields;
  note(order, fields.kind, by, { number: record.number, because: record.because });
  if (behind) replies.push({ ticket: asked.ticket, portal: portalAnswer(state, record) });
  else waitForAction(order, asked, record, replies);
}

/** A cancel goes to the service by the same rules as any, and where it can't be asked the action stands all the same. */
function takeOverride(order: Order, request: Attributed<OverrideRequest>): OverrideAnswer {
  const { state } = order;
  // A cancel that was asked during the screening is aimed first: this one joins it.
  if (request.action === 'cancel') followUp(order);
  const cancel = request.action === 'cancel' ? cancelToo(order, request.reason) : undefined;
  if (request.action === 'proceed') {
    for (const one of state.actions) {
      if (one.kind === 'cancel' && one.status === 'queued' && concernsNewest(state, one))
        endUnsent(order, one);
    }
  }
  const { action: decided, reason: because, by } = request;
  note(order, 'override', by, { action: decided, because });
  emit(order, override(state, request, order.now), 'person');
  followUp(order);
  const attempt = currentAttempt(state);
  const { id: transactionId } = transactionOf(state, attempt) ?? {};
  const cancelBy = cancelByOf(state, attempt);
  const { orderId, integration, decision, action, phase } = state;
  return {
    ...{ orderId, integration, attempt: attempt.number, decision, action, phase },
    ...(transactionId !== undefined && { transactionId }),
    ...(cancelBy !== undefined && { cancelBy }),
    ...cancel?.(),
  };
}

/** @returns what to say of the cancel, once what follows from it is known */
function cancelToo(order: Order, reason: string): () => Pick<OverrideAnswer, 'number' | 'notCanceled'> {
  const { state, now } = order;
  const fields: PortalFields = { kind: 'cancel', reason };
  const refused = actionRefusal(order, fields, millis(now));
  if (refused !== undefined) return () => ({ notCanceled: refused.code });
  const before = earlier(state, fields);
  const record = stands(before) ? before : queueAction(state, fields, 'caller', now);
  if (record !== before) order.fields[record.number] = fields;
  return () => {
    const nothing = record.status === 'done' && record.transactionId === undefined;
    return { number: record.number, ...(nothing && { notCanceled: 'no-transaction' as const }) };
  };
}

/** One that was not begun is taken back; one that was is stopped, and its end tells what became of it. */
function withdraw(
  order: Order,
  asked: Asked,
  { number, by }: Attributed<WithdrawRequest>,
  replies: Reply[],
): void {
  const { state } = order;
  const record = actionNumbered(state, number);
  if (isUnderWay(record)) note(order, 'withdraw', by, { number });
  if (record.status === 'queued') endUnsent(order, record);
  else if (record.status === 'running') stopAction(order, record, 'withdrawn');
  if (isUnderWay(record)) waitForAction(order, asked, record, replies, true);
  else order.tickets.push({ number: asked.ticket, action: number, withdraws: true, until: order.now });
}

function endUnsent(order: Order, record: ActionRecord): void {
  record.stop = 'withdrawn';
  delete order.fields[record.number];
  emit(order, applyPortalOutcome(order.state, record, { kind: 'not-sent' }, order.now));
}

// Why an order doesn't take what it is asked. Read only: what is refused here leaves no trace in the
// history.

/**
 * @param waiting what came with it and has not been taken in yet
 * @returns why the order doesn't take it, or undefined: it does
 */
export function refusalOf(
  order: Order,
  waiting: readonly Input[],
  asked: Ask,
  nowMs: number,
): Refusal | undefined {
  return refusalNow(order, asked, nowMs) ?? tooMany(order, waiting, asked);
}

/** @returns why the order can't take it as it stands, or undefined: it can, or that can't be told yet */
function refusalNow(order: Order, asked: Ask, nowMs: number): Refusal | undefined {
  const { state } = order;
  switch (asked.kind) {
    case 'decision':
      return decisionRefusal(state, asked.request);
    case 'adopt':
      return adoptRefusal(state, asked.request) ?? byRefusal(asked.request.by);
    case 'retry':
      return comesEarly(order, asked.request?.attempt)
        ? undefined
        : retryRefusal(state, asked.request, nowMs);
    case 'gateway-result': {
      const code = gatewayResultRefusal(state, asked.request, nowMs);
      return gatewayFieldsRefusal(asked.request) ?? (code && gatewayRefusal(state, asked.request, code));
    }
    case 'portal':
      return (
        portalFieldsRefusal(asked.fields) ?? byRefusal(asked.by) ?? actionRefusal(order, asked.fields, nowMs)
      );
    case 'withdraw':
      return withdrawRefusal(state, asked.request) ?? byRefusal(asked.request.by);
    case 'override':
      return overrideRefusal(state, asked.request, nowMs) ?? byRefusal(asked.request.by);
    case 'acknowledge':
      return acknowledgeRefusal(state, asked.request, nowMs) ?? byRefusal(asked.request.by);
  }
}

/** After a reset Temporal sends the updates again at once, also those that came after the attempt before, which may not come this time. */
function comesEarly({ wasReset, state: { attempts } }: Order, attempt: number): boolean {
  return wasReset && attempts.length < attempt && attempts[attempt - 2]?.answer === undefined;
}

function actionRefusal(order: Order, fields: PortalFields, nowMs: number): Refusal | undefined {
  const { state } = order;
  if (stands(earlier(state, identified(order, fields)))) return undefined;
  const refused = emailRefusal(state, fields) ?? portalRefusal(state, fields, nowMs);
  if (refused !== undefined) {
    return { message: 'The order does not take this portal action now.', ...refused };
  }
  return tooManyActions(order, fields);
}

/** An answer that is long in coming must not make the order deaf: Temporal lets ten updates be in flight. */
function tooMany(order: Order, waiting: readonly Input[], asked: Ask): Refusal | undefined {
  const attempt = attemptOf(order, asked);
  const unanswered = attempt !== undefined && order.state.attempts[attempt - 1]?.answer === undefined;
  const unjudged = asked.kind !== 'retry' && mustWait(order, asked);
  if (!unanswered && !unjudged) return undefined;
  const asks = waiting.filter((input) => input.kind === 'ask').length;
  const all = asks + order.tickets.length + order.held.length;
  if (all < MOST_WAITING && mayWait(order, (one) => 'attempt' in one && one.attempt === attempt))
    return undefined;
  return { code: 'busy', message: 'Too many wait for this order: send the same request again.' };
}

/** The attempt whose answer is asked for. An order that is being adopted doesn't have its transaction yet: that is its first. */
function attemptOf({ state }: Order, asked: Ask): number | undefined {
  if (asked.kind === 'adopt') return attemptFor(state, asked.request.transactionId)?.number ?? 1;
  return asked.kind === 'decision' || asked.kind === 'retry' ? asked.request.attempt : undefined;
}
