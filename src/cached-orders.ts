/** How many open orders a worker keeps at hand, by the memory that its process may use. docs/scaling.md, «Memory of a worker». */
import { totalmem } from 'node:os';

/** What an order in the cache takes of the process, measured by `npm run bench -- --only memory`, rounded up. */
const BYTES_PER_ORDER = 260_000;
/** The rest is for requests, the code and the garbage between collections. */
const SHARE = 0.5;
/** An order wakes a few times in days: more would save next to nothing. */
const MOST = 2_000;

/**
 * @param atLeast screenings at a time: those that don't fit would run one after another
 * @param memoryBytes what the process may use
 */
export function cachedOrders(atLeast: number, memoryBytes = usableMemory()): number {
  return Math.max(atLeast, Math.min(MOST, Math.floor((memoryBytes * SHARE) / BYTES_PER_ORDER)));
}

/** The container's limit, where there is one below the machine's memory. */
function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
