/** Replays every order's history with the workflow code of today: one that doesn't replay is an order that will stop. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { OrderPlan } from './plan.ts';

/** A history that the code could not have made. */
export interface Unreplayable {
  error: string;
  history: unknown;
}

/** @returns each history that does not replay, by order */
export async function replayAll(
  client: Client,
  plans: readonly OrderPlan[],
): Promise<Map<string, Unreplayable>> {
  const workflowBundle = await bundleWorkflowCode({
    logger: new DefaultLogger('ERROR'),
    workflowsPath: fileURLToPath(import.meta.resolve('../../src/workflows/index.ts')),
  });
  const orderIds = new Map(plans.map((plan) => [`order:${plan.integration}:${plan.orderId}`, plan.orderId]));
  const found = new Map<string, Unreplayable>();
  const histories = historiesOf(client, [...orderIds.keys()]);
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    if (error === undefined) continue;
    const history = await client.workflow.getHandle(workflowId).fetchHistory();
    found.set(orderIds.get(workflowId) ?? workflowId, { error: error.message.slice(0, 300), history });
  }
  return found;
}

async function* historiesOf(client: Client, workflowIds: readonly string[]) {
  for (const workflowId of workflowIds) {
    try {
      yield { workflowId, history: await client.workflow.getHandle(workflowId).fetchHistory() };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
    }
  }
}
