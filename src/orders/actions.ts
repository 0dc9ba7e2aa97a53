/** The table of design section 2: which action a decision means, and when. */
import type { Policy } from './policy.ts';
import type { Attempt } from './state.ts';
import type { Action, OrderDecision } from './words.ts';

/** @returns the action that answers a checkout */
export function actionAtCheckout(decision: OrderDecision, policy: Policy): Action {
  switch (decision) {
    case 'pass':
    case 'skipped':
      return 'proceed';
    case 'review':
      return policy.workflow === 'pre-gateway' ? policy.reviewBeforeGateway : 'hold';
    case 'fail':
    case 'fraudulent':
      return policy.workflow === 'post-acceptance' ? 'cancel' : 'decline';
    case 'error':
    case 'pending':
      return actionWithoutDecision(policy);
  }
}

/** @returns what a checkout without a decision does; after acceptance there is nobody left to decline */
export function actionWithoutDecision(policy: Pick<Policy, 'workflow' | 'whenUnavailable'>): Action {
  return policy.workflow === 'post-acceptance' && policy.whenUnavailable === 'decline'
    ? 'hold'
    : policy.whenUnavailable;
}

/** @returns the action of a decision that comes after a review, or later than the checkout */
export function actionLater(decision: OrderDecision): Action {
  switch (decision) {
    case 'pass':
    case 'skipped':
      return 'proceed';
    case 'review':
    case 'error':
    case 'pending':
      return 'hold';
    case 'fail':
    case 'fraudulent':
      return 'cancel';
  }
}

/** A gateway that said `error` holds the order until it says something better. */
export function heldByGateway({ gateway }: Attempt, action: Action): Action {
  return action === 'proceed' && gateway?.result === 'error' ? 'hold' : action;
}
