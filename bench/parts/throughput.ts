/** Throughput: orders a second to a decision and to the end of their lives, and what CPU an order costs. */
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { type Floor, startFloor } from '../floor/floor.ts';
import { closedLoop } from '../measure/load.ts';
import { cpuSince, untilQuiet } from '../measure/processes.ts';
import { anOrder, type BenchOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { THROUGHPUT_TARGET } from '../targets.ts';
import { turned } from '../ways/open-ways.ts';
import { decideByApi, decideByLibrary } from '../ways/ways.ts';
import { inWords, liveWholeLives, SHORT_LIFE } from './whole-lives.ts';

/** Whose CPU is told apart. */
const PROCESSES = ['server', 'worker and API'] as const;
type ByProcess = Record<(typeof PROCESSES)[number], readonly number[]>;

/** The same orders by every way, all the workers of each way serving it. */
interface Runners {
  name: string;
  decide: (order: BenchOrder) => Promise<void>;
  pids: () => number[];
}

export async function benchThroughput(context: BenchContext): Promise<Figure[]> {
  const stack = await startStack(context.address);
  try {
    const integrations = { default: {}, short: SHORT_LIFE };
    const { nodeArgs } = context;
    const library = await deploy(stack, { namespace: 'bench-library', integrations, nodeArgs });
    const silent = await deploy(stack, { namespace: 'bench-silent', events: false, nodeArgs });
    const api = await deploy(stack, {
      namespace: 'bench-api',
      integrations,
      encrypted: true,
      api: true,
      nodeArgs,
    });
    const floor = await startFloor(stack, { namespace: 'bench-floor' });
    const all = [library, silent, api, floor];
    try {
      const figures: Figure[] = [];
      for (const workers of context.sizes.throughput.workers) {
        for (const one of all) if (one.workers.length < workers) await one.startWorker();
        figures.push(...(await toDecision(context, stack, { library, silent, api, floor }, workers)));
        figures.push(...(await liveWholeLives(context, stack, api, workers)));
      }
      return figures;
    } finally {
      await Promise.all(all.map((one) => one.stop()));
    }
  } finally {
    await stack.stop();
  }
}

async function toDecision(
  { sizes, say }: BenchContext,
  stack: Stack,
  { library, silent, api, floor }: Record<'library' | 'silent' | 'api', Deployment> & { floor: Floor },
  workers: number,
): Promise<Figure[]> {
  const { callers, forMs, rounds } = sizes.throughput;
  const runners: Runners[] = [
    { name: 'floor', decide: (order) => floor.decide(order), pids: floor.pids },
    { name: 'plain', decide: floor.decidePlainly, pids: floor.pids },
    { name: 'client library', decide: decideByLibrary(library), pids: library.pids },
    { name: 'client library, nobody wants events', decide: decideByLibrary(silent), pids: silent.pids },
    { name: 'HTTP API, encrypted', decide: decideByApi(api), pids: api.pids },
  ];
  const perSecond = new Map<string, number[]>();
  const cpu = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, decide, pids } of turned(runners, round)) {
      say(`throughput: ${workers} workers, round ${round + 1} of ${rounds}, ${name}`);
      const own = pids();
      const used = [...own, ...stack.serverPids];
      await untilQuiet(used);
      const spent = cpuSince({ server: stack.serverPids, 'worker and API': own } satisfies ByProcess);
      const { done, tookMs, failures } = await closedLoop({ callers, forMs }, () => decide(anOrder()));
      if (done === 0) throw new Error(`${name}: no decision: ${failures[0]}`);
      push(perSecond, name, (done * 1_000) / tookMs);
      // What the orders leave to be done belongs to them.
      await untilQuiet(used);
      for (const [process, seconds] of spent()) push(cpu, `${process}, ${name}`, (seconds / done) * 1_000);
    }
  }
  return runners.slice(2).flatMap(({ name }) => [
    ...figureOf({
      part: 'throughput',
      name: `to a decision, ${name}, ${inWords(workers)}`,
      unit: 'orders/s',
      value: perSecond.get(name),
      floor: perSecond.get('floor'),
      plain: perSecond.get('plain'),
      targets: [THROUGHPUT_TARGET],
    }),
    ...PROCESSES.flatMap((process) =>
      figureOf({
        part: 'throughput',
        name: `CPU of ${process}, to a decision and what follows at once, ${name}, ${inWords(workers)}`,
        unit: 's/1,000',
        value: cpu.get(`${process}, ${name}`),
        floor: cpu.get(`${process}, floor`),
        plain: cpu.get(`${process}, plain`),
      }),
    ),
  ]);
}

function push(to: Map<string, number[]>, name: string, value: number): void {
  to.set(name, [...(to.get(name) ?? []), value]);
}
