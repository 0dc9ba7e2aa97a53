/** Cluster: the same orders on Temporal's server with PostgreSQL, with its settings as deployed and as they come. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTemporalCluster, type TemporalCluster } from '../../test/production/temporal-cluster.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { BenchContext } from '../context.ts';
import { type Figure, figureOf } from '../figures.ts';
import { openLoop } from '../measure/load.ts';
import { cpuSeconds, familyCpuSeconds, untilQuiet } from '../measure/processes.ts';
import { percentile } from '../measure/statistics.ts';
import { anOrder } from '../orders.ts';
import { type Deployment, deploy } from '../stack/deployment.ts';
import { startStack } from '../stack/stack.ts';
import { decideByApi } from '../ways/ways.ts';
import { closedOrders, SHORT_LIFE } from './whole-lives.ts';

const DEPLOYED = new URL('../../deploy/temporal/dynamic-config.yaml', import.meta.url);
const WARM_UP = 20;
const AT_REST_MS = 10_000;
const WITHIN_MS = 300_000;

/** Each leaves a setting of `deploy/temporal/dynamic-config.yaml` out; the first leaves none. */
const SETTINGS = [
  { name: 'as deployed', without: undefined },
  { name: 'without transferProcessorMaxPollRPS', without: /^history\.transfer/ },
  { name: 'with four partitions', without: /^matching\.num/ },
] as const;

/** What was used up to a moment: seconds of CPU, and commits of the database. */
type Used = Record<'worker' | 'API' | 'server' | 'PostgreSQL' | 'commits', number>;

export async function benchCluster(context: BenchContext): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-bench-cluster-'));
  try {
    const figures: Figure[] = [];
    for (const { name, without } of SETTINGS) {
      context.say(`cluster: ${name}`);
      const file = join(folder, 'dynamic-config.yaml');
      await writeFile(file, leaveOut(await readFile(DEPLOYED, 'utf8'), without));
      const cluster = await startTemporalCluster(file);
      try {
        figures.push(...(await measure(context, cluster, name)));
      } finally {
        await cluster.stop();
      }
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the file without the settings whose names match, each of which is a line and those below it that are set in */
function leaveOut(yaml: string, names: RegExp | undefined): string {
  if (names === undefined) return yaml;
  const entries = yaml.split(/^(?=\S)/m);
  const kept = entries.filter((entry) => !names.test(entry));
  if (kept.length === entries.length) throw new Error(`no setting of the cluster matches ${names}`);
  return kept.join('');
}

async function measure(
  { sizes, nodeArgs, say }: BenchContext,
  cluster: TemporalCluster,
  setting: string,
): Promise<Figure[]> {
  const { rate, count, workers } = sizes.cluster;
  const stack = await startStack(cluster.address);
  try {
    const all = await deploy(stack, {
      namespace: 'bench-cluster',
      integrations: { default: {}, short: SHORT_LIFE },
      encrypted: true,
      api: true,
      workers,
      nodeArgs,
    });
    try {
      const decide = decideByApi(all, 'short');
      await openLoop({ rate, count: WARM_UP }, () => decide(anOrder()));
      await untilEnded(all, WARM_UP);
      await untilQuiet(all.pids());
      const resting = await usedBy(cluster, all);
      await sleep(AT_REST_MS);
      const before = await usedBy(cluster, all);
      const began = performance.now();
      say(`cluster: ${count} orders, ${rate} a second`);
      const { latencies, failures } = await openLoop({ rate, count }, () => decide(anOrder()));
      if (failures.length > 0) throw new Error(`cluster: ${failures.length} failed: ${failures[0]}`);
      await untilEnded(all, WARM_UP + count);
      const tookMs = performance.now() - began;
      const after = await usedBy(cluster, all);
      const perOrder = (what: keyof Used) =>
        (after[what] - before[what] - ((before[what] - resting[what]) * tookMs) / AT_REST_MS) / count;
      return figuresOf(setting, `${rate} orders a second, ${workers} workers`, latencies, perOrder);
    } finally {
      await all.stop();
    }
  } finally {
    await stack.stop();
  }
}

async function untilEnded(all: Deployment, count: number): Promise<void> {
  await eventually(async () => (await closedOrders(all)) >= count, { timeoutMs: WITHIN_MS, intervalMs: 200 });
}

async function usedBy({ serverPid, postgres }: TemporalCluster, all: Deployment): Promise<Used> {
  const databases = `datname IN ('temporal', 'temporal_visibility')`;
  const commits = await postgres.ask(
    'temporal',
    `SELECT sum(xact_commit) FROM pg_stat_database WHERE ${databases}`,
  );
  return {
    worker: cpuSeconds(all.workers.map(({ pid }) => pid)) ?? 0,
    API: cpuSeconds(all.api === undefined ? [] : [all.api.process.pid]) ?? 0,
    server: cpuSeconds([serverPid]) ?? 0,
    PostgreSQL: familyCpuSeconds(postgres.pid) ?? 0,
    commits: Number(commits),
  };
}

function figuresOf(
  setting: string,
  load: string,
  latencies: readonly number[],
  perOrder: (what: keyof Used) => number,
): Figure[] {
  const part = 'cluster';
  return [
    ...[0.5, 0.99].flatMap((share) =>
      figureOf({
        part,
        name: `${setting}: checkout p${share * 100}`,
        unit: 'ms',
        value: percentile(latencies, share),
        note: load,
      }),
    ),
    ...(['worker', 'API', 'server', 'PostgreSQL'] as const).flatMap((process) =>
      figureOf({
        part,
        name: `${setting}: CPU of ${process}, whole life`,
        unit: 's/1,000',
        value: perOrder(process) * 1_000,
      }),
    ),
    ...figureOf({
      part,
      name: `${setting}: commits of the database, whole life`,
      unit: 'an order',
      value: perOrder('commits'),
    }),
  ];
}
