/** What an order does with what it is asked. The validators took it already; what the order can't take any more by now is `late`. */

import { emit, stopAction } from './advance.ts';
import { applyGatewayResult, gatewayResultAnswer } from './gateway.ts';
import { addAttempt } from './new-order.ts';
import type { Ask, Asked, Order, Refusal, Reply } from './order.ts';
import { actionNumbered, applyPortalOutcome, portalAnswer, queueAction } from './portal.ts';
import { earlier, isUnderWay, stands } from './same-action.ts';
import type { ActionRecord } from './state.ts';
import { heldUntil, tellThatItGoesOn, waitForAction } from './tickets.ts';
import { comesEarly, refusalNow } from './validators.ts';
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
export function leave(order: Order): Reply[] {
  const replies: Reply[] = order.held.map(({ ticket }) => ({ ticket, refusal: LATE }));
  order.held = [];
  tellThatItGoesOn(order, replies, true);
  return replies;
}

/** Until the first answer the policy isn't known, and may forbid a portal action. */
function mustWait(order: Order, asked: Ask): boolean {
  if (asked.kind === 'portal') return order.state.policy === undefined;
  return asked.kind === 'retry' && comesEarly(order, asked.request.attempt);
}

function take(order: Order, asked: Asked, what: Ask, replies: Reply[]): void {
  const { state, now } = order;
  const { ticket } = asked;
  switch (what.kind) {
    case 'decision':
      order.tickets.push({ number: ticket, attempt: what.request.attempt });
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
      replies.push({ ticket, gateway: gatewayResultAnswer(state, what.request) });
      return;
    case 'portal':
      takePortalAction(order, asked, what.fields, replies);
      return;
    case 'withdraw':
      withdraw(order, asked, what.request.number, replies);
      return;
    case 'acknowledge':
      replies.push({ ticket, cleared: state.attention.length });
      state.attention = [];
      return;
  }
}

/** Done already: its answer. Under way: joins it. Else it is queued; behind another one nobody is kept waiting. */
function takePortalAction(
  order: Order,
  asked: Asked,
  fields: Extract<Ask, { kind: 'portal' }>['fields'],
  replies: Reply[],
): void {
  const { state } = order;
  const before = earlier(state, fields);
  if (stands(before)) {
    if (before.status === 'done') replies.push({ ticket: asked.ticket, portal: portalAnswer(state, before) });
    else waitForAction(order, asked, before, replies);
    return;
  }
  const behind =
    fields.kind !== 'cancel' && state.actions.some((one) => isUnderWay(one) && one.kind !== 'cancel');
  const record = queueAction(state, fields, 'caller', order.now);
  order.fields[record.number] = fields;
  if (behind) replies.push({ ticket: asked.ticket, portal: portalAnswer(state, record) });
  else waitForAction(order, asked, record, replies);
}

/** One that was not begun is taken back; one that was is stopped, and its end tells what became of it. */
function withdraw(order: Order, asked: Asked, number: number, replies: Reply[]): void {
  const { state } = order;
  const record = actionNumbered(state, number);
  if (record === undefined) throw new TypeError(`no portal action ${number}`);
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
