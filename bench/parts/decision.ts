/** Decision time: what each way adds to the screening service's own time, at a constant arrival rate. */
import type { BenchContext, Figure } from '../figures.ts';
import { openLoop } from '../measure/load.ts';
import { type Percentiles, percentiles, SHARES } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { withStack } from '../stack/stack.ts';
import { Rounds, rotated } from '../ways/rounds.ts';
import { WAYS, type Way, type WayKind } from '../ways/ways.ts';

const WARM_UP_CALLS = 20;

export function benchDecision({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const { serviceMs, rounds, calls, rate } = sizes.decision;
  return withStack(address, async (stack) => {
    const ways: [WayKind, Way][] = [];
    for (const kind of WAYS) ways.push([kind, await kind.open(stack)]);
    for (const [kind, way] of ways) await warmUp(kind, way, Math.min(WARM_UP_CALLS, calls));
    const figures: Figure[] = [];
    for (const ms of serviceMs) {
      await stack.sandbox.setServiceTime(ms);
      const added = { p50: new Rounds(), p99: new Rounds() };
      for (let round = 0; round < rounds; round += 1) {
        say(`decision: the screening service takes ${ms} ms, round ${round + 1} of ${rounds}`);
        const found: { kind: WayKind; took: Percentiles; failures: string[] }[] = [];
        for (const [kind, way] of rotated(ways, round)) {
          const { latencies, failures } = await openLoop({ rate, count: calls }, () => way.decide(anOrder()));
          found.push({ kind, took: percentiles(latencies), failures });
        }
        // What each way adds to the median of the direct calls in the same round.
        const service = found.find(({ kind }) => kind.role === 'service')?.took.p50 ?? 0;
        for (const { kind, took, failures } of found)
          for (const share of SHARES) added[share].add(kind, took[share] - service, failures);
      }
      for (const share of SHARES) {
        const figuresOfShare = added[share].figures(({ name, targets }) => ({
          part: 'decision',
          name: `${name}, service ${ms} ms, ${share}`,
          unit: 'ms added',
          targets: targets?.[share] ?? [],
        }));
        figures.push(...figuresOfShare);
      }
    }
    return figures;
  });
}

async function warmUp({ name }: WayKind, way: Way, count: number): Promise<void> {
  const { failures } = await openLoop({ rate: 10, count }, () => way.decide(anOrder()));
  if (failures.length === count) throw new Error(`${name}: no decision: ${failures[0]}`);
}
