/**
 * What the Temporal UI does when somebody opens an order: it queries the workflow's metadata. A query to an order that no worker has in
 * memory can break it. Whoever does that is told by the sweep which orders it broke, and repairs them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { examine, repairOrder } from '../../src/cli/repair-order.ts';
import { eventually } from '../support/eventually.ts';
import { atRandom } from './at-random.ts';
import { inBatches } from './evidence.ts';
import { type OrderPlan, workflowIdOf } from './plan.ts';
import type { Receiver } from './receiver.ts';
import type { Anomaly } from './verdict.ts';

/** The SDK's own query, which every workflow answers. */
const METADATA = '__temporal_workflow_metadata';
const AT_A_TIME = 4;
const MOST_PAUSE_MS = 200;
const QUERY_WITHIN_MS = 5_000;
/** A task that fails is tried again after a pause that grows, and the sweep looks once a minute. */
const NAMED_WITHIN_MS = 8 * 60_000;

export interface MetadataQueries {
  /** How many were answered, and how many not. */
  readonly sent: { answered: number; unanswered: number };
  stop(): Promise<void>;
}

export function startMetadataQueries(
  temporal: Client,
  plans: readonly OrderPlan[],
  signal: AbortSignal,
): MetadataQueries {
  const sent = { answered: 0, unanswered: 0 };
  const stop = atRandom(plans, { people: AT_A_TIME, mostPauseMs: MOST_PAUSE_MS, signal }, async (plan) => {
    const handle = temporal.workflow.getHandle(workflowIdOf(plan));
    const answer = await temporal
      .withDeadline(Date.now() + QUERY_WITHIN_MS, () => handle.query<unknown>(METADATA))
      .catch(() => undefined);
    sent[answer === undefined ? 'unanswered' : 'answered'] += 1;
  });
  return { sent, stop };
}

/**
 * Waits until the sweep names each order whose task fails again and again, and repairs it.
 * @returns the orders that were repaired; and what went wrong with others
 */
export async function repairBroken(
  temporal: Client,
  receiver: Receiver,
  plans: readonly OrderPlan[],
): Promise<{ repaired: string[]; anomalies: Anomaly[] }> {
  const repaired: string[] = [];
  const anomalies: Anomaly[] = [];
  await inBatches(plans, async (plan) => {
    const workflowId = workflowIdOf(plan);
    if (!(await fails(temporal, workflowId))) return;
    const isNamed = () =>
      receiver.arrivals.some(({ event: { id } }) => id.startsWith(`sweep:${workflowId}:stuck:`));
    const named = await eventually(isNamed, { timeoutMs: NAMED_WITHIN_MS, intervalMs: 500 }).then(
      () => true,
      () => false,
    );
    const { outcome } = await repairOrder(temporal, workflowId, { force: false, reason: 'chaos' });
    if (named && outcome === 'repaired') repaired.push(plan.orderId);
    else
      anomalies.push({
        kind: 'workflow stuck',
        orderId: plan.orderId,
        facts: `named by the sweep: ${named}; repair: ${outcome}`,
      });
  });
  return { repaired, anomalies };
}

/** The task of an order that goes on has been completed a moment later. */
async function fails(temporal: Client, workflowId: string): Promise<boolean> {
  for (let look = 0; look < 3; look += 1) {
    const { condition } = await examine(temporal, workflowId);
    if (condition.kind !== 'failing') return false;
    await sleep(1_000);
  }
  return true;
}
