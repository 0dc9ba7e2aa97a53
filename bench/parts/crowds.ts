/** Crowds: what checkouts notice of thousands of orders whose reviews are being polled. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { closedLoop, openLoop } from '../measure/load.ts';
import { cpuSeconds } from '../measure/processes.ts';
import { percentile } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { CROWD_TARGET } from '../targets.ts';
import { turned } from '../ways/open-ways.ts';
import { decideByApi } from '../ways/ways.ts';

const FILLERS = 48;
const CALM_MS = 3_000;

/** A deployment on a server of its own, which stands still while the other one is measured. */
interface Side {
  name: 'crowd' | 'none';
  stack: Stack;
  all: Deployment;
  latencies: number[][];
}

export async function benchCrowds({ sizes, nodeArgs, say }: BenchContext): Promise<Figure[]> {
  const { reviews, rate, calls, rounds, warmUp } = sizes.crowds;
  const sides: Side[] = [];
  // What stands still would outlive this process.
  const thawAll = () => sides.forEach(thaw);
  process.once('exit', thawAll);
  try {
    for (const name of ['none', 'crowd'] as const) sides.push(await open(name, nodeArgs));
    for (const side of sides) {
      if (side.name === 'crowd') await fill(side, reviews, say);
      freeze(side);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const side of turned(sides, round)) {
        say(`crowds: round ${round + 1} of ${rounds}, ${side.name}`);
        thaw(side);
        await sleep(CALM_MS);
        await checkouts(side, rate, warmUp);
        side.latencies.push(await checkouts(side, rate, calls));
        freeze(side);
      }
    }
    return figuresOf(sides, reviews);
  } finally {
    thawAll();
    process.removeListener('exit', thawAll);
    for (const { stack, all } of sides) {
      await all.stop();
      await stack.stop();
    }
  }
}

/** The policy's own poll pauses and the default limit of polls, as in production. */
async function open(name: Side['name'], nodeArgs: string[]): Promise<Side> {
  const stack = await startStack();
  try {
    const options = { namespace: 'bench-crowds', encrypted: true, api: true, nodeArgs };
    return { name, stack, all: await deploy(stack, options), latencies: [] };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/** Brings so many orders into review and waits until everything that their checkouts left is done. */
async function fill({ stack, all }: Side, reviews: number, say: (words: string) => void): Promise<void> {
  say(`crowds: ${reviews} orders into review`);
  const { failures } = await closedLoop({ callers: FILLERS, count: reviews }, async () => {
    const { decision } = await all.orders.screen({ ...anOrder('review') });
    if (decision !== 'review') throw new Error(`the decision was ${decision}`);
  });
  if (failures.length > 0) say(`crowds: ${failures.length} orders are not in review: ${failures[0]}`);
  say('crowds: the crowd is polled from now on');
  await untilSteady(pidsOf({ stack, all }));
}

/** The polls never end: the processes are at rest once they use no less CPU than the moment before. */
async function untilSteady(pids: readonly number[]): Promise<void> {
  const use = async () => {
    const before = cpuSeconds(pids) ?? 0;
    await sleep(CALM_MS);
    return (cpuSeconds(pids) ?? 0) - before;
  };
  let before = await use();
  for (;;) {
    const now = await use();
    if (now >= before * 0.9) return;
    before = now;
  }
}

async function checkouts({ name, all }: Side, rate: number, count: number): Promise<number[]> {
  const decide = decideByApi(all);
  const { latencies, failures } = await openLoop({ rate, count }, () => decide(anOrder()));
  if (failures.length > 0) throw new Error(`crowds: ${name}: ${failures.length} failed: ${failures[0]}`);
  return latencies;
}

function pidsOf({ stack, all }: Pick<Side, 'stack' | 'all'>): number[] {
  return [...all.pids(), ...stack.serverPids];
}

function freeze({ stack, all }: Side): void {
  for (const pid of all.pids()) process.kill(pid, 'SIGSTOP');
  stack.signal('SIGSTOP');
}

function thaw({ stack, all }: Side): void {
  stack.signal('SIGCONT');
  for (const pid of all.pids()) process.kill(pid, 'SIGCONT');
}

function figuresOf(sides: readonly Side[], reviews: number): Figure[] {
  const rounds = (name: Side['name'], share: number) =>
    sides.find((side) => side.name === name)?.latencies.map((one) => percentile(one, share));
  const pooled = (name: Side['name']) => sides.find((side) => side.name === name)?.latencies.flat() ?? [];
  const note = `${pooled('crowd').length} checkouts a side; the floor is the same without the crowd`;
  const common = { part: 'crowds', unit: 'ms' } as const;
  return [
    ...[0.5, 0.9].flatMap((share) =>
      figureOf({
        ...common,
        name: `checkout p${share * 100} with ${reviews} polled reviews`,
        value: rounds('crowd', share),
        floor: rounds('none', share),
      }),
    ),
    ...figureOf({
      ...common,
      name: `checkout p99 with ${reviews} polled reviews`,
      value: rounds('crowd', 0.99),
      floor: rounds('none', 0.99),
      targets: [CROWD_TARGET],
      note,
    }),
    ...figureOf({
      ...common,
      name: `checkout p99 with ${reviews} polled reviews, all rounds together`,
      value: percentile(pooled('crowd'), 0.99),
      floor: percentile(pooled('none'), 0.99),
    }),
  ];
}
