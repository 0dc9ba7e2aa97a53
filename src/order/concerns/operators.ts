/** What operators write: overrides of decisions, attention that they resolve, notes, an assignee, and a snooze, which puts attention off. */
import type { OverrideAnswer } from '../../contract/answers.ts';
import type { AcknowledgeRequest, OverrideRequest, PortalFields } from '../../contract/messages.ts';
import type { ActionRecord, Attention, OrderState } from '../../contract/order/state.ts';
import { type Instant, instant, millis } from '../../contract/words.ts';
import { clear, clearedBy, staysOpen } from '../attention.ts';
import { snoozeLimit } from '../deadlines.ts';
import { defined } from '../defined.ts';
import { announce } from '../events.ts';
import { invalid, refusal } from '../messages/check-messages.ts';
import type { Accepted, Handlers, Order, Refusal } from '../order.ts';
import { cancelSent } from '../portal/portal-records.ts';
import { joined } from '../portal/portal-requests.ts';
import { currentAttempt, setAction, settlePhase } from '../record.ts';
import { attemptSummary, concernsNewest } from '../transactions.ts';
import { actionRefusal, endUnsent, queue } from './portal.ts';

export function overrideRefusal(
  state: OrderState,
  { action }: Pick<OverrideRequest, 'action'>,
): Refusal | undefined {
  if (currentAttempt(state).answer === undefined)
    return refusal('busy', 'The order is being screened: send the same request again.');
  if (state.policy.passive) return refusal('passive', 'The integration is passive: every action is proceed.');
  if (state.phase === 'canceled' || state.endedAt !== undefined) {
    return refusal('order-closed', 'The order is canceled or closed: it can’t be overridden.');
  }
  const gatewayDeclined = currentAttempt(state).gateway?.result === 'fail';
  if (state.phase === 'declined' || (action === 'proceed' && gatewayDeclined)) {
    return refusal('order-declined', 'The order is declined: send another attempt instead.');
  }
  return action === 'proceed' && cancelSent(state)
    ? refusal('cancel-under-way', 'A cancel was sent to the screening service and may have succeeded.')
    : undefined;
}

export const operatorRequests: Handlers<'override' | 'acknowledge' | 'note' | 'assign' | 'snooze'> = {
  /** Rule «a person decides». An override to `cancel` also requests a cancel. If that is refused, the override still applies. */
  override: {
    needsPolicy: true,
    refusal: ({ state }, request) => overrideRefusal(state, request),
    apply(order, { action, reason }, at) {
      const { state, now } = order;
      const cancel = action === 'cancel' ? requestCancel(order, reason, at) : {};
      const isWithdrawn = (one: ActionRecord) =>
        action === 'proceed' &&
        one.kind === 'cancel' &&
        one.status === 'queued' &&
        concernsNewest(state, one);
      for (const one of state.actions.filter(isWithdrawn)) endUnsent(order, one);
      currentAttempt(state).override = { action, reason, by: 'person', at: now };
      clear(state, { codes: clearedBy('override') });
      setAction(state, action);
      settlePhase(state, now);
      announce(order, ['order.decision_changed'], 'person');
      return { taken: { overridden: cancel }, entry: { what: 'override', action, because: reason } };
    },
  },
  acknowledge: {
    refusal({ state }, request, at) {
      const { attention } = state;
      if (attention.length === 0 || unresolved(state, request, at).length < attention.length)
        return undefined;
      const words =
        'The cause of the attention still exists: the call keeps failing, a deadline is pending, or the gateway’s result must be reported. Or it was raised after `until`.';
      return refusal('attention-stands', words);
    },
    apply({ state }, request, at) {
      const { reason } = request;
      const left = unresolved(state, request, at);
      const cleared = state.attention.length - left.length;
      state.attention = left;
      return { taken: { cleared }, ...(cleared > 0 && { entry: { what: 'acknowledge', because: reason } }) };
    },
  },
  note: { apply: (order, { text }) => handled(order, { what: 'note', because: text }) },
  assign: {
    apply(order, { assignee }) {
      const { state } = order;
      const before = state.assignee;
      delete state.assignee;
      if (assignee) state.assignee = assignee;
      if (state.assignee === before) return handled(order);
      return handled(order, { what: 'assign', ...defined({ assignee: state.assignee }) });
    },
  },
  snooze: {
    refusal({ state }, { until }, now) {
      if (state.endedAt !== undefined)
        return refusal('order-closed', 'The order is closed: acknowledge its attention instead.');
      if (millis(until) <= millis(now)) return invalid([{ path: 'until', message: 'must be in the future' }]);
      const limit = snoozeLimit(state, now);
      if (limit === undefined || millis(until) <= millis(limit)) return undefined;
      const message = `must not be later than ${limit}, when the order’s time to act ends`;
      return invalid([{ path: 'until', message }]);
    },
    apply(order, { until, note }) {
      const snoozedUntil = instant(millis(until));
      order.state.snoozedUntil = snoozedUntil;
      return handled(order, { what: 'snooze', until: snoozedUntil, because: note });
    },
  },
};

/** @returns the matters that an acknowledgement leaves open: their cause still exists, or the person hasn't seen them */
function unresolved(state: OrderState, { until }: AcknowledgeRequest, at: Instant): Attention[] {
  const isLater = ({ since }: Attention) => until !== undefined && millis(since) > millis(until);
  return state.attention.filter((one) => isLater(one) || staysOpen(state, one, millis(at)));
}

function requestCancel(
  order: Order,
  reason: string,
  at: Instant,
): Pick<OverrideAnswer, 'number' | 'notCanceled'> {
  const fields: PortalFields = { kind: 'cancel', reason };
  const refused = actionRefusal(order, { fields }, at);
  if (refused !== undefined) return { notCanceled: refused.code };
  const { number } = joined(order, fields) ?? queue(order, fields, 'caller');
  return { number };
}

/** @returns the reply to an override, after its consequences are applied */
export function overrideAnswer(
  { state }: Order,
  { number, notCanceled }: ReturnType<typeof requestCancel>,
): OverrideAnswer {
  const record = number === undefined ? undefined : state.actions[number - 1];
  const isNothing = record?.status === 'done' && record.transactionId === undefined;
  const reason = isNothing ? 'no-transaction' : notCanceled;
  return {
    ...attemptSummary(state, currentAttempt(state)),
    ...defined({ number, notCanceled: reason }),
  };
}

/** Answers a note, an assignment or a snooze. `entry` is absent if nothing changed. */
function handled({ state }: Order, entry?: NonNullable<Accepted['entry']>): Accepted {
  const { orderId, integration, assignee, snoozedUntil } = state;
  const handling = { orderId, integration, ...defined({ assignee, snoozedUntil }) };
  return { taken: { handling }, ...defined({ entry }) };
}
