/** Looks at the orders from outside, and reports those that are stuck, overdue, held by an operator, or ended too early. */
import { setTimeout as pause } from 'node:timers/promises';
import { activityInfo, cancellationSignal, log, metricMeter } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { orderOfWorkflowId } from '../contract/ids.ts';
import { LOST_STATUSES, STUCK_AFTER_TRIES, type SweepFinding, sweepWords } from '../contract/sweep.ts';
import { gaugeOf } from '../orders/metrics.ts';
import { type ActivityWorld, type OrderDirectory, senderOf } from './activity-world.ts';
import { waitLonger } from './tries.ts';

const SWEEP_EVERY_MS = 60_000;
/** Then the workflow continues as new, and is another row in the list of workflows. */
const SWEEP_FOR_MS = 24 * 3_600_000;
/** Orders looked at in one sweep, and how many at a time: a bounded load on the server. */
const LOOKED_AT = 1_000;
const AT_A_TIME = 10;

export function sweepActivities(world: ActivityWorld) {
  return {
    /** Sweeps each minute, for a day; a worker that stops leaves the rest to another one. */
    async sweep(): Promise<void> {
      const { orders } = world;
      if (orders === undefined) throw ApplicationFailure.retryable('no directory of orders', 'no-directory');
      const sweeper = new Sweeper(world, orders);
      const until = activityInfo().currentAttemptScheduledTimestampMs + SWEEP_FOR_MS;
      const { stopping } = world;
      const signal = AbortSignal.any([cancellationSignal(), ...(stopping === undefined ? [] : [stopping])]);
      for (;;) {
        await sweeper.sweep();
        if (Date.now() >= until) return;
        await pause(SWEEP_EVERY_MS, undefined, { signal }).catch(() => undefined);
        cancellationSignal().throwIfAborted();
        if (signal.aborted) throw waitLonger('stopping', 'this worker stops: another one goes on', 1_000);
      }
    },
  };
}

/** What one worker's sweeps know. Nothing of it is kept elsewhere: another worker's first sweep finds what stands. */
export class Sweeper {
  readonly #world: ActivityWorld;
  readonly #orders: OrderDirectory;
  /** Where the next sweep goes on: many open orders are looked over in several. */
  #cursor: string | undefined;
  #standing: SweepFinding[] = [];

  constructor(world: ActivityWorld, orders: OrderDirectory) {
    this.#world = world;
    this.#orders = orders;
  }

  /** One sweep. What keeps it from its end is logged: the next one comes in a minute. */
  async sweep(): Promise<void> {
    try {
      await this.#look();
      await showNumbers(this.#orders, this.#standing);
      for (const finding of this.#standing) await this.#tell(finding);
    } catch (error) {
      log.warn('a sweep was not made', { error: String(error) });
    }
  }

  async #look(): Promise<void> {
    const cursor = this.#cursor;
    // A page token that the server no longer takes begins the round anew.
    this.#cursor = undefined;
    const page = await this.#orders.open(LOOKED_AT, cursor);
    // What was stuck before and isn't on this page is looked at again, so that the metric falls when it is mended.
    const before = this.#standing
      .filter(({ kind }) => kind === 'stuck' || kind === 'held')
      .map(({ workflowId }) => workflowId);
    const stuck = await stuckOf(this.#orders, [...new Set([...page.workflowIds, ...before])]);
    const overdue = await this.#orders.overdue(LOOKED_AT);
    const lost = await this.#orders.lost(LOOKED_AT);
    this.#standing = [
      ...stuck,
      ...overdue.map((one) => ({ ...one, kind: 'overdue' as const })),
      ...lost.map((one) => ({ ...one, kind: 'lost' as const })),
    ];
    this.#cursor = page.cursor;
  }

  /** Tells the receiver of events of an incident, once. The order can't count an event of its own, so this one has sequence 0. */
  async #tell(finding: SweepFinding): Promise<void> {
    // One that was started under a foreign id is told of, too: the event's id names it.
    const order = orderOfWorkflowId(finding.workflowId) ?? { integration: '', orderId: '' };
    if (senderOf(this.#world, order.integration) === undefined) return;
    const { workflowId, kind, since } = finding;
    await this.#orders.announce({
      // One incident: the order may get into the same state again.
      id: `sweep:${workflowId}:${kind}:${since}`,
      type: 'order.attention',
      ...order,
      sequence: 0,
      occurredAt: since,
      data: { attention: [sweepWords(finding)] },
    });
  }
}

async function stuckOf(orders: OrderDirectory, workflowIds: readonly string[]): Promise<SweepFinding[]> {
  const stuck: SweepFinding[] = [];
  for (let from = 0; from < workflowIds.length; from += AT_A_TIME) {
    const some = workflowIds.slice(from, from + AT_A_TIME);
    const tasks = await Promise.all(
      some.map((workflowId) => orders.pendingTask(workflowId).catch(() => undefined)),
    );
    for (const [index, workflowId] of some.entries()) {
      const task = tasks[index];
      if (task !== undefined && task.tries >= STUCK_AFTER_TRIES) {
        stuck.push({ workflowId, kind: 'stuck', since: task.since });
      }
      if (task?.heldSince !== undefined) stuck.push({ workflowId, kind: 'held', since: task.heldSince });
    }
  }
  return stuck;
}

/** The moment says which worker's numbers are the newest: each worker keeps those of its own last sweep. */
async function showNumbers(orders: OrderDirectory, found: readonly SweepFinding[]): Promise<void> {
  for (const kind of ['stuck', 'overdue', 'held'] as const) {
    const count = found.filter((one) => one.kind === kind).length;
    gaugeOf(metricMeter, `order_screening_${kind}_orders`).set(count);
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
