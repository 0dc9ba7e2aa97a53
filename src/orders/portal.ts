/** The portal actions of an order: what may be asked, what was asked already, what follows. */

import type { PortalOutcome } from './activity-contract.ts';
import { isOver } from './deadlines.ts';
import type { OrderErrorCode } from './errors.ts';
import { sameTransaction } from './ids.ts';
import type { OrderEventType, PortalAnswer, PortalFields } from './messages.ts';
import { earlier, isUnderWay, namedTransaction, subjectOf, transactionMeant } from './portal-requests.ts';
import { clear, currentAttempt, raiseAttention, setAction, setPhase, settle } from './record.ts';
import type { ActionRecord, Attempt, OrderState } from './state.ts';
import { mayHoldUnknown, windowOpen } from './transactions.ts';
import type { Instant, PortalActionKind } from './words.ts';

export interface PortalRefusal {
  code: OrderErrorCode;
  cancelBy?: Instant;
}

/** @returns why the order doesn't take this action now, or undefined: it does */
export function portalRefusal(
  order: OrderState,
  fields: PortalFields,
  nowMs: number,
): PortalRefusal | undefined {
  if (order.policy?.passive) return { code: 'passive' };
  const attempt = attemptFor(order, namedTransaction(fields));
  if (attempt === undefined) return { code: 'unknown-transaction' };
  const late = fields.kind === 'cancel' ? cancelRefusal(order, attempt, nowMs) : undefined;
  if (late !== undefined) return late;
  if (isOver(order, nowMs)) return { code: 'order-closed' };
  const { kind } = fields;
  return kind === 'cancel' || kind === 'customer-code'
    ? undefined
    : unsendable(order, fields, attempt.transactionId);
}

/** @returns why nothing can be sent about this transaction */
function unsendable(
  order: OrderState,
  fields: PortalFields,
  transactionId: string | undefined,
): PortalRefusal | undefined {
  if (transactionId === undefined) return { code: 'no-transaction' };
  if (fields.kind !== 'chargeback' || fields.force === true) return undefined;
  return earlier(order, fields)?.status === 'unconfirmed' ? { code: 'outcome-unknown-before' } : undefined;
}

/** @returns why the action isn't made for a closed order, by its record, or undefined: it is, or it was done before */
export function closedOrderRefusal(
  order: OrderState,
  fields: PortalFields,
  nowMs: number,
): PortalRefusal | undefined {
  if (order.policy?.passive) return { code: 'passive' };
  const attempt = attemptFor(order, namedTransaction(fields));
  if (attempt === undefined) return { code: 'unknown-transaction' };
  if (earlier(order, fields)?.status === 'done') return undefined;
  if (fields.kind === 'customer-code') return undefined;
  const refused = unsendable(order, fields, namedTransaction(fields) ?? attempt.transactionId);
  if (refused !== undefined) return refused;
  if (fields.kind !== 'cancel') return undefined;
  const { cancelBy } = attempt;
  if (cancelBy === undefined || order.policy === undefined) return { code: 'cancel-window-unknown' };
  const open = windowOpen(cancelBy, order.policy.cancelWindowMs, nowMs);
  return open ? undefined : { code: 'cancel-window-closed', cancelBy };
}

function cancelRefusal(order: OrderState, attempt: Attempt, nowMs: number): PortalRefusal | undefined {
  if (isCanceled(order, attempt)) return undefined;
  if (order.decision === 'skipped') return { code: 'no-transaction' };
  const { cancelBy } = attempt;
  if (cancelBy === undefined || order.policy === undefined) return undefined;
  // So far the window is that of a create that may have been sent: one made later has its own, and maybe there is none.
  if (order.phase === 'screening' && mayHoldUnknown(attempt)) return undefined;
  return windowOpen(cancelBy, order.policy.cancelWindowMs, nowMs)
    ? undefined
    : { code: 'cancel-window-closed', cancelBy };
}

/** @returns whether this attempt is canceled already: canceling an order cancels its newest transaction only */
export function isCanceled(order: OrderState, attempt: Attempt | undefined): boolean {
  return order.phase === 'canceled' && attempt === currentAttempt(order);
}

/** Records that the action was asked. */
export function queueAction(
  order: OrderState,
  fields: PortalFields,
  by: ActionRecord['by'],
  now: Instant,
): ActionRecord {
  const transactionId = transactionMeant(order, fields);
  const because = ('reason' in fields ? fields.reason : undefined) ?? undefined;
  const record: ActionRecord = {
    number: order.actions.length + 1,
    kind: fields.kind,
    subject: subjectOf(order, fields),
    status: 'queued',
    by,
    requestedAt: now,
    ...(transactionId !== undefined && { transactionId }),
    ...(because !== undefined && { because }),
  };
  order.actions.push(record);
  if (fields.kind === 'cancel' && concernsNewest(order, record)) order.cancelAsked = true;
  return record;
}

/**
 * Says which transaction a queued cancel is about, once nothing more is being screened: the one that was named, else the
 * newest. The same cancel asked again then joins it.
 */
export function aimCancel(order: OrderState, record: ActionRecord, fields: PortalFields): void {
  const transactionId = transactionMeant(order, fields);
  if (transactionId === undefined) return;
  record.transactionId = transactionId;
  record.subject = subjectOf(order, fields);
}

/** @returns the record of the action of that number @throws TypeError there is none, which is a fault of ours */
export function actionNumbered(order: OrderState, number: number): ActionRecord {
  const record = order.actions[number - 1];
  if (record === undefined) throw new TypeError(`the order has no portal action ${number}`);
  return record;
}

/** Records how an action ended, and what follows. @returns the events that it means */
export function applyPortalOutcome(
  order: OrderState,
  record: ActionRecord,
  outcome: Exclude<PortalOutcome, { kind: 'forbidden' }>,
  now: Instant,
): OrderEventType[] {
  record.status = outcome.kind === 'not-sent' && record.stop === 'withdrawn' ? 'withdrawn' : outcome.kind;
  record.finishedAt = now;
  if ('chargeback' in outcome && outcome.chargeback !== undefined) record.chargeback = outcome.chargeback;
  if ('code' in outcome && outcome.code !== undefined) record.code = outcome.code;
  if ('message' in outcome && outcome.message !== undefined) record.message = outcome.message;
  clear(order, 'wrong-key');
  const events: OrderEventType[] = [];
  if (record.kind === 'cancel') afterCancel(order, record, now, events);
  else if (record.kind === 'report-fraud' && record.status === 'done' && concernsNewest(order, record)) {
    order.fraudReportedAt = order.decision;
  }
  clearWhatIsMended(order);
  if (record.status === 'unconfirmed') {
    events.push(...raiseAttention(order, 'portal-unconfirmed', UNCONFIRMED[record.kind], now));
  }
  if (record.status === 'not-sent') events.push(...raiseAttention(order, 'portal-not-sent', NOT_SENT, now));
  if (record.status === 'refused' && record.kind !== 'cancel') {
    events.push(...raiseAttention(order, 'portal-refused', refusedWords(record), now));
  }
  settle(order, now);
  return events;
}

function afterCancel(order: OrderState, record: ActionRecord, now: Instant, events: OrderEventType[]): void {
  order.cancelAsked = order.actions.some(
    (one) => one.kind === 'cancel' && isUnderWay(one) && concernsNewest(order, one),
  );
  if (!concernsNewest(order, record) || record.status === 'withdrawn' || record.status === 'not-sent') return;
  setAction(order, 'cancel');
  delete order.message;
  if (record.status === 'done') {
    clear(
      order,
      'review-unresolved',
      'cancel-due',
      'cancel-refused',
      'cancel-too-late',
      'failed-at-adoption',
    );
    clear(order, 'no-decision', 'unreadable-answer', 'status-error', 'gateway-late');
    setPhase(order, 'canceled', now);
    events.push('order.canceled');
    return;
  }
  if (record.status === 'refused') {
    events.push(...raiseAttention(order, 'cancel-refused', refusedWords(record), now));
  }
  if (record.status === 'too-late') events.push(...raiseAttention(order, 'cancel-too-late', TOO_LATE, now));
}

/** An action for an earlier attempt's transaction changes nothing about where the order is. */
export function concernsNewest(order: OrderState, record: ActionRecord): boolean {
  return record.transactionId === undefined || record.transactionId === currentAttempt(order).transactionId;
}

/** @returns whether a cancel of the newest transaction was sent and not refused, so that it may be done */
export function cancelSent(order: OrderState): boolean {
  const last = order.actions.findLast(
    (one) => one.kind === 'cancel' && concernsNewest(order, one) && SENT.includes(one.status),
  );
  return last !== undefined && last.status !== 'refused';
}

const SENT: readonly ActionRecord['status'][] = ['running', 'unconfirmed', 'refused', 'done'];

/** A refusal or an unknown outcome is mended when the same action was done since. */
function clearWhatIsMended(order: OrderState): void {
  const last = order.actions.filter(
    (one) => one === order.actions.findLast((a) => a.subject === one.subject),
  );
  if (!last.some((one) => one.status === 'unconfirmed')) clear(order, 'portal-unconfirmed');
  if (!last.some((one) => one.status === 'refused')) clear(order, 'portal-refused');
  if (!last.some((one) => one.status === 'not-sent')) clear(order, 'portal-not-sent');
}

function refusedWords({ kind, message }: ActionRecord): string {
  return `The service refused: ${kind}${message ? ` (${message})` : ''}. It may be asked again.`;
}

/** @returns the answer to whoever asked for an action that is done, or still on its way */
export function portalAnswer(order: OrderState, record: ActionRecord): PortalAnswer {
  return {
    orderId: order.orderId,
    integration: order.integration,
    number: record.number,
    kind: record.kind,
    status: record.status === 'done' || record.status === 'withdrawn' ? record.status : 'requested',
    phase: order.phase,
    action: order.action,
    ...(record.transactionId !== undefined && { transactionId: record.transactionId }),
    ...(record.code !== undefined && { code: record.code }),
    ...(record.message !== undefined && { message: record.message }),
    ...(record.chargeback !== undefined && { chargeback: record.chargeback }),
    ...(record.finishedAt !== undefined && { at: record.finishedAt }),
  };
}

/** @returns the error that an action which did not get done means to whoever asked, or undefined: it is fine */
export function portalFailure(record: ActionRecord): { code: OrderErrorCode; message: string } | undefined {
  switch (record.status) {
    case 'queued':
    case 'running':
    case 'done':
      return undefined;
    case 'refused':
      return {
        code: 'refused-by-screening-service',
        message: `The screening service refused it${record.message ? `: ${record.message}` : ''}`,
      };
    case 'unconfirmed':
      return { code: 'outcome-unknown', message: UNCONFIRMED[record.kind] };
    case 'too-late':
      return { code: 'cancel-window-closed', message: TOO_LATE };
    case 'not-sent':
      return { code: 'action-not-sent', message: NOT_SENT };
    case 'withdrawn':
      return { code: 'action-withdrawn', message: 'The portal action was withdrawn before it was sent.' };
  }
}

/** @returns the attempt whose transaction is meant: the newest unless one is named */
export function attemptFor(order: OrderState, transactionId: string | undefined): Attempt | undefined {
  if (transactionId === undefined) return currentAttempt(order);
  return order.attempts.find(({ transactionIds }) =>
    transactionIds.some((one) => sameTransaction(one, transactionId)),
  );
}

export const NOT_SENT =
  'The portal action could not be sent within a day and was given up: ask for it again.';
const TOO_LATE = 'The cancel window closed before the cancel could be sent: refund and report by hand.';
const UNCONFIRMED: Record<PortalActionKind, string> = {
  cancel: 'The cancel may have been done: look in the portal, or ask for it again.',
  'report-fraud': 'The fraud report may have been made: look in the portal, or send it again.',
  'customer-code': 'The customer code may be attached: look in the portal, or send it again.',
  chargeback:
    'The chargeback may have been submitted: look in the portal before you send it again with force.',
};
