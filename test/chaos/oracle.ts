/**
 * What an order must do, said a second time and independently of `src/orders/`: the table of design section 2 and the
 * corner rules of section 3, as a fold over what is known to have happened to the order's newest attempt.
 */
import type { Attempt, State } from './evidence.ts';
import type { OrderPlan } from './plan.ts';
import { type ChaosPolicy, policyOf, SKIP_BELOW, type Unavailable } from './policies.ts';

/** @returns what a checkout without a decision must be told */
export function fallbackAction(policy: ChaosPolicy, amount: number): Unavailable {
  const { whenUnavailable: rule, workflow } = policy;
  const named = typeof rule === 'string' ? rule : amount >= rule.atLeast ? rule.from : rule.otherwise;
  return named === 'decline' && workflow === 'post-acceptance' ? 'hold' : named;
}

/** @returns the action that a checkout's decision means, passive mode aside */
export function checkoutAction(policy: ChaosPolicy, decision: string, amount: number): string {
  if (decision === 'pass' || decision === 'skipped') return 'proceed';
  if (decision === 'review') return policy.workflow === 'pre-gateway' ? policy.reviewBeforeGateway : 'hold';
  if (decision === 'fail' || decision === 'fraudulent') {
    return policy.workflow === 'post-acceptance' ? 'cancel' : 'decline';
  }
  return fallbackAction(policy, amount);
}

/** @returns whether policy says that this order isn't screened */
export function isSkipped(plan: OrderPlan): boolean {
  return plan.amount < SKIP_BELOW;
}

type Step =
  | { at: number; rank: number; kind: 'reading'; decision: string; source: string }
  | { at: number; rank: number; kind: 'gateway'; result: string }
  | { at: number; rank: number; kind: 'cancel ended' }
  | { at: number; rank: number; kind: 'review given up' }
  | { at: number; rank: number; kind: 'review limit' };

/** @returns the action that the order must have now */
export function expectedAction(plan: OrderPlan, state: State): string {
  const policy = policyOf(plan.integration);
  if (policy.passive) return 'proceed';
  const attempt = newest(state);
  const { answer } = attempt;
  if (answer === undefined) return 'hold';
  let action = checkoutAction(policy, answer.decision, plan.amount);
  let decision = answer.decision;
  let gateway: string | undefined;
  let ended = false;
  for (const step of stepsOf(plan, policy, state, attempt)) {
    if (ended) break;
    switch (step.kind) {
      case 'reading': {
        const before = decision;
        decision = step.decision;
        if (step.source === 'look-up') break;
        // A checkout that was declined stays so; a cancel isn't undone.
        if (action === 'decline' || action === 'cancel') break;
        if (step.decision === 'error') break;
        // The same decision again changes nothing, such as the reading of the checkout itself.
        if (step.decision === before) break;
        action = later(step.decision, gateway);
        break;
      }
      case 'gateway':
        gateway = step.result;
        if (action === 'cancel' || decision === 'skipped') break;
        if (step.result === 'fail') action = 'decline';
        else if (step.result === 'error') action = 'hold';
        else if (decision === 'pass') action = 'proceed';
        else if (decision === 'review') action = 'hold';
        else action = checkoutAction(policy, answer.decision, plan.amount);
        break;
      case 'cancel ended':
        action = 'cancel';
        break;
      case 'review given up':
        if (decision === 'review') action = 'cancel';
        break;
      case 'review limit':
        action = 'hold';
        ended = true;
        break;
    }
  }
  return action;
}

/** @returns what a decision means after the checkout; a gateway that said `error` holds the order */
function later(decision: string, gateway: string | undefined): string {
  if (decision === 'fail' || decision === 'fraudulent') return 'cancel';
  if (decision === 'pass') return gateway === 'error' ? 'hold' : 'proceed';
  return 'hold';
}

function stepsOf(plan: OrderPlan, policy: ChaosPolicy, state: State, attempt: Attempt): Step[] {
  const steps: Step[] = attempt.readings.map((reading) => ({
    at: Date.parse(reading.at),
    rank: 0,
    kind: 'reading',
    decision: reading.decision,
    source: reading.source,
  }));
  if (attempt.gateway !== undefined) {
    // A result that replaced `error` is the one on record: the first one's hold ended with it.
    steps.push({
      at: Date.parse(attempt.gateway.at),
      rank: 1,
      kind: 'gateway',
      result: attempt.gateway.result,
    });
    const first = plan.gateway;
    if (
      first?.replacedBy !== undefined &&
      attempt.gateway.result === first.replacedBy &&
      attempt.number === 1
    ) {
      const before = Date.parse(attempt.gateway.at) - first.afterMs;
      steps.push({ at: before, rank: 1, kind: 'gateway', result: 'error' });
    }
  }
  for (const record of state.actions) {
    const mine = record.transactionId === undefined || record.transactionId === attempt.transactionId;
    const asked = Date.parse(record.requestedAt) >= Date.parse(attempt.startedAt);
    if (record.kind !== 'cancel' || record.finishedAt === undefined || !mine || !asked) continue;
    steps.push({ at: Date.parse(record.finishedAt), rank: 2, kind: 'cancel ended' });
  }
  if (
    state.passed.includes('review-lead') &&
    policy.onUnresolvedReview === 'cancel' &&
    attempt.cancelBy !== undefined
  ) {
    steps.push({ at: Date.parse(attempt.cancelBy) - policy.reviewLeadMs, rank: 3, kind: 'review given up' });
  }
  if (state.passed.includes('review-limit')) {
    steps.push({ at: Number.POSITIVE_INFINITY, rank: 4, kind: 'review limit' });
  }
  return steps.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

/** @returns the newest attempt */
export function newest(state: State): Attempt {
  const attempt = state.attempts.at(-1);
  if (attempt === undefined) throw new TypeError('an order has an attempt');
  return attempt;
}

/** @returns the last moment at which a cancel may be sent, milliseconds after the epoch */
export function lastCall(policy: ChaosPolicy, cancelBy: string): number {
  return Date.parse(cancelBy) - Math.min(30_000, policy.cancelWindowMs / 100);
}
