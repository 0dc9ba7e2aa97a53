/** Waits until every order has come to rest: closed, or stable as its plan says. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { orderQuery } from '../../src/orders/messages.ts';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { inBatches, type State, stateSchema } from './evidence.ts';
import { newest } from './oracle.ts';
import { type OrderPlan, workflowIdOf } from './plan.ts';
import { policyOf } from './policies.ts';

const LOOK_EVERY_MS = 1_500;
const LONG_WINDOW_MS = 3_600_000;

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
  if (policyOf(plan.integration).cancelWindowMs < LONG_WINDOW_MS) return false;
  try {
    const state = stateSchema.parse(await client.workflow.getHandle(workflowId).query(orderQuery));
    const [transaction] = sandbox.control.transactions(newest(state).transactionId ?? 'none');
    return isStable(state, transaction?.decision);
  } catch {
    return false;
  }
}

/** @returns whether nothing more happens to an open order by itself, the service's decision being this one */
export function isStable(state: State, serviceDecision: string | undefined): boolean {
  const { phase, decision, actions, events, attempts } = state;
  const attempt = newest(state);
  if (attempt.answer === undefined || events.delivered < events.sequence || events.waiting > 0) return false;
  if (actions.some(({ status }) => status === 'queued' || status === 'running')) return false;
  const unsent = attempts.some(({ gateway, transactionId }) => {
    return gateway !== undefined && gateway.sent === undefined && transactionId !== undefined;
  });
  if (unsent) return false;
  if (phase === 'review' || (phase === 'awaiting-gateway' && decision === 'review')) {
    return serviceDecision === 'review';
  }
  // A declined order closes by itself, and so does a canceled or skipped one.
  return phase === 'decided' || phase === 'awaiting-gateway';
}
