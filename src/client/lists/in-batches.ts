import { setImmediate as othersFirst } from 'node:timers/promises';

/** How many calls run at a time: a bounded load on Temporal. */
const BATCH_SIZE = 10;

/** Calls `call` for each item, a few at a time, and lets the event loop turn in between. @returns the results in the order of the items */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += BATCH_SIZE) {
    results.push(...(await Promise.all(items.slice(from, from + BATCH_SIZE).map(call))));
    await othersFirst();
  }
  return results;
}
