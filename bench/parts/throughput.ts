/** Throughput: orders per second to a decision and to the end of their lives, and the CPU time of an order's life. */
import type { BenchContext, Figure } from '../figures.ts';
import { closedLoop } from '../measure/load.ts';
import { untilQuiet } from '../measure/processes.ts';
import { anOrder } from '../orders.ts';
import { withStack } from '../stack/stack.ts';
import { THROUGHPUT_TARGET } from '../targets.ts';
import { Rounds, rotated } from '../ways/rounds.ts';
import { THROUGHPUT_WAYS, type Way, type WayKind } from '../ways/ways.ts';
import { benchWholeLives } from './whole-lives.ts';

export async function benchThroughput(context: BenchContext): Promise<Figure[]> {
  return [...(await toDecision(context)), ...(await benchWholeLives(context))];
}

function toDecision({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  const { callers, forMs, rounds } = sizes.throughput;
  return withStack(address, async (stack) => {
    const ways: [WayKind, Way][] = [];
    for (const kind of THROUGHPUT_WAYS) ways.push([kind, await kind.open(stack)]);
    const perSecond = new Rounds();
    for (let round = 0; round < rounds; round += 1) {
      for (const [kind, way] of rotated(ways, round)) {
        say(`throughput: round ${round + 1} of ${rounds}, ${kind.name}`);
        // Wait until the work of earlier orders is done, so that it counts for its own way.
        await untilQuiet([...way.pids(), ...stack.serverPids]);
        const { done, tookMs, failures } = await closedLoop({ callers, forMs }, () => way.decide(anOrder()));
        if (done === 0) throw new Error(`${kind.name}: no decision: ${failures[0]}`);
        perSecond.add(kind, (done * 1_000) / tookMs, failures);
      }
    }
    return perSecond.figures(({ name }) => ({
      part: 'throughput',
      name: `to a decision, ${name}, 1 worker`,
      unit: 'orders/s',
      targets: [THROUGHPUT_TARGET],
    }));
  });
}
