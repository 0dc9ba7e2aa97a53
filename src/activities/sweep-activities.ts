/** Looks over the open orders and tells of those that are stuck or overdue. */
import { activityInfo, log, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { orderOfWorkflowId } from '../orders/ids.ts';
import type { OrderEvent } from '../orders/messages.ts';
import { newFindings, STUCK_AFTER_TRIES, type SweepFinding, sweepWords } from '../orders/sweep.ts';
import { instant } from '../orders/words.ts';
import type { ActivityWorld } from './activity-world.ts';
import type { OrderDirectory, Swept } from './order-directory.ts';

/** Orders looked at in one sweep, and how many at a time: a bounded load on the server. */
const LOOKED_AT = 1_000;
const AT_A_TIME = 10;
const SEND_MS = 5_000;
/** A receiver that is down costs each telling its time: what is left over then is told by the next sweep. */
const TELL_ALL_MS = 60_000;

export function sweepActivities(world: ActivityWorld) {
  return {
    /** One sweep; it takes up where the last one ended. */
    async sweep(): Promise<Swept> {
      const { orders } = world;
      if (orders === undefined) throw ApplicationFailure.retryable('no directory of orders', 'no-directory');
      const last = await orders.lastSweep();
      const known = last?.found ?? [];
      const page = await pageFrom(orders, last?.cursor);
      const overdue = await orders.overdue(LOOKED_AT);
      const found: SweepFinding[] = [
        ...(await stuckOf(orders, page.workflowIds)).map((workflowId) => ({
          workflowId,
          kind: 'stuck' as const,
        })),
        ...overdue.map((workflowId) => ({ workflowId, kind: 'overdue' as const })),
      ];
      const standing = await stillStuck(orders, [...known, ...(last?.untold ?? [])], page.workflowIds);
      const all = [...found, ...newFindings(standing, found)];
      await showNumbers(orders, all);
      const untold = await tellAll(world, newFindings(all, known));
      return {
        found: newFindings(all, untold),
        ...(untold.length > 0 && { untold }),
        looked: page.workflowIds.length,
        at: instant(Date.now()),
        ...(page.cursor !== undefined && { cursor: page.cursor }),
      };
    },
  };
}

/** A page token that the server no longer takes begins the round anew. */
async function pageFrom(orders: OrderDirectory, cursor: string | undefined) {
  if (cursor === undefined || activityInfo().attempt > 1) return orders.open(LOOKED_AT);
  return orders.open(LOOKED_AT, cursor);
}

async function stuckOf(orders: OrderDirectory, workflowIds: readonly string[]): Promise<string[]> {
  const stuck: string[] = [];
  for (let from = 0; from < workflowIds.length; from += AT_A_TIME) {
    const some = workflowIds.slice(from, from + AT_A_TIME);
    const tries = await Promise.all(some.map((workflowId) => orders.taskTries(workflowId).catch(() => 0)));
    stuck.push(...some.filter((_, index) => (tries[index] ?? 0) >= STUCK_AFTER_TRIES));
  }
  return stuck;
}

/** What was stuck before and isn't on this page is looked at again, so that the metric falls when it is mended. */
async function stillStuck(
  orders: OrderDirectory,
  known: readonly SweepFinding[],
  onPage: readonly string[],
): Promise<SweepFinding[]> {
  const others = known.filter(({ kind, workflowId }) => kind === 'stuck' && !onPage.includes(workflowId));
  const stuck = await stuckOf(
    orders,
    others.map(({ workflowId }) => workflowId),
  );
  return others.filter(({ workflowId }) => stuck.includes(workflowId));
}

/** The moment says which worker's numbers are the newest: each worker keeps those of its own last sweep. */
async function showNumbers(orders: OrderDirectory, found: readonly SweepFinding[]): Promise<void> {
  const gauge = (name: string, description: string) =>
    metricMeter.createGauge(name, 'int', undefined, description);
  for (const kind of ['stuck', 'overdue'] as const) {
    gauge(`order_screening_${kind}_orders`, `Orders that are ${kind}`).set(
      found.filter((one) => one.kind === kind).length,
    );
  }
  const open = gauge('order_screening_open_orders', 'Open orders, by phase');
  for (const [phase, orderCount] of await orders.countByPhase()) open.set(orderCount, { phase });
  gauge('order_screening_attention_orders', 'Open orders that need a person').set(
    await orders.countAttention(),
  );
  gauge(
    'order_screening_last_sweep_timestamp_seconds',
    'When the sweep ended, in seconds after the epoch',
  ).set(Math.floor(Date.now() / 1_000));
}

/** @returns what the receiver didn't take */
async function tellAll(world: ActivityWorld, findings: readonly SweepFinding[]): Promise<SweepFinding[]> {
  const until = Date.now() + TELL_ALL_MS;
  const untold: SweepFinding[] = [];
  for (const finding of findings) {
    if (Date.now() >= until || !(await isTold(world, finding))) untold.push(finding);
  }
  if (untold.length > 0) log.warn('the receiver of events did not take all that the sweep found');
  return untold;
}

async function isTold(world: ActivityWorld, finding: SweepFinding): Promise<boolean> {
  try {
    await tell(world, finding);
    return true;
  } catch {
    return false;
  }
}

/** The order can't count an event of its own, so this one has sequence 0: it comes from outside the order. */
async function tell(world: ActivityWorld, finding: SweepFinding): Promise<void> {
  if (world.events === undefined) return;
  // One that was started under a foreign id is told of, too: the event's id names it.
  const order = orderOfWorkflowId(finding.workflowId) ?? { integration: '', orderId: '' };
  const event: OrderEvent = {
    id: `sweep:${finding.workflowId}:${finding.kind}`,
    type: 'order.attention',
    ...order,
    sequence: 0,
    occurredAt: instant(Date.now()),
    data: { attention: [sweepWords(finding)] },
  };
  await world.events(event, SEND_MS);
}
