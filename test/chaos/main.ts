/** `npm run chaos -- --seed N --orders N --json FILE`: nothing lost, nothing doubled, whatever dies. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { Command, InvalidArgumentError } from 'commander';
import { randomSeed } from './random.ts';
import { printedReport, writeReport } from './report.ts';
import { runChaos } from './run-chaos.ts';

function wholeNumber(written: string): number {
  if (!/^\d{1,6}$/.test(written))
    throw new InvalidArgumentError('must be a whole number of at most 6 digits');
  return Number(written);
}

const program = new Command()
  .name('chaos')
  .description(
    'Screens orders while processes are killed and the service misbehaves, and counts what went wrong.',
  )
  .option(
    '--seed <number>',
    'the same seed makes the same orders, faults and kills; a random one unless given',
    wholeNumber,
  )
  .option('--orders <number>', 'how many orders', wholeNumber, 2_000)
  .option('--metadata-queries', 'queries orders as the Temporal UI does, and repairs those that it breaks')
  .option('--json <file>', 'writes figures, anomalies and their evidence')
  .parse();
const {
  seed = randomSeed(),
  orders,
  metadataQueries = false,
  json,
} = program.opts<{ seed?: number; orders: number; metadataQueries?: boolean; json?: string }>();

// Replaying two thousand histories says two thousand times that a worker starts and stops.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    process.stderr.write('stopping …\n');
    stopped.abort();
  });
}

try {
  const result = await runChaos({
    seed,
    orders,
    rate: 6,
    workers: 3,
    killEveryMs: 8_000,
    temporalKills: 4,
    apiRestarts: 6,
    metadataQueries,
    settleWithinMs: 10 * 60_000,
    say: (words) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${words}\n`),
    signal: stopped.signal,
  });
  process.stdout.write(`${printedReport(result)}\n`);
  if (json !== undefined) await writeReport(json, result);
  const clean = result.anomalies.length === 0 && result.faultsFromOutside.wrongSecretsTaken === 0;
  process.exitCode = clean && !stopped.signal.aborted ? 0 : 1;
} catch (error) {
  process.stderr.write(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
