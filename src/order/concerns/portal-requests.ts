/** Requests of callers to perform or withdraw a portal action. */
import type { ActionRecord } from '../../contract/order/state.ts';
import { type Instant, laterBy, millis } from '../../contract/words.ts';
import { hasAsked } from '../journal.ts';
import type { Accepted, Order, Refusal, Requests, Taken } from '../order.ts';
import { actionNumbered, portalAnswer, portalRefusal, queueAction } from '../portal/portal-records.ts';
import {
  emailRefusal,
  identified,
  isDoneOrPending,
  isUnderWay,
  joined,
  tooManyActions,
} from '../portal/portal-requests.ts';
import { endUnsent, stopAction } from './portal.ts';

/** @returns why the order refuses the action, or undefined: it accepts it, or has done it already */
export function actionRefusal(
  order: Order,
  { fields }: Requests['portal'],
  at: Instant,
): Refusal | undefined {
  const { state } = order;
  if (isDoneOrPending(joined(order, identified(order, fields)))) return undefined;
  const refused = emailRefusal(state, fields) ?? portalRefusal(state, fields, millis(at));
  if (refused !== undefined)
    return { message: 'The order does not accept this portal action now.', ...refused };
  return tooManyActions(order, fields);
}

/** Returns the answer of a completed action, joins a pending one, or queues a new one. Returns immediately if another is queued first. */
export function takePortalAction(order: Order, { fields, by }: Requests['portal'], at: Instant): Accepted {
  const { state } = order;
  const same = identified(order, fields);
  const before = joined(order, same);
  if (isDoneOrPending(before)) {
    if (before.status === 'done') return { taken: { portal: portalAnswer(state, before) } };
    const because = 'reason' in fields ? fields.reason : undefined;
    const entry = { what: fields.kind, number: before.number, joined: true, because } as const;
    return { taken: waitFor(order, before, at), ...(!hasAsked(order, entry, by) && { entry }) };
  }
  const isBehind =
    fields.kind !== 'cancel' && state.actions.some((one) => isUnderWay(one) && one.kind !== 'cancel');
  const record = queueAction(state, same, 'caller', order.now);
  const { number, because } = record;
  order.fields[number] = fields;
  return {
    taken: isBehind ? { portal: portalAnswer(state, record) } : waitFor(order, record, at),
    entry: { what: fields.kind, number, because },
  };
}

/** Withdraws a queued action. A running action is stopped, and its outcome is awaited. */
export function withdraw(order: Order, { number, by }: Requests['withdraw'], at: Instant): Accepted {
  const record = actionNumbered(order.state, number);
  const entry = { what: 'withdraw', number } as const;
  const isNew = isUnderWay(record) && !hasAsked(order, entry, by);
  const end = record.status === 'queued' ? endUnsent(order, record) : [];
  const events = record.status === 'running' ? stopAction(order, record, 'withdrawn') : end;
  return {
    taken: { ...waitFor(order, record, at), withdraws: true },
    events,
    ...(isNew && { entry }),
  };
}

/** How long a caller waits for a portal action. */
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
