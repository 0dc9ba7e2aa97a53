/** What a load needs, computed from what one order was measured to cost. Pure. */

/** What an order's whole life costs. */
export interface OrderCost {
  bytes: number;
  actions: number;
  /** State transitions: each is a transaction of the server's database. */
  transitions: number;
}

/** One core's seconds for an order's whole life. */
export interface CpuCost {
  worker: number;
  api: number;
  server: number;
}

export interface Measured {
  passed: OrderCost;
  declined: OrderCost;
  /** Resolved, with so many polls. */
  review: OrderCost & { polls: number };
  cpu: CpuCost;
}

export interface Load {
  ordersPerSecond: number;
  /** How much more comes in the busiest minute than on average. */
  peakFactor: number;
  /** Shares of all orders, 0 to 1; the others pass. */
  declined: number;
  reviewed: number;
  /** How long a review takes, on average. */
  reviewMs: number;
  /** How long the service takes to answer a checkout. */
  serviceMs: number;
  /** Of the policy. */
  cancelWindowMs: number;
  poll: { firstMs: number; factor: number; maxMs: number };
  /** Of closed orders. */
  retentionMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A merchant's, unless told otherwise; the policy's values are its defaults. */
export const USUAL_LOAD: Load = {
  ordersPerSecond: 1,
  peakFactor: 3,
  declined: 0.03,
  reviewed: 0.05,
  reviewMs: 8 * HOUR_MS,
  serviceMs: 1_000,
  cancelWindowMs: 5 * DAY_MS,
  poll: { firstMs: MINUTE_MS, factor: 1.5, maxMs: 15 * MINUTE_MS },
  retentionMs: 90 * DAY_MS,
};

/** Rules of thumb: change them with what your own cluster shows. */
export interface Assumptions {
  /** How busy a core may be at the peak. */
  utilization: number;
  /** Concurrent screenings of a worker process: its slots. */
  slotsPerWorker: number;
  /** State transitions a second of a history shard, which makes them one after another. */
  transitionsPerShard: number;
  /** Database transactions for each state transition: those of queues and visibility come to it. Measured on PostgreSQL. */
  commitsPerTransition: number;
  /** Tasks a second of a task queue partition. */
  tasksPerPartition: number;
}

export const ASSUMPTIONS: Assumptions = {
  utilization: 0.6,
  slotsPerWorker: 500,
  transitionsPerShard: 10,
  commitsPerTransition: 3,
  tasksPerPartition: 200,
};

export interface Capacity {
  openOrders: number;
  openReviews: number;
  pollsPerReview: number;
  /** On average; `SCREENING_MAX_RPS` must be above it. */
  pollsPerSecond: number;
  concurrentScreenings: number;
  workers: number;
  apiProcesses: number;
  serverCores: number;
  /** At the peak, polls included. */
  databaseTransactionsPerSecond: number;
  shards: number;
  partitions: number;
  actionsPerMonth: number;
  activeStorageGb: number;
  retainedStorageGb: number;
}

const MONTH_S = 30 * 24 * 3_600;
const GB = 1e9;
/** Tasks of the order queue for an order's checkout and for what follows it at once. */
const TASKS_AT_CHECKOUT = 2;
/** A poll is an activity task: its start and its end are transactions. */
const TRANSITIONS_PER_POLL = 2;

/** @throws RangeError for a load that can't be, such as shares of more than all */
export function capacityFor(
  load: Load,
  measured: Measured,
  assumptions: Assumptions = ASSUMPTIONS,
): Capacity {
  check(load);
  const { ordersPerSecond: rate, peakFactor, reviewed, declined } = load;
  const peak = rate * peakFactor;
  const pollsPerReview = pollsIn(load.reviewMs, load.poll);
  const pollsPerSecond = rate * reviewed * pollsPerReview;
  const review = withPolls(measured.review, pollsPerReview);
  const passed = 1 - reviewed - declined;
  const mean = (cost: keyof OrderCost) =>
    passed * measured.passed[cost] + declined * measured.declined[cost] + reviewed * review[cost];
  // A declined order ends within the hour: next to nothing of it is open.
  const openOrders = rate * (1 - declined) * (Math.max(load.cancelWindowMs, 0) / 1_000);
  const openBytes =
    (passed * measured.passed.bytes + reviewed * review.bytes) / Math.max(1 - declined, Number.EPSILON);
  const concurrentScreenings = peak * (load.serviceMs / 1_000);
  const transitions = peak * mean('transitions');
  const cores = (seconds: number) => Math.ceil((peak * seconds) / assumptions.utilization);
  return {
    openOrders,
    openReviews: rate * reviewed * (load.reviewMs / 1_000),
    pollsPerReview,
    pollsPerSecond,
    concurrentScreenings,
    workers: Math.max(
      cores(measured.cpu.worker),
      Math.ceil(concurrentScreenings / assumptions.slotsPerWorker),
      2,
    ),
    apiProcesses: Math.max(cores(measured.cpu.api), 2),
    serverCores: cores(measured.cpu.server),
    databaseTransactionsPerSecond: transitions * assumptions.commitsPerTransition,
    shards: powerOfTwo(transitions / assumptions.transitionsPerShard),
    partitions: Math.max(1, Math.ceil((peak * TASKS_AT_CHECKOUT) / assumptions.tasksPerPartition)),
    actionsPerMonth: rate * MONTH_S * mean('actions'),
    activeStorageGb: (openOrders * openBytes) / GB,
    retainedStorageGb: (rate * (load.retentionMs / 1_000) * mean('bytes')) / GB,
  };
}

/** @returns what each number is, in words, beside it */
export function capacityRows(capacity: Capacity): [string, string][] {
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
  return rows.map(([name, value]) => [name, value.toLocaleString('en-US', { maximumFractionDigits: 1 })]);
}

/** @returns how often a review of this length is polled: pauses that grow up to a longest one */
export function pollsIn(reviewMs: number, { firstMs, factor, maxMs }: Load['poll']): number {
  let polls = 0;
  let pauseMs = Math.min(firstMs, maxMs);
  let leftMs = reviewMs;
  while (pauseMs < maxMs && factor > 1 && leftMs >= pauseMs) {
    leftMs -= pauseMs;
    polls += 1;
    pauseMs = Math.min(pauseMs * factor, maxMs);
  }
  return polls + Math.floor(leftMs / pauseMs);
}

/** The same review with another number of polls: they cost no history, but a billed action and transactions each. */
function withPolls(review: Measured['review'], polls: number): OrderCost {
  const more = polls - review.polls;
  return {
    bytes: review.bytes,
    actions: Math.max(0, review.actions + more),
    transitions: Math.max(0, review.transitions + more * TRANSITIONS_PER_POLL),
  };
}

/** The number of shards can never be changed, so the next power of two; 4 at least. */
function powerOfTwo(least: number): number {
  return 2 ** Math.max(2, Math.ceil(Math.log2(Math.max(least, 1))));
}

function check({ ordersPerSecond, peakFactor, declined, reviewed, reviewMs, poll }: Load): void {
  if (!(ordersPerSecond > 0)) throw new RangeError('orders per second must be more than 0');
  if (!(peakFactor >= 1)) throw new RangeError('the peak factor must be at least 1');
  if (!(declined >= 0 && reviewed >= 0 && declined + reviewed <= 1)) {
    throw new RangeError('the shares of declined and of reviewed orders must be from 0 to 1, also together');
  }
  if (!(reviewMs >= 0)) throw new RangeError('the length of a review must not be negative');
  if (!(poll.firstMs > 0 && poll.factor >= 1 && poll.maxMs >= poll.firstMs)) {
    throw new RangeError('the pauses between polls must be positive and must not shrink');
  }
}
