/** Memory of a worker by its open orders, in its cache and beyond it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import type { SpawnedProcess } from '../../test/support/processes/spawn-process.ts';
import { type BenchContext, type Figure, figureOf } from '../figures.ts';
import { startFloor } from '../floor/floor.ts';
import { closedLoop } from '../measure/load.ts';
import { residentMb, untilQuiet } from '../measure/processes.ts';
import { anOrder, type BenchOrder } from '../orders.ts';
import type { Sizes } from '../sizes.ts';
import { deploy } from '../stack/deployment.ts';
import { withStack } from '../stack/stack.ts';
import { CACHED_MEMORY_TARGET } from '../targets.ts';

const CALLERS = 16;
const NODE_ARGS = ['--expose-gc', '--import', './bench/measure/collect-garbage.mjs'];
const COLLECTIONS = 3;
const COLLECTED_WITHIN_MS = 60_000;

/** A worker process, and what opens an order in it. */
interface Opener {
  name: string;
  worker: SpawnedProcess | undefined;
  open: (order: BenchOrder) => Promise<unknown>;
}

/** Megabytes with few open orders, with a full cache, and with more orders than the cache holds. */
type Points = readonly (number | undefined)[];

export async function benchMemory(context: BenchContext): Promise<Figure[]> {
  const theirs = await withStack(context.address, async (stack) => {
    const floor = await startFloor(stack, { namespace: 'bench-floor', nodeArgs: NODE_ARGS });
    const open = (order: BenchOrder) => floor.decide(order, true);
    return measure(context, { name: 'floor', worker: floor.worker, open });
  });
  const ours = await withStack(context.address, async (stack) => {
    const library = await deploy(stack, { namespace: 'bench-library', nodeArgs: NODE_ARGS });
    const open = (order: BenchOrder) => library.orders.screen({ ...order });
    return measure(context, { name: 'order-screening', worker: library.worker, open });
  });
  return figuresOf(ours, theirs, context.sizes.memory);
}

async function measure({ sizes, say }: BenchContext, { name, worker, open }: Opener): Promise<Points> {
  if (worker === undefined) throw new Error(`${name}: no worker was started`);
  const { base, cached, evicted } = sizes.memory;
  let opened = 0;
  const openUpTo = async (count: number): Promise<number | undefined> => {
    say(`memory: ${name}, ${count} open orders`);
    const load = { callers: CALLERS, count: count - opened };
    const { failures } = await closedLoop(load, async () => void (await open(anOrder())));
    if (failures.length > 0) throw new Error(`${name}: ${failures.length} not opened: ${failures[0]}`);
    opened = count;
    await untilQuiet([worker.pid]);
    return residentAfterCollection(worker);
  };
  return [await openUpTo(base), await openUpTo(cached), await openUpTo(evicted)];
}

/**
 * Collects the process's garbage a few times, in the main thread and the workflow thread, then measures.
 * @returns its resident set in megabytes; undefined without `/proc`
 */
async function residentAfterCollection(process: SpawnedProcess): Promise<number | undefined> {
  for (let times = 0; times < COLLECTIONS; times += 1) {
    const from = process.output().length;
    const collected = () =>
      ['main', 'thread'].every((one) => process.output().includes(`collected ${one}\n`, from));
    process.kill('SIGUSR2');
    await eventually(collected, { timeoutMs: COLLECTED_WITHIN_MS });
    // Pages return to the system a moment later.
    await sleep(1_000);
  }
  return residentMb(process.pid);
}

function figuresOf(ours: Points, theirs: Points, { base, cached, evicted }: Sizes['memory']): Figure[] {
  const common = { part: 'memory', unit: 'MB/1,000' } as const;
  const inCache = ([few, full]: Points) => perThousand(few, full, cached - base);
  const beyond = ([, full, most]: Points) => perThousand(full, most, evicted - cached);
  return [
    ...figureOf({
      ...common,
      name: 'resident, cached open orders',
      value: inCache(ours),
      floor: inCache(theirs),
      targets: [CACHED_MEMORY_TARGET],
    }),
    ...figureOf({
      ...common,
      name: 'resident, further open orders, evicted',
      value: beyond(ours),
      floor: beyond(theirs),
    }),
  ];
}

function perThousand(before: number | undefined, after: number | undefined, orders: number) {
  return before === undefined || after === undefined ? undefined : ((after - before) / orders) * 1_000;
}
