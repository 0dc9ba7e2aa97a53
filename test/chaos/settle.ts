/** Waits until every order has come to rest: closed, or stable as its plan says. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { OrderState } from '../../src/contract/messages.ts';
import { currentAttempt } from '../../src/orders/record.ts';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { recordOf } from '../books/record-of.ts';
import { readState } from '../support/read-state.ts';
import { inBatches } from './evidence.ts';
import { type OrderPlan, workflowIdOf } from './plan.ts';

const LOOK_EVERY_MS = 1_500;
const A_MINUTE_MS = 60_000;

/**
 * @returns the orders that have not come to rest after `withinMs`
 */
export async function settle(
  client: Client,
  sandbox: Sandbox,
  plans: readonly OrderPlan[],
  withinMs: number,
  signal: AbortSignal,
): Promise<OrderPlan[]> {
  const deadline = Date.now() + withinMs;
  let left = [...plans];
  while (!signal.aborted) {
    const open = await openOrders(client);
    const rested = await inBatches(left, (plan) => atRest(client, sandbox, plan, open));
    left = left.filter((_, index) => rested[index] !== true);
    const portalBusy = [...open].some((workflowId) => workflowId.startsWith('portal:'));
    if (left.length === 0 && !portalBusy) return [];
    if (Date.now() > deadline) return left;
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return left;
}

async function openOrders(client: Client): Promise<Set<string>> {
  const open = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    open.add(workflowId);
  }
  return open;
}

async function atRest(
  client: Client,
  sandbox: Sandbox,
  plan: OrderPlan,
  open: ReadonlySet<string>,
): Promise<boolean> {
  const workflowId = workflowIdOf(plan);
  if (!open.has(workflowId)) return true;
  if (!plan.long) return false;
  try {
    const state = await readState(client, workflowId);
    const [transaction] = sandbox.control.transactions(recordOf(state).newest ?? 'none');
    return isStable(plan, state, transaction?.decision);
  } catch {
    return false;
  }
}

/** @returns whether nothing more happens soon to an open order by itself, the screening service's decision being this one */
function isStable({ policy }: OrderPlan, state: OrderState, decided: string | undefined): boolean {
  const { phase, decision, actions, events, attempts, transactions } = state;
  if (currentAttempt(state).answer === undefined) return false;
  if (events.delivered < events.sequence || events.waiting > 0) return false;
  if (actions.some(({ status }) => status === 'queued' || status === 'running')) return false;
  const unsent = attempts.some(
    ({ gateway, number }) =>
      gateway !== undefined &&
      gateway.sent === undefined &&
      transactions.some(({ attempt }) => attempt === number),
  );
  if (unsent) return false;
  // Its next poll, rescreen or end is minutes away, and the run doesn't wait for it.
  if (policy.poll.firstMs >= A_MINUTE_MS && phase !== 'canceled') return true;
  if (phase === 'review' || (phase === 'awaiting-gateway' && decision === 'review')) {
    return decided === 'review';
  }
  // A declined order closes by itself, and so does a canceled or skipped one.
  return phase === 'decided' || phase === 'awaiting-gateway';
}
