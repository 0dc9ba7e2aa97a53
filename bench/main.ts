/** `npm run bench`: how fast, how small, against the floor and the plain way. */
import { resolve } from 'node:path';
import type { BenchContext } from './context.ts';
import { allMet, type Figure, type Part } from './figures.ts';
import { readOptions } from './options.ts';
import { benchCluster } from './parts/cluster.ts';
import { benchCrowds } from './parts/crowds.ts';
import { benchDecision } from './parts/decision.ts';
import { benchHistory } from './parts/history.ts';
import { benchMemory } from './parts/memory.ts';
import { benchStart } from './parts/start.ts';
import { benchThroughput } from './parts/throughput.ts';
import { keep, resultOf, write } from './results.ts';
import { SIZES } from './sizes.ts';
import { tableOf } from './table.ts';

const BENCHES: Record<Part, (context: BenchContext) => Promise<Figure[]>> = {
  decision: benchDecision,
  throughput: benchThroughput,
  history: benchHistory,
  memory: benchMemory,
  start: benchStart,
  crowds: benchCrowds,
  cluster: benchCluster,
};

const options = readOptions(process.argv.slice(2));
const { size, only: parts, profile, address } = options;
const began = Date.now();
const say = (words: string) =>
  process.stderr.write(`${((Date.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${words}\n`);

// The children are stopped with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  const figures: Figure[] = [];
  const context: BenchContext = {
    sizes: SIZES[size],
    nodeArgs: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`],
    say,
    ...(address !== undefined && { address }),
  };
  for (const part of parts) figures.push(...(await BENCHES[part](context)));
  process.stdout.write(`${tableOf(figures)}\n`);
  const tookSeconds = Math.round((Date.now() - began) / 1_000);
  const result = await resultOf({
    startedAt: new Date(began).toISOString(),
    tookSeconds,
    size,
    parts,
    figures,
  });
  if (options.json !== undefined) await write(options.json, result);
  if (options.keep) say(`kept in ${await keep(result)}`);
  process.exitCode = options.check && !allMet(figures) ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
