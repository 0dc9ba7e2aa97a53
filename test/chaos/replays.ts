import type { Client } from '@temporalio/client';
import { faultsOfReplays, historiesOf } from '../support/replays.ts';
import type { OrderPlan } from './plan.ts';

const KEPT = 20;

/** @returns what Temporal says of each history that does not replay, by order */
export async function replayAll(client: Client, plans: readonly OrderPlan[]): Promise<Map<string, string>> {
  const orderIds = new Map(plans.map((plan) => [workflowIdOf(plan), plan.orderId]));
  const faults = await faultsOfReplays(client, [...orderIds.keys()]);
  return new Map([...faults].map(([workflowId, fault]) => [orderIds.get(workflowId) ?? workflowId, fault]));
}

/** @returns the histories of the first of these orders, for whoever looks for the cause of an anomaly */
export async function firstHistories(
  client: Client,
  plans: readonly OrderPlan[],
): Promise<{ workflowId: string; history: unknown }[]> {
  const found: { workflowId: string; history: unknown }[] = [];
  const workflowIds = plans.slice(0, KEPT).map(workflowIdOf);
  for await (const one of historiesOf(client, workflowIds)) found.push(one);
  return found;
}

function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return `order:${integration}:${orderId}`;
}
