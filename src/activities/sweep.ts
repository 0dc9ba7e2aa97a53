/** Looks over the open orders from outside, and tells of those that are stuck or overdue. */
import { activityInfo, log, metricMeter } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { PayloadCodecError } from '../codec/index.ts';
import {
  newFindings,
  OVERDUE_AFTER_MS,
  STUCK_AFTER_TRIES,
  SWEEP_SCHEDULE_ID,
  type SweepFinding,
  sweepWords,
} from '../orders/activity-contract.ts';
import { orderOfWorkflowId } from '../orders/ids.ts';
import { type OrderEvent, SCREEN_ORDER } from '../orders/messages.ts';
import { gaugeOf } from '../orders/metrics.ts';
import { instant, PHASES } from '../orders/words.ts';
import type { ActivityWorld, OrderDirectory, Swept } from './activity-world.ts';

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
  for (const kind of ['stuck', 'overdue'] as const) {
    const count = found.filter((one) => one.kind === kind).length;
    gaugeOf(metricMeter, `order_screening_${kind}_orders`).set(count);
  }
  const open = gaugeOf(metricMeter, 'order_screening_open_orders');
  for (const [phase, orderCount] of await orders.countByPhase()) open.set(orderCount, { phase });
  gaugeOf(metricMeter, 'order_screening_attention_orders').set(await orders.countAttention());
  const ended = gaugeOf(metricMeter, 'order_screening_last_sweep_timestamp_seconds');
  ended.set(Math.floor(Date.now() / 1_000));
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

// The open orders as Temporal knows them from outside.

const OPEN = `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus = 'Running'`;

/** @returns the directory of the client's namespace */
export function createOrderDirectory(client: Client): OrderDirectory {
  const { namespace } = client.options;
  const list = async (query: string, pageSize: number, cursor?: string) => {
    const answer = await client.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize,
      ...(cursor !== undefined && { nextPageToken: Buffer.from(cursor, 'base64') }),
    });
    const workflowIds = (answer.executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
    const next = Buffer.from(answer.nextPageToken ?? []).toString('base64');
    return { workflowIds, ...(next !== '' && { cursor: next }) };
  };
  const count = async (query: string): Promise<number> =>
    Number((await client.workflowService.countWorkflowExecutions({ namespace, query })).count);
  return {
    open: (pageSize, cursor) => list(OPEN, pageSize, cursor),
    overdue: async (limit) => {
      const before = instant(Date.now() - OVERDUE_AFTER_MS);
      const phases = `ScreeningPhase IN ('decided', 'awaiting-gateway', 'declined')`;
      const late = `${OPEN} AND CancelBy < '${before}' AND ScreeningDecision != 'review' AND ${phases}`;
      return (await list(late, limit)).workflowIds;
    },
    countByPhase: async () => {
      const phases = PHASES.filter((phase) => phase !== 'closed');
      const counts = await Promise.all(
        phases.map((phase) => count(`${OPEN} AND ScreeningPhase = '${phase}'`)),
      );
      return new Map(phases.map((phase, index) => [phase, counts[index] ?? 0]));
    },
    countAttention: () => count(`${OPEN} AND NeedsAttention = true`),
    // The schedule knows at once what it began; the list of workflows shows it later than the next sweep may begin.
    lastSweep: async () => {
      const { info } = await client.schedule.getHandle(SWEEP_SCHEDULE_ID).describe();
      for (const { action } of info.recentActions.toReversed()) {
        const { workflowId, firstExecutionRunId } = action.workflow;
        const sweep = client.workflow.getHandle<() => Promise<Swept>>(workflowId, firstExecutionRunId);
        if ((await sweep.describe()).status.name !== 'COMPLETED') continue;
        return sweep.result().catch((error: unknown) => {
          if (error instanceof PayloadCodecError) return undefined;
          throw error;
        });
      }
      return undefined;
    },
    taskTries: async (workflowId) => {
      const { pendingWorkflowTask } = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId },
      });
      return pendingWorkflowTask?.attempt ?? 0;
    },
  };
}
