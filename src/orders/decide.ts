/** What follows from a reading of the decision. Pure. Design sections 2 and 3, "Rules for the corners". */
import { actionLater } from './actions.ts';
import type { OrderEventType } from './messages.ts';
import { currentAttempt } from './new-order.ts';
import type { AttentionCode, OrderState } from './state.ts';
import { type Action, type Decision, type Instant, millis } from './words.ts';

/** What follows; an absent field stays as it is. */
export interface Consequence {
  decision?: Decision;
  action?: Action;
  event?: OrderEventType;
  raise?: { code: AttentionCode; words: string };
  clear?: AttentionCode[];
}

/**
 * Says what follows when the service, asked for the status of the order's newest transaction, answers `read`.
 * The same decision again means nothing; `error` never replaces a decision; an order that was refused stays
 * refused; one that is canceled or closed ignores it.
 */
export function decide(order: OrderState, read: Decision, now: Instant): Consequence {
  if (order.phase === 'canceled' || order.phase === 'closed') return {};
  if (read === 'error' && order.decision !== 'error') {
    return { raise: { code: 'status-error', words: 'The service reads «error» for a decided transaction.' } };
  }
  if (read === order.decision) return { clear: ['status-error'] };
  switch (order.decision) {
    case 'pending':
    case 'error':
    case 'skipped':
      return { decision: read, action: later(order, read), event: 'order.decided', clear: ['no-decision'] };
    case 'fail':
    case 'fraudulent':
      return { decision: read, event: 'order.decision_changed', clear: ['status-error'] };
    case 'review':
    case 'pass':
      return changed(order, read, now);
  }
}

function changed(order: OrderState, read: Decision, now: Instant): Consequence {
  const consequence: Consequence = {
    decision: read,
    event: order.decision === 'review' ? 'order.review_resolved' : 'order.decision_changed',
    clear: ['status-error', 'review-unresolved'],
  };
  if (order.phase === 'declined' || order.action === 'cancel') return consequence;
  consequence.action = later(order, read);
  const { cancelBy } = currentAttempt(order);
  if (consequence.action === 'cancel' && cancelBy !== undefined && millis(now) >= millis(cancelBy)) {
    consequence.raise = {
      code: 'failed-after-window',
      words: `The decision became «${read}» after the cancel window had closed: refund and report by hand.`,
    };
  }
  return consequence;
}

/** A gateway that said `error` holds the order until it says something better. */
function later(order: OrderState, read: Decision): Action {
  if (order.phase === 'declined') return order.action;
  const action = actionLater(read);
  return action === 'proceed' && currentAttempt(order).gateway?.result === 'error' ? 'hold' : action;
}
