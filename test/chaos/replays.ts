/** Replays every order's history with the workflow code of today: one that doesn't replay is an order that will stop. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { OrderPlan } from './plan.ts';

const KEPT = 20;

/** @returns what Temporal says of each history that does not replay, by order */
export async function replayAll(client: Client, plans: readonly OrderPlan[]): Promise<Map<string, string>> {
  const workflowBundle = await bundleWorkflowCode({
    logger: new DefaultLogger('ERROR'),
    workflowsPath: fileURLToPath(import.meta.resolve('../../src/workflows/index.ts')),
  });
  const orderIds = new Map(plans.map((plan) => [workflowIdOf(plan), plan.orderId]));
  const faults = new Map<string, string>();
  const histories = fetched(client, [...orderIds.keys()]);
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    if (error !== undefined) faults.set(orderIds.get(workflowId) ?? workflowId, error.message.slice(0, 300));
  }
  return faults;
}

/** @returns the histories of the first of these orders, for whoever looks for the cause of an anomaly */
export async function historiesOf(
  client: Client,
  plans: readonly OrderPlan[],
): Promise<{ workflowId: string; history: unknown }[]> {
  const found: { workflowId: string; history: unknown }[] = [];
  for await (const one of fetched(client, plans.slice(0, KEPT).map(workflowIdOf))) found.push(one);
  return found;
}

function workflowIdOf({ integration, orderId }: OrderPlan): string {
  return `order:${integration}:${orderId}`;
}

async function* fetched(client: Client, workflowIds: readonly string[]) {
  for (const workflowId of workflowIds) {
    try {
      yield { workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
    }
  }
}
