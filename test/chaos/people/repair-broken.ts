/** An operator repairs the orders that metadata queries have broken, once the sweep names them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { examine, repairOrder } from '../../../src/cli/repair-order.ts';
import { eventually } from '../../support/index.ts';
import type { Deployment } from '../deployment.ts';
import { type OrderPlan, workflowIdOf } from '../plan/plan.ts';
import { aFewAtATime } from '../verdict/evidence.ts';
import type { Anomaly } from '../verdict/verdict.ts';

/** A task that fails is retried after growing pauses, and the sweep looks once a minute. */
const NAMED_WITHIN_MS = 8 * 60_000;

/** @returns how many orders were repaired, and what went wrong with others */
export async function repairBroken(
  { client, receiver }: Deployment,
  plans: readonly OrderPlan[],
): Promise<{ repaired: number; anomalies: Anomaly[] }> {
  const anomalies: Anomaly[] = [];
  const broken = await aFewAtATime(plans, async (plan) => {
    const workflowId = workflowIdOf(plan);
    if (!(await fails(workflowId))) return false;
    const isNamed = () =>
      receiver.arrivals.some(({ event: { id } }) => id.startsWith(`sweep:${workflowId}:stuck:`));
    const named = await eventually(isNamed, { timeoutMs: NAMED_WITHIN_MS }).catch(() => false);
    const repair = (force: boolean) => repairOrder(client, workflowId, { force, reason: 'chaos' });
    const first = await repair(false);
    const { outcome } =
      first.outcome === 'nothing-good' || first.outcome === 'failing' ? await repair(true) : first;
    if (named && outcome === 'repaired') return true;
    const facts = `named by the sweep: ${named}; repair: ${outcome}`;
    anomalies.push({ kind: 'workflow stuck', orderId: plan.orderId, facts });
    return false;
  });
  return { repaired: broken.filter(Boolean).length, anomalies };

  /** The task of an order that works has been completed a moment later. */
  async function fails(workflowId: string): Promise<boolean> {
    for (let look = 0; look < 3; look += 1) {
      const { condition } = await examine(client, workflowId);
      if (condition.kind !== 'failing') return false;
      await sleep(1_000);
    }
    return true;
  }
}
