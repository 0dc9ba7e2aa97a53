/** Decision time: what each way adds to the screening service's own time, at a constant arrival rate. */
import type { BenchContext } from '../context.ts';
import type { Figure } from '../figures.ts';
import { type OpenLoad, openLoop } from '../measure/load.ts';
import { type Percentiles, percentiles, SHARES, type Share } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { withStack } from '../stack/stack.ts';
import { Rounds, rotated } from '../ways/rounds.ts';
import type { Way, WayKind } from '../ways/way.ts';
import { WAYS } from '../ways/ways.ts';

const WARM_UP_CALLS = 20;

export function benchDecision({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const { serviceMs, rounds, calls, rate } = sizes.decision;
  return withStack(address, async (stack) => {
    const ways: [WayKind, Way][] = [];
    for (const kind of WAYS) ways.push([kind, await kind.open(stack)]);
    await warmUp(ways, Math.min(WARM_UP_CALLS, calls));
    const figures: Figure[] = [];
    for (const ms of serviceMs) {
      await stack.sandbox.setServiceTime(ms);
      const added = new AddedTimes(ms);
      for (let round = 0; round < rounds; round += 1) {
        say(`decision: the screening service takes ${ms} ms, round ${round + 1} of ${rounds}`);
        await measureRound(rotated(ways, round), { rate, count: calls }, added);
      }
      figures.push(...added.figures());
    }
    return figures;
  });
}

async function warmUp(ways: readonly [WayKind, Way][], count: number): Promise<void> {
  for (const [kind, way] of ways) {
    const { failures } = await openLoop({ rate: 10, count }, () => way.decide(anOrder()));
    if (failures.length === count) throw new Error(`${kind.name}: no decision: ${failures[0]}`);
  }
}

async function measureRound(
  ways: readonly [WayKind, Way][],
  load: OpenLoad,
  added: AddedTimes,
): Promise<void> {
  const found = new Map<WayKind, Percentiles>();
  for (const [kind, way] of ways) {
    const { latencies, failures } = await openLoop(load, () => way.decide(anOrder()));
    found.set(kind, percentiles(latencies));
    added.addFailures(kind, failures);
  }
  added.addRound(found);
}

/** What each way adds to the screening service's own time of this many milliseconds. */
export class AddedTimes {
  readonly #serviceMs: number;
  readonly #rounds: Record<Share, Rounds> = { p50: new Rounds(), p90: new Rounds(), p99: new Rounds() };
  readonly #failures = new Map<WayKind, string[]>();

  constructor(serviceMs: number) {
    this.#serviceMs = serviceMs;
  }

  /** Subtracts the median of the round's direct calls from each way's percentiles. */
  addRound(found: ReadonlyMap<WayKind, Percentiles>): void {
    const service = [...found].find(([{ role }]) => role === 'service')?.[1].p50 ?? 0;
    for (const share of SHARES) {
      for (const [kind, measured] of found) this.#rounds[share].add(kind, measured[share] - service);
    }
  }

  addFailures(kind: WayKind, failures: readonly string[]): void {
    this.#failures.set(kind, [...(this.#failures.get(kind) ?? []), ...failures]);
  }

  figures(): Figure[] {
    return SHARES.flatMap((share) =>
      this.#rounds[share].figures((kind) => {
        const failures = this.#failures.get(kind) ?? [];
        return {
          part: 'decision',
          name: `${kind.name}, service ${this.#serviceMs} ms, ${share}`,
          unit: 'ms added',
          targets: kind.targets?.[share] ?? [],
          failed: failures.length > 0,
          ...(failures.length > 0 && { note: `${failures.length} failed: ${failures[0]}` }),
        };
      }),
    );
  }
}
