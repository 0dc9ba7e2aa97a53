/** `npm run simulate -- --orders-per-second 100 …`: what a load of your own needs, from what was measured. */
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { ASSUMPTIONS, type Assumptions, type Capacity, capacityFor } from './capacity.ts';
import { measuredIn, newestResult } from './measured.ts';

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function milliseconds(written: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(written) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined)
    throw new InvalidArgumentError('must be a duration such as 500ms, 8s, 15m, 12h or 5d');
  return Number(number) * factor;
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
  .option('--orders-per-second <number>', 'on average', number, 1)
  .option('--peak-factor <number>', 'how much more comes in the busiest minute', number, 3)
  .option('--declined <share>', 'of all orders, 0 to 1', number, 0.03)
  .option('--reviewed <share>', 'of all orders, 0 to 1', number, 0.05)
  .option('--review-length <duration>', 'of a review, on average', milliseconds, milliseconds('8h'))
  .option('--service-time <duration>', 'of the service, for a checkout', milliseconds, milliseconds('1s'))
  .option('--cancel-window <duration>', 'of the policy', milliseconds, milliseconds('5d'))
  .option('--poll-first <duration>', 'of the policy', milliseconds, milliseconds('1m'))
  .option('--poll-factor <number>', 'of the policy', number, 1.5)
  .option('--poll-max <duration>', 'of the policy', milliseconds, milliseconds('15m'))
  .option('--retention <duration>', 'of closed orders', milliseconds, milliseconds('90d'))
  .option('--utilization <share>', 'how busy a core may be at the peak', number, ASSUMPTIONS.utilization)
  .option(
    '--slots-per-worker <number>',
    'concurrent screenings of a process',
    number,
    ASSUMPTIONS.slotsPerWorker,
  )
  .option('--transitions-per-shard <number>', 'a second', number, ASSUMPTIONS.transitionsPerShard)
  .option('--tasks-per-partition <number>', 'a second', number, ASSUMPTIONS.tasksPerPartition)
  .option('--measured <file>', 'a result of npm run bench; the newest kept one unless given')
  .parse();
const options = program.opts<Options>();

try {
  const file = options.measured ?? (await newestResult(join(import.meta.dirname, 'results')));
  const capacity = capacityFor(
    {
      ...options,
      reviewMs: options.reviewLength,
      serviceMs: options.serviceTime,
      cancelWindowMs: options.cancelWindow,
      retentionMs: options.retention,
      poll: { firstMs: options.pollFirst, factor: options.pollFactor, maxMs: options.pollMax },
    },
    await measuredIn(file),
    options,
  );
  process.stdout.write(`${tableOf(capacity)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function tableOf(capacity: Capacity): string {
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } });
  const rows: [string, number][] = [
    ['open orders', capacity.openOrders],
    ['open reviews', capacity.openReviews],
    ['polls of a review', capacity.pollsPerReview],
    ['polls a second (SCREENING_MAX_RPS must be above it)', capacity.pollsPerSecond],
    ['concurrent screenings at the peak', capacity.concurrentScreenings],
    ['worker processes', capacity.workers],
    ['API processes', capacity.apiProcesses],
    ['cores of the Temporal server, its database not counted', capacity.serverCores],
    ['database transactions a second at the peak', capacity.databaseTransactionsPerSecond],
    ['history shards', capacity.shards],
    ['task queue partitions', capacity.partitions],
    ['Cloud actions a month, millions', capacity.actionsPerMonth / 1e6],
    ['active storage, GB', capacity.activeStorageGb],
    ['retained storage, GB', capacity.retainedStorageGb],
  ];
  for (const [name, value] of rows)
    table.push([name, value.toLocaleString('en-US', { maximumFractionDigits: 1 })]);
  return table.toString();
}
