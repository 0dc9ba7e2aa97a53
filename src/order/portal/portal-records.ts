/** The records of an order's portal actions: when an action is refused, how it ends, and the answer to its caller. */
import type { PortalOutcome } from '../../contract/activity-contract.ts';
import type { PortalAnswer } from '../../contract/answers.ts';
import type { Refusal } from '../../contract/errors.ts';
import type { OrderEventType, PortalFields } from '../../contract/messages.ts';
import type { ActionRecord, Attempt, OrderState } from '../../contract/order/state.ts';
import { isSentOnce, portalKind } from '../../contract/portal/portal-kinds.ts';
import { type Decision, type Instant, millis } from '../../contract/words.ts';
import { actionCause, clear, clearCanceled, clearRepeatedActions, raiseAttention } from '../attention.ts';
import { type Matter, wasReported } from '../decide.ts';
import { defined } from '../defined.ts';
import { currentAttempt, setAction, setPhase, settlePhase } from '../record.ts';
import { HIDDEN } from '../screening/apply-screening.ts';
import {
  cancelAsked,
  cancelByOf,
  concernsNewest,
  transactionNamed,
  transactionOf,
  wasLeftUnsent,
  windowOpen,
} from '../transactions.ts';
import { earlier, subjectOf, transactionMeant } from './portal-requests.ts';
import { isInDoubt, sameActions } from './repeats.ts';

/** An outcome after which the action isn't retried. */
export type EndedOutcome = Exclude<PortalOutcome, { kind: 'forbidden' }>;
type PortalRefusal = Pick<Refusal, 'code' | 'cancelBy'>;

/**
 * @param isClosed the order's workflow has ended: the action runs as its own workflow, based on the order's record
 * @returns why the action is refused now, or undefined: it is accepted, or was done before
 */
export function portalRefusal(
  state: OrderState,
  fields: PortalFields,
  nowMs: number,
  isClosed = false,
): PortalRefusal | undefined {
  if (state.policy.passive) return { code: 'passive' };
  const attempt = attemptFor(state, fields.transactionId);
  if (attempt === undefined) return { code: 'unknown-transaction' };
  const before = earlier(state, fields);
  if (isClosed && before?.status === 'done') return undefined;
  const late = fields.kind === 'cancel' ? cancelRefusal(state, fields, attempt, nowMs, isClosed) : undefined;
  if (late !== undefined) return late;
  if (!isClosed && state.endedAt !== undefined) return { code: 'order-closed' };
  if (fields.kind === 'cancel' || portalKind(fields.kind).ofOrder) return undefined;
  if (transactionMeant(state, fields) === undefined) return { code: 'no-transaction' };
  if (!isSentOnce(fields)) return undefined;
  const same = sameActions(state.actions, subjectOf(state, fields));
  if (isInDoubt(same)) return { code: 'outcome-unknown-before' };
  const { decision } = transactionNamed(state, transactionMeant(state, fields)) ?? {};
  return decision === undefined || CHARGEABLE.includes(decision)
    ? undefined
    : { code: 'chargeback-not-allowed' };
}

/** The screening service takes chargebacks only of transactions with one of these decisions. It judges an unknown one itself. */
const CHARGEABLE: readonly Decision[] = ['pass', 'fraudulent'];

function cancelRefusal(
  state: OrderState,
  fields: PortalFields,
  attempt: Attempt,
  nowMs: number,
  isClosed: boolean,
): PortalRefusal | undefined {
  const transactionId = transactionMeant(state, fields);
  const newest = transactionId === transactionOf(state, attempt)?.id;
  if (!isClosed && isCanceled(state, transactionId)) return undefined;
  if (attempt.decision === 'skipped' || (isClosed && transactionId === undefined)) {
    return { code: 'no-transaction' };
  }
  const cancelBy = windowMeant(state, attempt, transactionId);
  if (cancelBy === undefined) return isClosed ? { code: 'cancel-window-unknown' } : undefined;
  // The window is that of a create that may have been sent. A later create has its own window, and there may be no transaction at all.
  if (newest && state.phase === 'screening' && attempt.unseen !== undefined) return undefined;
  return windowOpen(cancelBy, state.policy.cancelWindowMs, nowMs)
    ? undefined
    : { code: 'cancel-window-closed', cancelBy };
}

/** Returns the end of the named transaction's cancel window, else that of the attempt. */
export function windowMeant(
  state: OrderState,
  attempt: Attempt,
  transactionId: string | undefined,
): Instant | undefined {
  return transactionNamed(state, transactionId)?.cancelBy ?? cancelByOf(state, attempt);
}

/** @returns whether a cancel of this transaction is done, or of an order without a transaction */
function isCanceled({ actions }: OrderState, transactionId: string | undefined): boolean {
  return actions.some(
    (one) => one.kind === 'cancel' && one.status === 'done' && one.transactionId === transactionId,
  );
}

export function queueAction(
  state: OrderState,
  fields: PortalFields,
  by: ActionRecord['by'],
  now: Instant,
): ActionRecord {
  const transactionId = transactionMeant(state, fields);
  const because = 'reason' in fields ? fields.reason : undefined;
  const record: ActionRecord = {
    number: state.actions.length + 1,
    kind: fields.kind,
    subject: subjectOf(state, fields),
    status: 'queued',
    by,
    requestedAt: now,
    ...defined({ transactionId, because }),
  };
  if (fields.kind === 'cancel' && concernsNewest(state, record)) {
    // One that names its transaction leaves those alone that its caller knew beside it.
    const { transactions } = state;
    const isNamed = fields.transactionId !== undefined;
    record.coversFrom = isNamed
      ? transactions.length
      : transactions.findIndex(({ id }) => id === transactionId) + 1;
  }
  state.actions.push(record);
  return record;
}

/**
 * Sets the transaction of a queued cancel once no screening is running: the requested one, else the newest. A repeated request for the
 * same cancel then joins it.
 */
export function setCancelTarget(state: OrderState, record: ActionRecord, fields: PortalFields): void {
  const transactionId = transactionMeant(state, fields);
  if (transactionId === undefined) return;
  record.transactionId = transactionId;
  record.subject = subjectOf(state, fields);
}

/** @returns the end of a queued cancel that needs no request: it is done, can't be sent, or is too late */
export function outcomeWithoutSending(
  state: OrderState,
  { transactionId }: ActionRecord,
  now: Instant,
): EndedOutcome | undefined {
  if (transactionId === undefined) {
    // A transaction that lookups can't show can't be canceled either.
    const { unseen } = currentAttempt(state);
    return unseen === undefined ? { kind: 'done' } : { kind: 'refused', message: HIDDEN, local: true };
  }
  const transaction = transactionNamed(state, transactionId);
  if (transaction === undefined || isCanceled(state, transactionId)) return { kind: 'done' };
  const isOpen = windowOpen(transaction.cancelBy, state.policy.cancelWindowMs, millis(now));
  return isOpen ? undefined : { kind: 'too-late' };
}

export function actionNumbered(state: OrderState, number: number): ActionRecord {
  const record = state.actions[number - 1];
  if (record === undefined) throw new TypeError(`the order has no portal action ${number}`);
  return record;
}

/** @returns the end of a queued action if the same one before it was stopped too late: it is done, or may be done and must not be sent twice */
export function endOfRepeat(
  { actions }: OrderState,
  { number, subject }: ActionRecord,
  asked: PortalFields,
): EndedOutcome | undefined {
  const same = sameActions(actions, subject).filter((one) => one.number < number);
  if (isSentOnce(asked) && isInDoubt(same)) return { kind: 'unconfirmed' };
  const before = same.at(-1);
  if (before?.status !== 'done') return undefined;
  const { code, message, chargeback } = before;
  return { kind: 'done', ...defined({ code, message, chargeback }) };
}

/** Records how an action ended, and applies the consequences. @returns the events to send */
export function applyPortalOutcome(
  state: OrderState,
  record: ActionRecord,
  outcome: EndedOutcome,
  now: Instant,
): OrderEventType[] {
  record.status = outcome.kind === 'not-sent' && record.stop === 'withdrawn' ? 'withdrawn' : outcome.kind;
  record.finishedAt = now;
  const { chargeback, code, message, local }: { kind: string } & Pick<ActionRecord, ReplyField> = outcome;
  Object.assign(record, defined({ chargeback, code, message, local }));
  const events: OrderEventType[] = [];
  if (record.kind === 'cancel') events.push(...afterCancel(state, record, now));
  else if (record.kind === 'report-fraud' && wasReported(record) && concernsNewest(state, record)) {
    state.fraudReportedAt = state.decision;
  }
  clearRepeatedActions(state);
  const matter = portalMatter(record);
  if (matter !== undefined) {
    const { action: _number, ...ofRepeated } = actionCause(record);
    // A repeated cancel has the same cause.
    const cause = matter.code.startsWith('portal-') ? actionCause(record) : ofRepeated;
    events.push(...raiseAttention(state, matter.code, matter.words, cause, now));
  }
  settlePhase(state, now);
  return events;
}

type ReplyField = 'code' | 'message' | 'chargeback' | 'local';
type Ended = Pick<ActionRecord, 'kind' | 'status' | ReplyField>;

function afterCancel(state: OrderState, record: ActionRecord, now: Instant): OrderEventType[] {
  if (wasLeftUnsent(record)) {
    if (concernsNewest(state, record)) forgetReminder(state);
    return [];
  }
  const { action: _number, ...cause } = actionCause(record);
  clear(state, { codes: ['cancel-due'], ...cause });
  // A cancel of an earlier transaction changes no action. A declined order stays declined unless it is canceled.
  const isNewest = concernsNewest(state, record);
  if (isNewest && (record.status === 'done' || state.action !== 'decline')) {
    setAction(state, 'cancel');
    delete state.message;
  }
  if (record.status === 'done') clearCanceled(state, record.transactionId, isNewest);
  if (record.status === 'done' && isNewest) {
    // A second transaction of the attempt may be canceled too.
    const isNew = state.phase !== 'canceled';
    setPhase(state, 'canceled', now);
    return isNew ? ['order.canceled'] : [];
  }
  return [];
}

/** The cancel that was left unsent kept the reminder away, or it caused one, which ends with the last wish for a cancel. */
function forgetReminder(state: OrderState): void {
  state.passed = state.passed.filter((kind) => kind !== 'cancel-reminder');
  if (state.action === 'cancel' || cancelAsked(state)) return;
  clear(state, { codes: ['cancel-due'] });
}

/** @returns whether a cancel of the newest transaction was sent and not refused, so it may have succeeded */
export function cancelSent(state: OrderState): boolean {
  const last = state.actions.findLast(
    (one) => one.kind === 'cancel' && concernsNewest(state, one) && SENT.includes(one.status),
  );
  return last !== undefined && last.status !== 'refused';
}

const SENT: readonly ActionRecord['status'][] = ['running', 'unconfirmed', 'refused', 'done'];

/** @returns the matter that an action's end raises, if any */
export function portalMatter({ kind, status, message, local }: Ended): Matter | undefined {
  if (status === 'unconfirmed') return { code: 'portal-unconfirmed', words: portalKind(kind).unconfirmed };
  if (status === 'too-late') return { code: 'cancel-too-late', words: TOO_LATE };
  if (status === 'not-sent') return { code: 'portal-not-sent', words: NOT_SENT };
  if (status !== 'refused') return undefined;
  const who = local ? 'It could not be sent' : 'The screening service refused';
  const words = `${who}: ${kind}${message ? ` (${message})` : ''}. It can be requested again.`;
  return { code: kind === 'cancel' ? 'cancel-refused' : 'portal-refused', words };
}

/** @returns the answer to the caller of an action that is done or pending */
export function portalAnswer(state: OrderState, record: ActionRecord): PortalAnswer {
  const { orderId, integration, phase, action } = state;
  const { number, kind, transactionId, code, message, chargeback, finishedAt: at } = record;
  const status = record.status === 'done' || record.status === 'withdrawn' ? record.status : 'requested';
  const optional = defined({ transactionId, code, message, chargeback, at });
  return { orderId, integration, number, kind, status, phase, action, ...optional };
}

/** @returns the error of an action that did not succeed, or undefined: it is done or pending */
export function portalFailure({ kind, status, code, message, local }: Ended): Refusal | undefined {
  switch (status) {
    case 'queued':
    case 'running':
    case 'done':
      return undefined;
    case 'refused': {
      const words = local ? 'It was not sent' : 'The screening service refused it';
      return {
        code: 'refused-by-screening-service',
        message: message ? `${words}: ${message}` : words,
        ...(!local && defined({ serviceCode: code, serviceMessage: message })),
      };
    }
    case 'unconfirmed':
      return { code: 'outcome-unknown', message: portalKind(kind).unconfirmed };
    case 'too-late':
      return { code: 'cancel-window-closed', message: TOO_LATE };
    case 'not-sent':
      return { code: 'action-not-sent', message: NOT_SENT };
    case 'withdrawn':
      return { code: 'action-withdrawn', message: 'The portal action was withdrawn before it was sent.' };
  }
}

/** @returns the attempt of the transaction; without a transaction the newest attempt */
export function attemptFor(state: OrderState, transactionId: string | undefined): Attempt | undefined {
  if (transactionId === undefined) return currentAttempt(state);
  const { attempt } = transactionNamed(state, transactionId) ?? {};
  // The record may lack the first attempts.
  return state.attempts.find(({ number }) => number === attempt);
}

const NOT_SENT = 'The portal action could not be sent within a day and was given up: request it again.';
const TOO_LATE = 'The cancel window closed before the cancel could be sent: refund and report by hand.';
