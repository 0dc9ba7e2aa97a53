/** Orders from their checkout to their end, and the CPU time that each process spends on them. */
import { eventually } from '../../test/support/eventually.ts';
import { type BenchContext, type Figure, figureOf } from '../figures.ts';
import { closedLoop } from '../measure/load.ts';
import { cpuSeconds, untilQuiet } from '../measure/processes.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { withStack } from '../stack/stack.ts';
import { decideByApi } from '../ways/ways.ts';

/** An order's life takes seconds, and each of its steps has its own time. */
const SHORT_LIFE = { cancelWindow: '8s', reviewLeadTime: '2s', recheckLeadTime: '2s' };
const WITHIN_MS = 600_000;

export function benchWholeLives({ sizes, address, say }: BenchContext): Promise<Figure[]> {
  return withStack(address, async (stack) => {
    const integrations = { default: SHORT_LIFE };
    const options = { namespace: 'bench-lives', integrations, encrypted: true, api: true };
    const deployment = await deploy(stack, options);
    const { wholeLives: count, callers } = sizes.throughput;
    const name = 'whole life by the API, encrypted, 1 worker';
    say(`throughput: ${count} orders, ${name}`);
    const { worker, api } = deployment;
    const processes: Record<string, readonly number[]> = {
      server: stack.serverPids,
      worker: worker === undefined ? [] : [worker.pid],
      API: api === undefined ? [] : [api.process.pid],
    };
    await untilQuiet(Object.values(processes).flat());
    const closedBefore = await closedOrders(deployment);
    const before = Object.entries(processes).map(([process, pids]) => ({
      process,
      pids,
      cpu: cpuSeconds(pids),
    }));
    const began = performance.now();
    const decide = decideByApi(deployment);
    const { done, failures } = await closedLoop({ callers, count }, () => decide(anOrder()));
    if (done < count) throw new Error(`whole lives: ${count - done} without a decision: ${failures[0]}`);
    await eventually(async () => (await closedOrders(deployment)) >= closedBefore + done, {
      timeoutMs: WITHIN_MS,
      intervalMs: 200,
    });
    const tookMs = performance.now() - began;
    const cpu = before.flatMap(({ process, pids, cpu: used = 0 }) => {
      const now = pids.length === 0 ? undefined : cpuSeconds(pids);
      const value = now === undefined ? undefined : ((now - used) / done) * 1_000;
      return figureOf({ part: 'throughput', name: `CPU of ${process}, ${name}`, unit: 's/1,000', value });
    });
    const note = `${done} orders, from the first checkout to the last end, with a window of ${SHORT_LIFE.cancelWindow}`;
    const value = (done * 1_000) / tookMs;
    return [...figureOf({ part: 'throughput', name, unit: 'orders/s', value, note }), ...cpu];
  });
}

async function closedOrders({ client }: Deployment): Promise<number> {
  const { count } = await client.workflow.count(`ExecutionStatus = 'Completed'`);
  return count;
}
