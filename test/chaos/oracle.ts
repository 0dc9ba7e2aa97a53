/**
 * What an order must do, said a second time and independently of `src/orders/`: the table of actions and the rules for the
 * corners, as a fold over what is known to have happened to the order's newest attempt. Each input has its own moment on the
 * order's record. Of those with the same moment, what was read comes first: ends of effects are taken before messages.
 */
import type { Attempt, State } from './evidence.ts';
import type { HistoryFacts } from './history-facts.ts';
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
  | { at: number; rank: number; kind: 'override'; action: string }
  | { at: number; rank: number; kind: 'review given up' }
  | { at: number; rank: number; kind: 'review limit' };

type Known = Pick<HistoryFacts, 'gatewayResults' | 'recordedReads'>;
const NOTHING_MORE: Known = { gatewayResults: [], recordedReads: [] };

/**
 * @param known what the history says beside the state
 * @returns the action that the order must have now
 */
export function expectedAction(plan: OrderPlan, state: State, known: Known = NOTHING_MORE): string {
  const policy = policyOf(plan.integration);
  if (policy.passive) return 'proceed';
  const attempt = newest(state);
  const { answer } = attempt;
  if (answer === undefined) return 'hold';
  let action = checkoutAction(policy, answer.decision, plan.amount);
  let decision = answer.decision;
  let gateway: string | undefined;
  let ended = false;
  let override: string | undefined;
  for (const step of stepsOf(policy, state, attempt, known)) {
    if (ended) break;
    switch (step.kind) {
      case 'reading': {
        const before = decision;
        decision = step.decision;
        if (step.source === 'look-up') break;
        // A checkout that was declined stays so; a cancel isn't undone.
        if (action === 'decline' || action === 'cancel' || override !== undefined) break;
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
        else if (override !== undefined) action = override;
        else if (decision === 'pass') action = 'proceed';
        else if (decision === 'review') action = 'hold';
        else action = checkoutAction(policy, answer.decision, plan.amount);
        break;
      case 'cancel ended':
        action = 'cancel';
        break;
      case 'review given up':
        if (decision === 'review' && override === undefined) action = 'cancel';
        break;
      case 'override':
        override = step.action;
        action = step.action;
        break;
      case 'review limit':
        if (override === undefined) action = 'hold';
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

function stepsOf(policy: ChaosPolicy, state: State, attempt: Attempt, known: Known): Step[] {
  const steps: Step[] = attempt.readings.map((reading) => ({
    at: Date.parse(reading.at),
    rank: cameAfterGateway(reading, attempt, known) ? 2 : 0,
    kind: 'reading',
    decision: reading.decision,
    source: reading.source,
  }));
  if (attempt.gateway !== undefined) {
    const { result, at } = attempt.gateway;
    steps.push({ at: Date.parse(at), rank: 1, kind: 'gateway', result });
    // The record keeps the last result; the history has one that was replaced.
    for (const before of known.gatewayResults) {
      if ((before.attempt ?? attempt.number) !== attempt.number || before.result === result) continue;
      steps.push({ at: before.at, rank: 1, kind: 'gateway', result: before.result });
    }
  }
  for (const record of state.actions) {
    const mine = record.transactionId === undefined || record.transactionId === attempt.transactionId;
    const asked = Date.parse(record.requestedAt) >= Date.parse(attempt.startedAt);
    if (record.kind !== 'cancel' || record.finishedAt === undefined || !mine || !asked) continue;
    if (NEVER_SENT.has(record.status)) continue;
    steps.push({ at: Date.parse(record.finishedAt), rank: 3, kind: 'cancel ended' });
  }
  if (
    state.passed.includes('review-lead') &&
    policy.onUnresolvedReview === 'cancel' &&
    attempt.cancelBy !== undefined
  ) {
    steps.push({ at: Date.parse(attempt.cancelBy) - policy.reviewLeadMs, rank: 4, kind: 'review given up' });
  }
  if (attempt.override !== undefined) {
    const { at, action } = attempt.override;
    steps.push({ at: Date.parse(at), rank: 1.5, kind: 'override', action });
  }
  if (state.passed.includes('review-limit')) {
    steps.push({ at: Number.POSITIVE_INFINITY, rank: 5, kind: 'review limit' });
  }
  return steps.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

/** A reading that carries the moment of the gateway's result, although its end came in a later task than that. */
function cameAfterGateway(
  { decision, at }: Attempt['readings'][number],
  { number, gateway }: Attempt,
  { gatewayResults, recordedReads }: Known,
): boolean {
  if (gateway?.at !== at) return false;
  const taken = gatewayResults.findLast(
    (one) => (one.attempt ?? number) === number && one.result === gateway.result,
  );
  const reads = recordedReads.filter(
    (read) => read.decision === decision && read.at !== undefined && read.at <= Date.parse(at),
  );
  return taken !== undefined && reads.length > 0 && reads.every(({ task }) => task > taken.task);
}

/** How a portal action ends that the service was never asked for: taken back, or its day was over. */
export const NEVER_SENT: ReadonlySet<string> = new Set(['withdrawn', 'not-sent']);
/** How long an action that isn't a cancel is tried. */
export const ACTION_BOUND_MS = 24 * 3_600_000;

/** @returns what makes two chargebacks of a transaction the same: every field that is sent, `inquiry` as a boolean */
export function chargebackIdentity(fields: object): string {
  const { inquiry, ...others } = { inquiry: 'false', ...fields };
  return JSON.stringify([inquiry === 'true', ...Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1))]);
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
