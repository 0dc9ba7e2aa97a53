/** `npm run chaos -- --seed N --orders N --json FILE`: exits with 1 if anything was lost, doubled or wrong. */
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { runChaos } from './run-chaos.ts';
import { printed } from './verdict/report.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(randomInt(1, 1_000_000)) },
    orders: { type: 'string', default: '2000' },
    // Queries orders as the Temporal UI does, and repairs those that it breaks.
    'metadata-queries': { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const seed = Number(values.seed);

// The replay of each history would log that a worker starts and stops.
Runtime.install({ logger: new DefaultLogger('ERROR') });
const stopped = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopped.abort());

const result = await runChaos({
  seed,
  orders: Number(values.orders),
  rate: 6,
  workers: 3,
  killEveryMs: 8_000,
  temporalKills: 4,
  apiRestarts: 6,
  metadataQueries: values['metadata-queries'],
  settleWithinMs: 10 * 60_000,
  say: (words) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${words}\n`),
  signal: stopped.signal,
});
process.stdout.write(`${printed(result)}\n`);
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed, ...result }, undefined, 2));
process.exitCode = result.anomalies.length > 0 ? 1 : 0;
