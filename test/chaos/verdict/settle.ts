/** Waits until nothing more happens to the orders by themselves. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderState } from '../../../src/contract/order/state.ts';
import { currentAttempt, numberBeforeEvents } from '../../../src/order/record.ts';
import { recordOf } from '../../books/record-of.ts';
import { readState } from '../../support/read-state.ts';
import type { Deployment } from '../deployment.ts';
import { type OrderPlan, workflowIdOf } from '../plan/plan.ts';
import { aFewAtATime } from './evidence.ts';

const LOOK_EVERY_MS = 1_500;
const A_MINUTE_MS = 60_000;

/** @returns the orders that have not come to rest after `withinMs` */
export async function settle(
  { client, sandbox }: Deployment,
  plans: readonly OrderPlan[],
  withinMs: number,
  signal: AbortSignal,
): Promise<OrderPlan[]> {
  const deadline = Date.now() + withinMs;
  for (let left = [...plans]; ; ) {
    const open = new Set<string>();
    for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" }))
      open.add(workflowId);
    const rested = await aFewAtATime(left, (plan) => isAtRest(plan, open));
    left = left.filter((_, index) => rested[index] !== true);
    const portalBusy = [...open].some((workflowId) => workflowId.startsWith('portal:'));
    if ((left.length === 0 && !portalBusy) || Date.now() > deadline || signal.aborted) return left;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }

  async function isAtRest(plan: OrderPlan, open: ReadonlySet<string>): Promise<boolean> {
    const workflowId = workflowIdOf(plan);
    if (!open.has(workflowId)) return true;
    if (!plan.long) return false;
    const state = await readState(client, workflowId).catch(() => undefined);
    if (state === undefined) return false;
    const [transaction] = sandbox.control.transactions(recordOf(state).newest ?? 'none');
    return isStable(plan, state, transaction?.decision);
  }
}

/** @param decided the screening service's decision of now */
function isStable({ policy }: OrderPlan, state: OrderState, decided: string | undefined): boolean {
  const { phase, decision, actions, events, attempts, transactions } = state;
  const isSent = ({ gateway, number }: OrderState['attempts'][number]) =>
    gateway?.sent !== undefined || !transactions.some(({ attempt }) => attempt === number);
  const isBusy =
    currentAttempt(state).answer === undefined ||
    events.delivered < events.sequence - numberBeforeEvents(state) ||
    events.waiting > 0 ||
    actions.some(({ status }) => status === 'queued' || status === 'running') ||
    attempts.some((attempt) => attempt.gateway !== undefined && !isSent(attempt));
  if (isBusy) return false;
  // The next poll, rescreen or end is minutes away, and the run doesn't wait for it.
  if (policy.poll.firstMs >= A_MINUTE_MS && phase !== 'canceled') return true;
  if (phase === 'review' || (phase === 'awaiting-gateway' && decision === 'review')) {
    return decided === 'review';
  }
  // Declined, canceled and skipped orders close by themselves.
  return phase === 'decided' || phase === 'awaiting-gateway';
}
