/**
 * Portal actions: cancel, report fraud, chargeback, customer code. Callers and the policy request them. Cancels are sent immediately; the
 * other actions run one at a time, oldest first.
 */
import type { PortalOutcome } from '../../contract/activity-contract.ts';
import type { PortalFields } from '../../contract/messages.ts';
import type { ActionRecord } from '../../contract/order/state.ts';
import { portalKind } from '../../contract/portal/portal-kinds.ts';
import { type Instant, laterBy, millis, type OrderEventType } from '../../contract/words.ts';
import { actionCause, raiseAttention } from '../attention.ts';
import { boundOf, lookupBoundOf } from '../deadlines.ts';
import { autoCancelDue, endHold } from '../decide.ts';
import { defined } from '../defined.ts';
import type { Accepted, Concern, Order, Refusal, Requests, RequiredEffect, Taken } from '../order.ts';
import {
  actionNumbered,
  applyPortalOutcome,
  attemptFor,
  type EndedOutcome,
  endOfRepeat,
  outcomeWithoutSending,
  portalAnswer,
  portalRefusal,
  queueAction,
  setCancelTarget,
} from '../portal/portal-records.ts';
import { emailOf, emailRefusal, identified, joined, tooManyActions } from '../portal/portal-requests.ts';
import { currentAttempt } from '../record.ts';
import {
  concernsNewest,
  coveringCancel,
  createUnderWay,
  isDecided,
  isUnderWay,
  lastCall,
  mayBeSeen,
  transactionNamed,
  transactionOf,
  windowOpen,
} from '../transactions.ts';

export const portal: Concern = {
  name: 'portal',
  keepsOpen: true,

  desired(order) {
    const underWay = order.state.actions.filter(isUnderWay);
    const cancels = underWay.filter((record) => record.kind === 'cancel' && mayBeSent(order, record));
    const oldest = underWay.filter(({ kind }) => kind !== 'cancel').slice(0, 1);
    return [...cancels, ...oldest]
      .filter(({ stop }) => stop === undefined)
      .map((record) => perform(order, record));
  },

  started({ state }, { call }) {
    if (call.kind === 'portal') actionNumbered(state, call.request.action).status = 'running';
  },

  ended(order, { effect: { call } }, outcome) {
    if (call.kind !== 'portal') return [];
    const record = actionNumbered(order.state, call.request.action);
    if (outcome.status === 'completed')
      return outcome.result.kind === 'portal' ? performed(order, record, outcome.result.outcome) : [];
    // A stopped or failed action may have been sent. It is retried unless it must not be sent twice.
    if (outcome.status === 'canceled' || record.stop !== undefined || portalKind(record.kind).once)
      return performed(order, record, { kind: 'unconfirmed' });
    record.maybeSent = true;
    return 'retry-later';
  },

  followUp(order) {
    const { state, now } = order;
    if (autoCancelDue(state, millis(now))) queueCancel(order);
    const events = settleQueued(order);
    const further = cancelFurther(order);
    order.replies = order.replies.filter(
      ({ action, until }) => until > now && isUnderWay(actionNumbered(state, action)),
    );
    return [...events, ...further, ...endHold(state, now)];
  },
};

/** A transaction is canceled once, however many asked. A cancel that still waits for a create holds up no other. */
function mayBeSent(order: Order, record: ActionRecord): boolean {
  if (record.status === 'running') return true;
  const isBehind = order.state.actions.some((one) => {
    if (one.kind !== 'cancel' || one.transactionId !== record.transactionId) return false;
    const isNext = one.status === 'queued' && one.number < record.number && !waitsForCreate(order, one);
    return one.status === 'running' || isNext;
  });
  return !isBehind && !waitsForCreate(order, record);
}

/**
 * A cancel waits for a running screening, and for the lookup of an unconfirmed create unless it names a transaction, or has waited long and
 * can still cancel the known one.
 */
function waitsForCreate(order: Order, record: ActionRecord): boolean {
  const { state, fields } = order;
  const isNamed = fields[record.number]?.transactionId !== undefined;
  if (isNamed && !concernsNewest(state, record)) return false;
  const until = lookupBoundOf(state, record);
  const { cancelBy } = transactionNamed(state, record.transactionId) ?? {};
  const isOpen = windowOpen(cancelBy, state.policy.cancelWindowMs, millis(order.now));
  const looks = !isNamed && (until === undefined || order.now < until || !isOpen);
  return createUnderWay(order) || (looks && mayBeSeen(currentAttempt(state)));
}

function perform(order: Order, record: ActionRecord): RequiredEffect {
  const { state } = order;
  const { kind, number, transactionId } = record;
  const fields = order.fields[number];
  if (fields === undefined) throw new TypeError(`portal action ${number} has nothing to send`);
  // The transaction of a cancel is known.
  const { cancelBy } = (kind === 'cancel' && transactionNamed(state, transactionId)) || {};
  const request = {
    integration: state.integration,
    action: number,
    fields,
    ...(record.maybeSent === true && { maybeDone: true }),
    ...defined({ attempt: attemptFor(state, transactionId)?.number, transactionId }),
    ...(cancelBy !== undefined && { notAfter: lastCall(cancelBy, state.policy.cancelWindowMs) }),
  };
  const resource = kind === 'cancel' ? `cancel:${number}` : 'portal';
  const cause = actionCause(record);
  const call = { kind: 'portal', request } as const;
  return { key: `portal:${number}`, resource, whenObsolete: 'cancel-and-await', cause, call };
}

function performed(order: Order, record: ActionRecord, outcome: PortalOutcome): OrderEventType[] {
  if (outcome.kind !== 'forbidden') return ended(order, record, outcome);
  if (outcome.maybeDone) record.maybeSent = true;
  if (record.stop === undefined) return [];
  // A wrong key means that this try sent nothing. An earlier try may have.
  return ended(order, record, { kind: record.maybeSent === true ? 'unconfirmed' : 'not-sent' });
}

function ended(order: Order, record: ActionRecord, outcome: EndedOutcome): OrderEventType[] {
  delete order.fields[record.number];
  return applyPortalOutcome(order.state, record, outcome, order.now);
}

/** Queues an action. @param sent with the e-mail that the action is sent with, which doesn't identify it */
export function queue(
  order: Order,
  fields: PortalFields,
  by: ActionRecord['by'],
  sent: PortalFields = fields,
): ActionRecord {
  const record = queueAction(order.state, fields, by, order.now);
  order.fields[record.number] = sent;
  return record;
}

/** Queues the policy's cancel of the transaction that was read. */
export function queueCancel(order: Order): void {
  const { state } = order;
  queueCancelOf(order, transactionOf(state, currentAttempt(state))?.id, 'policy');
}

function queueCancelOf(order: Order, transactionId: string | undefined, by: ActionRecord['by']): void {
  queue(order, { kind: 'cancel', ...defined({ transactionId }) }, by);
}

/** Ends queued actions that need no request. */
function settleQueued(order: Order): OrderEventType[] {
  return order.state.actions.flatMap((record) => {
    const asked = order.fields[record.number];
    if (record.status !== 'queued' || asked === undefined) return [];
    const outcome =
      record.kind === 'cancel' ? endOfCancel(order, record, asked) : endOfRepeat(order.state, record, asked);
    return outcome === undefined ? [] : ended(order, record, outcome);
  });
}

/** Sets the transaction of a queued cancel, and ends it if it is done, or too late. */
function endOfCancel(order: Order, record: ActionRecord, asked: PortalFields): EndedOutcome | undefined {
  const { state } = order;
  if (waitsForCreate(order, record)) return undefined;
  const { transactionId: left } = record;
  setCancelTarget(state, record, asked);
  // The caller saw the transaction that was known, so both are canceled.
  if (left !== record.transactionId && isDecided(transactionNamed(state, left)?.decision))
    queueCancelOf(order, left, record.by);
  return outcomeWithoutSending(state, record, order.now);
}

/** Cancels, too, each transaction that a cancel covers, whatever its decision. Of a canceled order nothing else tells a person of it. */
function cancelFurther(order: Order): OrderEventType[] {
  const { state, now } = order;
  return state.transactions.flatMap((one) => {
    const covering = coveringCancel(state, one);
    if (covering === undefined) return [];
    queueCancelOf(order, one.id, covering.by);
    const cause = { operation: 'cancel', transactionId: one.id } as const;
    return state.phase === 'canceled' ? raiseAttention(state, 'cancel-due', FURTHER, cause, now) : [];
  });
}

const FURTHER =
  'A further transaction of the canceled order was found and is being canceled. Check that this is done before its cancel window closes.';

// Ends actions that are not sent in time, or that a person withdraws.

/** Stops the actions whose timeout has passed. */
export function giveUpActions(order: Order, at: Instant): OrderEventType[] {
  return order.state.actions.flatMap((record) => {
    const bound = boundOf(order.state, record);
    if (bound === undefined || bound > at) return [];
    if (record.status === 'running') return stopAction(order, record, 'overdue');
    return ended(order, record, { kind: record.kind === 'cancel' ? 'too-late' : 'not-sent' });
  });
}

/** Stops a started action. Its outcome is awaited, unless the action is pausing after a failure: then the outcome is unknown. */
function stopAction(
  order: Order,
  record: ActionRecord,
  why: NonNullable<ActionRecord['stop']>,
): OrderEventType[] {
  record.stop = why;
  const runs = order.running.some(({ effect }) => effect.key === `portal:${record.number}`);
  return runs ? [] : ended(order, record, { kind: 'unconfirmed' });
}

/** Ends an action that a person withdraws before it is sent, which needs no event. */
export function endUnsent(order: Order, record: ActionRecord): void {
  record.stop = 'withdrawn';
  ended(order, record, { kind: 'not-sent' });
}

/** @returns why the order refuses the action, or undefined: it accepts it, or has done it already */
export function actionRefusal(
  order: Order,
  { fields }: Requests['portal'],
  at: Instant,
): Refusal | undefined {
  const { state } = order;
  if (joined(order, identified(order, fields)) !== undefined) return undefined;
  const refused = emailRefusal(state, fields) ?? portalRefusal(state, fields, millis(at));
  if (refused !== undefined)
    return { message: 'The order does not accept this portal action now.', ...refused };
  return tooManyActions(order, fields);
}

/** Returns the answer of a completed action, joins a pending one, or queues a new one. Returns immediately if another is queued first. */
export function takePortalAction(order: Order, { fields }: Requests['portal'], at: Instant): Accepted {
  const { state } = order;
  const same = identified(order, fields);
  const before = joined(order, same);
  if (before?.status === 'done') return { taken: { portal: portalAnswer(state, before) } };
  if (before !== undefined) {
    const because = 'reason' in fields ? fields.reason : undefined;
    const entry = { what: fields.kind, number: before.number, joined: true, because } as const;
    return { taken: waitFor(order, before, at), entry };
  }
  const isBehind =
    fields.kind !== 'cancel' && state.actions.some((one) => isUnderWay(one) && one.kind !== 'cancel');
  const email = fields.kind === 'customer-code' && !fields.email && emailOf(order);
  const record = queue(order, same, 'caller', email ? { ...fields, email } : fields);
  const { number, because } = record;
  return {
    taken: isBehind ? { portal: portalAnswer(state, record) } : waitFor(order, record, at),
    entry: { what: fields.kind, number, because },
  };
}

/** Withdraws a queued action. A running action is stopped, and its outcome is awaited. */
export function withdraw(order: Order, { number }: Requests['withdraw'], at: Instant): Accepted {
  const record = actionNumbered(order.state, number);
  const noted = isUnderWay(record) && { entry: { what: 'withdraw', number } as const };
  if (record.status === 'queued') endUnsent(order, record);
  const events = record.status === 'running' ? stopAction(order, record, 'withdrawn') : [];
  return { taken: { ...waitFor(order, record, at), withdraws: true }, events, ...noted };
}

const WAIT_MS = 10_000;
/** Temporal allows ten concurrent updates: the maximum of waiting callers per action, and of all. */
const MAX_PER_ACTION = 2;
const MAX_WAITING = 6;

/** The caller of a pending action waits for its result, unless too many do. */
export function waitFor(
  order: Order,
  { number }: ActionRecord,
  at: Instant,
): Extract<Taken, { action: number }> {
  const { replies } = order;
  const same = replies.filter(({ action }) => action === number).length;
  if (same >= MAX_PER_ACTION || replies.length >= MAX_WAITING) return { action: number, until: at };
  const until = laterBy(WAIT_MS, at);
  replies.push({ action: number, until });
  return { action: number, until };
}
