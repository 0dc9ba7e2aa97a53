/** `npm run bench`: how fast and how small order-screening is, beside the floor. */
import { writeFile } from 'node:fs/promises';
import { cpus, platform, totalmem } from 'node:os';
import type { BenchContext, Figure, Part } from './figures.ts';
import { readOptions } from './options.ts';
import { benchDecision } from './parts/decision.ts';
import { benchHistory } from './parts/history.ts';
import { benchMemory } from './parts/memory.ts';
import { benchPages } from './parts/pages.ts';
import { benchThroughput } from './parts/throughput.ts';
import { SIZES } from './sizes.ts';
import { tableOf } from './table.ts';

const BENCHES: Record<Part, (context: BenchContext) => Promise<Figure[]>> = {
  decision: benchDecision,
  throughput: benchThroughput,
  history: benchHistory,
  memory: benchMemory,
  pages: benchPages,
};

const { size, only: parts, json, address } = readOptions(process.argv.slice(2));
const startedAt = new Date();
const secondsSoFar = () => Math.round((Date.now() - startedAt.getTime()) / 1_000);
const say = (words: string) => process.stderr.write(`${String(secondsSoFar()).padStart(5)} s  ${words}\n`);

// The children are stopped with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  const figures: Figure[] = [];
  for (const part of parts) {
    figures.push(...(await BENCHES[part]({ sizes: SIZES[size], say, ...(address && { address }) })));
  }
  process.stdout.write(`${tableOf(figures)}\n`);
  if (json !== undefined) {
    const machine = {
      cpus: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      platform: platform(),
      node: process.version,
    };
    const result = { startedAt, tookSeconds: secondsSoFar(), size, parts, machine, figures };
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
