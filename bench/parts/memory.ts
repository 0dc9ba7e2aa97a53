/** Memory of a worker by its open orders, cached and evicted, and what it costs to have an evicted order back. */

import type { SpawnedProcess } from '../../test/support/spawn-process.ts';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { startFloor } from '../floor/floor.ts';
import { plainDecision } from '../floor/workflows.ts';
import { closedLoop } from '../measure/load.ts';
import { type Held, held, MEMORY_NODE_ARGS } from '../measure/memory.ts';
import { untilQuiet } from '../measure/processes.ts';
import { median } from '../measure/statistics.ts';
import { anOrder, type BenchOrder } from '../orders.ts';
import { deploy } from '../stack/deployment.ts';
import { startStack } from '../stack/stack.ts';
import { CACHED_MEMORY_TARGET } from '../targets.ts';

const CALLERS = 16;

/** One worker process that keeps what it is asked to open. */
interface Opener {
  name: string;
  worker: SpawnedProcess;
  open: (order: BenchOrder) => Promise<unknown>;
  /** Asks the order something that only its workflow can answer. */
  ask: (order: BenchOrder) => Promise<unknown>;
}

interface Found {
  cached: Held;
  evicted: Held;
  askCachedMs: number;
  askEvictedMs: number;
}

export async function benchMemory(context: BenchContext): Promise<Figure[]> {
  const stack = await startStack(context.address);
  try {
    const floor = await startFloor(stack, { namespace: 'bench-floor', nodeArgs: MEMORY_NODE_ARGS });
    const theirs = await measure(context, {
      name: 'floor',
      worker: first(floor.workers),
      open: (order) => floor.decide(order, true),
      ask: ({ orderId }) => floor.client.workflow.getHandle(`floor:${orderId}`).query(plainDecision),
    }).finally(() => floor.stop());
    const library = await deploy(stack, { namespace: 'bench-library', nodeArgs: MEMORY_NODE_ARGS });
    const ours = await measure(context, {
      name: 'order screening',
      worker: first(library.workers),
      open: (order) => library.orders.screen({ ...order }),
      ask: ({ orderId }) => library.orders.get({ orderId }),
    }).finally(() => library.stop());
    return figuresOf(ours, theirs);
  } finally {
    await stack.stop();
  }
}

function first(workers: readonly SpawnedProcess[]): SpawnedProcess {
  const [worker] = workers;
  if (worker === undefined) throw new Error('no worker was started');
  return worker;
}

async function measure({ sizes, say }: BenchContext, opener: Opener): Promise<Found> {
  const { base, cached, evicted, replays } = sizes.memory;
  const { name, worker } = opener;
  const orders: BenchOrder[] = [];
  const openUpTo = async (count: number): Promise<Held> => {
    say(`memory: ${name}, ${count} open orders`);
    const more = Array.from({ length: count - orders.length }, () => anOrder());
    const { failures } = await closedLoop({ callers: CALLERS, count: more.length }, async (index) => {
      const order = more[index];
      if (order !== undefined) await opener.open(order);
    });
    if (failures.length > 0) throw new Error(`${name}: ${failures.length} not opened: ${failures[0]}`);
    orders.push(...more);
    await untilQuiet([worker.pid]);
    return held(worker);
  };
  const small = await openUpTo(base);
  const full = await openUpTo(cached);
  const askCachedMs = await askEach(opener, orders.slice(-replays));
  // Where the cache is full and no more than full.
  const beyond = await openUpTo(evicted);
  const askEvictedMs = await askEach(opener, orders.slice(0, replays));
  return {
    cached: perThousand(small, full, cached - base),
    evicted: perThousand(full, beyond, evicted - cached),
    askCachedMs,
    askEvictedMs,
  };
}

/** One after another. @returns the median, in milliseconds */
async function askEach({ ask }: Opener, orders: readonly BenchOrder[]): Promise<number> {
  const took: number[] = [];
  for (const order of orders) {
    const began = performance.now();
    await ask(order);
    took.push(performance.now() - began);
  }
  return median(took);
}

function perThousand(before: Held, after: Held, orders: number): Held {
  const growth = (from: number, to: number) => ((to - from) / orders) * 1_000;
  return {
    heapMb: growth(before.heapMb, after.heapMb),
    ...(before.residentMb !== undefined &&
      after.residentMb !== undefined && { residentMb: growth(before.residentMb, after.residentMb) }),
  };
}

function figuresOf(ours: Found, theirs: Found): Figure[] {
  const unit = 'MB/1,000';
  const part = 'memory';
  return [
    ...figureOf({
      part,
      name: 'resident, cached open orders',
      unit,
      value: ours.cached.residentMb,
      floor: theirs.cached.residentMb,
      targets: [CACHED_MEMORY_TARGET],
    }),
    ...figureOf({
      part,
      name: 'JavaScript heap, cached open orders',
      unit,
      value: ours.cached.heapMb,
      floor: theirs.cached.heapMb,
    }),
    ...figureOf({
      part,
      name: 'resident, further open orders, evicted',
      unit,
      value: ours.evicted.residentMb,
      floor: theirs.evicted.residentMb,
    }),
    ...figureOf({
      part,
      name: 'a query to a cached order',
      unit: 'ms',
      value: ours.askCachedMs,
      floor: theirs.askCachedMs,
    }),
    ...figureOf({
      part,
      name: 'a query to an evicted order, replay included',
      unit: 'ms',
      value: ours.askEvictedMs,
      floor: theirs.askEvictedMs,
    }),
  ];
}
