/** Decision time: what each way adds to the service's own time, at a constant rate of arrivals. */
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { openLoop } from '../measure/load.ts';
import { type Percentiles, percentiles } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { startStack } from '../stack/stack.ts';
import { type OpenWays, openWays, turned } from '../ways/open-ways.ts';
import type { WayKind } from '../ways/way.ts';
import { WAYS } from '../ways/ways.ts';

const WARM_UP_CALLS = 20;
const SHARES = ['p50', 'p90', 'p99'] as const;

/** What a way added in each round, in milliseconds. */
export type Rounds = Map<WayKind, Percentiles[]>;

export async function benchDecision({ sizes, address, nodeArgs, say }: BenchContext): Promise<Figure[]> {
  const { serviceMs, rounds, calls, rate } = sizes.decision;
  const stack = await startStack(address);
  try {
    const ways = await openWays(stack, WAYS, nodeArgs);
    try {
      await warmUp(ways, Math.min(WARM_UP_CALLS, calls));
      const figures: Figure[] = [];
      for (const ms of serviceMs) {
        await stack.sandbox.setServiceTime(ms);
        const measured: Rounds = new Map();
        const failures: string[] = [];
        for (let round = 0; round < rounds; round += 1) {
          say(`decision: the service takes ${ms} ms, round ${round + 1} of ${rounds}`);
          failures.push(...(await oneRound(ways, measured, { rate, count: calls }, round)));
        }
        figures.push(...figuresOf(measured, ms, failures));
      }
      return figures;
    } finally {
      await ways.stop();
    }
  } finally {
    await stack.stop();
  }
}

async function warmUp({ entries }: OpenWays, count: number): Promise<void> {
  for (const [kind, way] of entries) {
    const { failures } = await openLoop({ rate: 10, count }, () => way.decide(anOrder()));
    if (failures.length === count) throw new Error(`${kind.name}: no decision: ${failures[0]}`);
  }
}

/** Measures each way for a while, and takes from each the median of a direct call to the service in this round. */
async function oneRound(
  { entries }: OpenWays,
  measured: Rounds,
  load: { rate: number; count: number },
  round: number,
): Promise<string[]> {
  const failed: string[] = [];
  const found = new Map<WayKind, Percentiles>();
  for (const [kind, way] of turned(entries, round)) {
    const { latencies, failures } = await openLoop(load, () => way.decide(anOrder()));
    found.set(kind, percentiles(latencies));
    failed.push(...failures.map((words) => `${kind.name}: ${words}`));
  }
  const service = [...found].find(([{ role }]) => role === 'service')?.[1].p50 ?? 0;
  for (const [kind, { count, p50, p90, p99, max }] of found) {
    const added = { count, p50: p50 - service, p90: p90 - service, p99: p99 - service, max: max - service };
    measured.set(kind, [...(measured.get(kind) ?? []), added]);
  }
  return failed;
}

/** @returns a figure for each of our ways and percentiles, beside the floor's and the plain way's */
export function figuresOf(measured: Rounds, serviceMs: number, failures: readonly string[]): Figure[] {
  const all = [...measured];
  const roundsOf = (role: WayKind['role'], share: (typeof SHARES)[number]) =>
    all.find(([kind]) => kind.role === role)?.[1].map((round) => round[share]);
  return all
    .filter(([{ role }]) => role === 'ours')
    .flatMap(([kind, rounds]) =>
      SHARES.flatMap((share) =>
        figureOf({
          part: 'decision',
          name: `${kind.name}, service ${serviceMs} ms, ${share}`,
          unit: 'ms added',
          value: rounds.map((round) => round[share]),
          floor: roundsOf('floor', share),
          plain: roundsOf('plain', share),
          targets: kind.targets[share] ?? [],
          note: notes(kind, failures),
          failed: notes(kind, failures) !== undefined,
        }),
      ),
    );
}

function notes({ name }: WayKind, failures: readonly string[]): string | undefined {
  const own = failures.filter((words) => words.startsWith(`${name}:`));
  return own.length === 0 ? undefined : `${own.length} failed: ${own[0]}`;
}
