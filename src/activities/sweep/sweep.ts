/** Checks orders through the Temporal API and reports which are stuck, overdue, held, or ended too early. */
import timers from 'node:timers/promises';
import { activityInfo, cancellationSignal, log, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { inBatches } from '../../client/lists/in-batches.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import type { OrderEvent } from '../../contract/messages.ts';
import {
  HELD_REASONS,
  HELD_TOGETHER,
  LOST_STATUSES,
  STUCK_AFTER_TRIES,
  type SweepFinding,
  sweepWords,
} from '../../contract/sweep.ts';
import { gaugeOf } from '../../order/view/metrics.ts';
import { type ActivityWorld, senderOf } from '../activity-world.ts';
import { tryAgain, waitLonger } from '../tries.ts';
import type { OrderDirectory } from './order-directory.ts';

const SWEEP_EVERY_MS = 60_000;
/** Time without a complete sweep after which the activity fails. */
const FAILING_AFTER_MS = 3 * SWEEP_EVERY_MS;
/** Then the workflow continues as new, which adds a row to the list of workflows. */
const SWEEP_FOR_MS = 24 * 3_600_000;
/** Limits the load on the server: orders checked per sweep. */
const MAX_CHECKED = 1_000;

/**
 * Returns the activity that sweeps every minute for a day. If this worker shuts down, it is retried on another worker. It fails if its
 * first sweep fails, or all do for minutes, so that Temporal shows it.
 */
export function sweepActivity(world: ActivityWorld) {
  const memory: Memory = { standing: [] };
  return async (): Promise<void> => {
    const { orders, stopping, machine } = world;
    if (orders === undefined) throw ApplicationFailure.retryable('no directory of orders', 'no-directory');
    const sweepOnce = sweeper(world, orders, memory);
    const until = activityInfo().currentAttemptScheduledTimestampMs + SWEEP_FOR_MS;
    const signal = AbortSignal.any([cancellationSignal(), ...(stopping === undefined ? [] : [stopping])]);
    let sweptAt = Number.NEGATIVE_INFINITY;
    for (;;) {
      try {
        await sweepOnce();
        sweptAt = machine.elapsed();
      } catch (error) {
        log.warn('the sweep failed', { error });
        const words = 'the sweep fails: the worker’s log says why';
        if (machine.elapsed() - sweptAt >= FAILING_AFTER_MS)
          throw tryAgain('sweep-failed', words, SWEEP_EVERY_MS);
      }
      if (Date.now() >= until) return;
      await timers.setTimeout(SWEEP_EVERY_MS, undefined, { signal }).catch(() => undefined);
      cancellationSignal().throwIfAborted();
      const words = 'this worker is shutting down; another worker continues the sweep';
      if (signal.aborted) throw waitLonger('stopping', words, 1_000);
    }
  };
}

/** What the sweeps of a process have found. Another worker's first sweep finds all current problems of its page again. */
interface Memory {
  standing: SweepFinding[];
}

/** Returns a function that runs one sweep. */
export function sweeper(
  world: ActivityWorld,
  orders: OrderDirectory,
  memory: Memory = { standing: [] },
): () => Promise<void> {
  /** Page token for the next sweep: a large number of open orders takes several sweeps. */
  let next: Uint8Array | undefined;

  const look = async (): Promise<void> => {
    const from = next;
    // If the server no longer accepts the page token, the next sweep starts again from the first page.
    next = undefined;
    const page = await orders.open(MAX_CHECKED, from);
    // If something else fails, the next sweep looks at this page again.
    next = from;
    // Orders that were stuck or held before are checked again even if not on this page, so that the metric falls once they recover.
    // Those with one cause, which may be thousands, as far as there is room.
    const before = memory.standing
      .filter(isOfTask)
      .sort((one, other) => Number(isHeldTogether(one)) - Number(isHeldTogether(other)))
      .map(({ workflowId }) => workflowId)
      .slice(0, MAX_CHECKED);
    const stuck = await stuckOf(orders, [...new Set([...page.workflowIds, ...before])], memory.standing);
    const overdue = await orders.overdue(MAX_CHECKED);
    const lost = await orders.lost(MAX_CHECKED);
    memory.standing = [
      ...stuck,
      ...overdue.map((one) => ({ ...one, kind: 'overdue' as const })),
      ...lost.map((one) => ({ ...one, kind: 'lost' as const })),
    ];
    next = page.next;
  };

  return async () => {
    await look();
    await showNumbers(orders, memory.standing);
    await inBatches(memory.standing, (finding) => announce(world, orders, finding));
  };
}

/**
 * Sends the events receiver one event per incident, with sequence 0 because the order itself doesn't number it. Orders that are held by
 * one cause may be thousands: they are only counted.
 */
async function announce(world: ActivityWorld, orders: OrderDirectory, finding: SweepFinding): Promise<void> {
  if (isHeldTogether(finding)) return;
  // A workflow with a foreign id is reported too: the event's id contains the workflow id.
  const order = orderOfWorkflowId(finding.workflowId) ?? { integration: '', orderId: '' };
  if (senderOf(world, order.integration) === undefined) return;
  const { workflowId, kind, since } = finding;
  const event: OrderEvent = {
    // `since` identifies the incident: the order may get into the same state again later.
    id: `sweep:${workflowId}:${kind}:${since}`,
    type: 'order.attention',
    ...order,
    sequence: 0,
    occurredAt: since,
    data: { attention: [sweepWords(finding)] },
  };
  // One that fails, such as one with an id that is too long for Temporal, must not stop the others.
  await orders.announce(event).catch((error: unknown) => {
    log.warn('an event of the sweep could not be announced', { error });
  });
}

function isOfTask({ kind }: SweepFinding): boolean {
  return kind === 'stuck' || kind === 'held';
}

function isHeldTogether({ reason }: SweepFinding): boolean {
  return reason !== undefined && HELD_TOGETHER.includes(reason);
}

/** @param standing earlier findings, kept for an order that can't be read now */
async function stuckOf(
  orders: OrderDirectory,
  workflowIds: readonly string[],
  standing: readonly SweepFinding[],
): Promise<SweepFinding[]> {
  const found = await inBatches(workflowIds, async (workflowId): Promise<SweepFinding[]> => {
    try {
      const { tries = 0, since = '', held } = (await orders.pendingTask(workflowId)) ?? {};
      return [
        ...(tries >= STUCK_AFTER_TRIES ? [{ workflowId, kind: 'stuck' as const, since }] : []),
        ...(held !== undefined ? [{ workflowId, kind: 'held' as const, ...held }] : []),
      ];
    } catch {
      return standing.filter((one) => one.workflowId === workflowId && isOfTask(one));
    }
  });
  return found.flat();
}

/** Updates the gauges. Each worker keeps those of its own last sweep; the timestamp gauge shows which worker's are the newest. */
async function showNumbers(orders: OrderDirectory, found: readonly SweepFinding[]): Promise<void> {
  for (const kind of ['stuck', 'overdue'] as const) {
    const count = found.filter((one) => one.kind === kind).length;
    gaugeOf(metricMeter, `order_screening_${kind}_orders`).set(count);
  }
  const held = gaugeOf(metricMeter, 'order_screening_held_orders');
  for (const reason of HELD_REASONS) {
    held.set(found.filter((one) => one.reason === reason).length, { reason });
  }
  const lost = gaugeOf(metricMeter, 'order_screening_lost_orders');
  for (const status of LOST_STATUSES) {
    lost.set(found.filter((one) => one.kind === 'lost' && one.status === status).length, { status });
  }
  const open = gaugeOf(metricMeter, 'order_screening_open_orders');
  for (const [phase, orderCount] of await orders.countByPhase()) open.set(orderCount, { phase });
  gaugeOf(metricMeter, 'order_screening_attention_orders').set(await orders.countAttention());
  const ended = gaugeOf(metricMeter, 'order_screening_last_sweep_timestamp_seconds');
  ended.set(Math.floor(Date.now() / 1_000));
}
