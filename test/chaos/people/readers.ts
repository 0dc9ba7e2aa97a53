/** People who look at orders at random moments, also around kills: with GET, or as the Temporal UI does. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { type OrderPlan, workflowIdOf } from '../plan/plan.ts';

const PEOPLE = 3;
const MAX_PAUSE_MS = 600;
const READ_WITHIN_MS = 15_000;
const QUERY_WITHIN_MS = 5_000;
/** 404: the order doesn't exist yet. 503: Temporal is away. */
const EXPECTED = [200, 404, 503];
/** The SDK's own query, which every workflow answers. */
const METADATA = '__temporal_workflow_metadata';

/** Answers by status; 0 without one. */
export type Statuses = Map<number, number>;

/** Reads orders and lists until `signal` aborts. @returns how often each status came, and answers that no reader should get */
export async function readOrders(
  apiUrl: string,
  plans: readonly OrderPlan[],
  signal: AbortSignal,
): Promise<{ statuses: Statuses; strange: { orderId: string; facts: string }[] }> {
  const statuses: Statuses = new Map();
  const strange: { orderId: string; facts: string }[] = [];
  await atRandom(plans, signal, async ({ orderId, integration }) => {
    const order = `/v1/orders/${orderId}?integration=${integration}`;
    const paths = [order, `${order}&view=full`, `/v1/orders?integration=${integration}&limit=20`];
    const path = paths[randomInt(paths.length)];
    const { status, text } = await fetch(`${apiUrl}${path}`, { signal: AbortSignal.timeout(READ_WITHIN_MS) })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 0, text: '' }));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 0 && !EXPECTED.includes(status))
      strange.push({ orderId, facts: `GET ${path}: ${status} ${text}` });
  });
  return { statuses, strange };
}

/**
 * Queries the metadata of orders until `signal` aborts, as the Temporal UI does for an order that somebody opens. A query to an order that
 * no worker has in memory can break it.
 * @returns how many queries were answered
 */
export async function queryOrders(
  client: Client,
  plans: readonly OrderPlan[],
  signal: AbortSignal,
): Promise<number> {
  let answered = 0;
  await atRandom(plans, signal, async (plan) => {
    const handle = client.workflow.getHandle(workflowIdOf(plan));
    const query = () => handle.query<unknown>(METADATA);
    const answer = await client.withDeadline(Date.now() + QUERY_WITHIN_MS, query).catch(() => undefined);
    if (answer !== undefined) answered += 1;
  });
  return answered;
}

/** Several people act on orders at random, each one after the other. */
async function atRandom(
  plans: readonly OrderPlan[],
  signal: AbortSignal,
  act: (plan: OrderPlan) => Promise<void>,
): Promise<void> {
  const person = async (): Promise<void> => {
    while (!signal.aborted) {
      const plan = plans[randomInt(plans.length)];
      if (plan !== undefined) await act(plan);
      await sleep(randomInt(MAX_PAUSE_MS), undefined, { signal }).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PEOPLE }, person));
}
