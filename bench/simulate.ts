/** `npm run simulate -- --orders-per-second 100 …`: what a load of your own needs, from what was measured. */
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command, InvalidArgumentError, Option } from 'commander';
import { DURATION_UNITS, duration as settingDuration } from '../src/config/values.ts';
import {
  ASSUMPTIONS,
  type Assumptions,
  type Capacity,
  capacityFor,
  capacityRows,
  USUAL_LOAD as USUAL,
} from './capacity.ts';
import { measuredIn, newestMeasured } from './measured.ts';

const RESULTS = join(import.meta.dirname, 'results');

function milliseconds(written: string): number {
  const read = settingDuration({ leastMs: 0 }).safeParse(written);
  if (!read.success) throw new InvalidArgumentError(read.error.issues.map(({ message }) => message).join());
  return read.data;
}

/** An option that is a duration, its default told as it would be written. */
function duration(flags: string, about: string, usualMs: number): Option {
  const [unit = 'ms', ms = 1] =
    Object.entries(DURATION_UNITS)
      .toReversed()
      .find(([, factor]) => usualMs % factor === 0) ?? [];
  return new Option(flags, about).argParser(milliseconds).default(usualMs, `${usualMs / ms}${unit}`);
}

function number(written: string): number {
  if (!/^\d+(\.\d+)?$/.test(written)) throw new InvalidArgumentError('must be a number');
  return Number(written);
}

interface Options extends Assumptions {
  ordersPerSecond: number;
  peakFactor: number;
  declined: number;
  reviewed: number;
  reviewLength: number;
  serviceTime: number;
  cancelWindow: number;
  pollFirst: number;
  pollFactor: number;
  pollMax: number;
  retention: number;
  measured?: string;
}

const program = new Command()
  .name('simulate')
  .description('Computes workers, shards, partitions, database writes, Cloud actions and storage for a load.')
  .option('--orders-per-second <number>', 'on average', number, USUAL.ordersPerSecond)
  .option('--peak-factor <number>', 'how much more comes in the busiest minute', number, USUAL.peakFactor)
  .option('--declined <share>', 'of all orders, 0 to 1', number, USUAL.declined)
  .option('--reviewed <share>', 'of all orders, 0 to 1', number, USUAL.reviewed)
  .addOption(duration('--review-length <duration>', 'of a review, on average', USUAL.reviewMs))
  .addOption(duration('--service-time <duration>', 'of the service, for a checkout', USUAL.serviceMs))
  .addOption(duration('--cancel-window <duration>', 'of the policy', USUAL.cancelWindowMs))
  .addOption(duration('--poll-first <duration>', 'of the policy', USUAL.poll.firstMs))
  .option('--poll-factor <number>', 'of the policy', number, USUAL.poll.factor)
  .addOption(duration('--poll-max <duration>', 'of the policy', USUAL.poll.maxMs))
  .addOption(duration('--retention <duration>', 'of closed orders', USUAL.retentionMs))
  .option('--utilization <share>', 'how busy a core may be at the peak', number, ASSUMPTIONS.utilization)
  .option(
    '--slots-per-worker <number>',
    'concurrent screenings of a process',
    number,
    ASSUMPTIONS.slotsPerWorker,
  )
  .option('--transitions-per-shard <number>', 'a second', number, ASSUMPTIONS.transitionsPerShard)
  .option(
    '--commits-per-transition <number>',
    'of the database, for each state transition',
    number,
    ASSUMPTIONS.commitsPerTransition,
  )
  .option('--tasks-per-partition <number>', 'a second', number, ASSUMPTIONS.tasksPerPartition)
  .option('--measured <file>', 'a result of npm run bench; the newest kept ones unless given')
  .parse();
const options = program.opts<Options>();

try {
  const capacity = capacityFor(
    {
      ...options,
      reviewMs: options.reviewLength,
      serviceMs: options.serviceTime,
      cancelWindowMs: options.cancelWindow,
      retentionMs: options.retention,
      poll: { firstMs: options.pollFirst, factor: options.pollFactor, maxMs: options.pollMax },
    },
    await (options.measured === undefined ? newestMeasured(RESULTS) : measuredIn(options.measured)),
    options,
  );
  process.stdout.write(`${tableOf(capacity)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function tableOf(capacity: Capacity): string {
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } });
  table.push(...capacityRows(capacity));
  return table.toString();
}
