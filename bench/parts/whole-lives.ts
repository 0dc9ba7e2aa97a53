/** Orders from their checkout to their end, and the CPU that each process spends on them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { closedLoop } from '../measure/load.ts';
import { cpuSince, untilQuiet } from '../measure/processes.ts';
import { anOrder } from '../orders.ts';
import type { Deployment } from '../stack/deployment.ts';
import type { Stack } from '../stack/stack.ts';
import { decideByApi } from '../ways/ways.ts';

/** An order lives for seconds, and everything that happens to it happens at a time of its own. */
export const SHORT_LIFE = { cancelWindow: '8s', reviewLeadTime: '2s', recheckLeadTime: '2s' };

const LOOK_EVERY_MS = 200;
const WITHIN_MS = 600_000;

export async function liveWholeLives(
  { sizes, say }: BenchContext,
  stack: Stack,
  api: Deployment,
  workers: number,
): Promise<Figure[]> {
  const { wholeLives: count, callers } = sizes.throughput;
  say(`throughput: ${workers} workers, ${count} whole lives`);
  const processes = {
    server: stack.serverPids,
    worker: api.workers.map(({ pid }) => pid),
    API: api.api === undefined ? [] : [api.api.process.pid],
  };
  await untilQuiet(Object.values(processes).flat());
  const closedBefore = await closedOrders(api);
  const spent = cpuSince(processes);
  const began = performance.now();
  const decide = decideByApi(api, 'short');
  const { done, failures } = await closedLoop({ callers, count }, () => decide(anOrder()));
  if (done < count) throw new Error(`whole lives: ${count - done} without a decision: ${failures[0]}`);
  const deadline = performance.now() + WITHIN_MS;
  while ((await closedOrders(api)) < closedBefore + done) {
    if (performance.now() > deadline) throw new Error('whole lives: the orders do not come to their end');
    await sleep(LOOK_EVERY_MS);
  }
  const tookMs = performance.now() - began;
  const cpu = spent();
  const name = `whole life by the API, encrypted, ${inWords(workers)}`;
  return [
    ...figureOf({
      part: 'throughput',
      name,
      unit: 'orders/s',
      value: (done * 1_000) / tookMs,
      note: `${done} orders, from the first checkout to the last end, the window of ${SHORT_LIFE.cancelWindow} included`,
    }),
    ...[...cpu].flatMap(([process, seconds]) => {
      const value = (seconds / done) * 1_000;
      return figureOf({ part: 'throughput', name: `CPU of ${process}, ${name}`, unit: 's/1,000', value });
    }),
  ];
}

/** @returns how many worker processes, in words */
export function inWords(workers: number): string {
  return workers === 1 ? '1 worker' : `${workers} workers`;
}

/** @returns how many orders of the integration `short` have come to their end */
export async function closedOrders({ client }: Deployment): Promise<number> {
  const query = `ScreeningIntegration = 'short' AND ExecutionStatus = 'Completed'`;
  const { count } = await client.workflow.count(query);
  return count;
}
