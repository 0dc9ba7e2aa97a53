/** When the workers of a process have ended, or never will, because the SDK has lost an order. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The message of the core (1.24.0) when it drops an activation. This happens when the cache is full and the core has buffered a
 * query and a task of an order that isn't cached, and one of them had to fetch the history. The core then waits forever for the
 * order's completion and buffers its later tasks, which the server times out after 10 s.
 */
export const ORDER_LOST = 'Extra buffered run should not have produced an activation';

/** Aborted once an order is lost. One per process, like the SDK's runtime. */
export const orderLost = new AbortController();

/** How long to wait before stopping: several orders are usually lost together, and one restart recovers all of them. */
const LOST_TOGETHER_MS = 60_000;

/** The SDK's core has lost an order. Only a different process can continue it. */
export class LostOrderError extends Error {
  override readonly name = 'LostOrderError';
  constructor() {
    super("Temporal's SDK has lost an order in this process: restart the process.");
  }
}

/**
 * Waits until all workers have ended. One that fails stops the others. After an order was lost they would never end, so the function
 * stops waiting and throws.
 * @param runs the runs of the workers
 * @param stop starts a graceful shutdown of at most `graceMs`; `stopping` is aborted once it was called
 * @throws the first failure; LostOrderError when the process must be restarted
 */
export async function untilEndedOrLost(
  runs: readonly Promise<void>[],
  { stop, stopping, graceMs }: { stop: () => void; stopping: AbortSignal; graceMs: number },
  { lost, togetherMs } = { lost: orderLost.signal, togetherMs: LOST_TOGETHER_MS },
): Promise<void> {
  const ended = allEnded(runs, stop);
  if (!lost.aborted) await Promise.race([ended, once(lost, 'abort')]);
  if (!lost.aborted) return;
  // Waits for other orders that are lost at the same time, unless the process is already stopping.
  await Promise.race([ended, sleep(togetherMs, undefined, { signal: stopping }).catch(() => undefined)]);
  stop();
  await Promise.race([ended, sleep(graceMs)]);
  throw new LostOrderError();
}

/** Waits for all runs, because they share resources that the caller closes afterwards. @throws the first failure */
async function allEnded(runs: readonly Promise<void>[], stopAll: () => void): Promise<void> {
  const stopping = runs.map((run) =>
    run.catch((error: unknown) => {
      stopAll();
      throw error;
    }),
  );
  await Promise.all(stopping).finally(() => Promise.allSettled(stopping));
}
